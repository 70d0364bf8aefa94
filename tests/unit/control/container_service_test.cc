#include "control/container_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace sockhop::control {
namespace {

using testing::HasSubstr;

/// Answers from a list and remembers what it was asked.
class FakeKeeper : public Keeper {
 public:
  Result<internal::FromKeeper> ask(internal::ToKeeper request) override {
    asked.push_back(std::move(request));
    if (answers.empty()) return internal::FromKeeper();
    auto answer = std::move(answers.front());
    answers.pop_front();
    return answer;
  }
  std::vector<internal::ToKeeper> asked;
  std::deque<Result<internal::FromKeeper>> answers;
};

class ContainerServiceTest : public testing::Test {
 protected:
  FakeKeeper keeper;
  ContainerService service{keeper, 4711};
};

TEST_F(ContainerServiceTest, RegisterPassesPortsAndRulesOn) {
  v1::RegisterRequest request;
  request.set_container_id("web");
  auto& port = *request.add_ports();
  port.set_host_port(8080);
  port.set_container_port(80);
  request.add_rules("stay 10.0.0.0/8");
  v1::RegisterResponse response;
  EXPECT_TRUE(service.Register(nullptr, &request, &response).ok());
  ASSERT_EQ(keeper.asked.size(), 1u);
  const auto& asked = keeper.asked[0].register_container();
  EXPECT_EQ(asked.container(), "web");
  ASSERT_EQ(asked.ports_size(), 1);
  EXPECT_EQ(asked.ports(0).host_port(), 8080u);
  EXPECT_EQ(asked.ports(0).protocol(), 6u) << "an absent protocol is TCP";
  EXPECT_EQ(asked.ports(0).host_address(), std::string("\0\0\0\0\0\0\0\0\0\0\xff\xff\0\0\0\0", 16));
  EXPECT_EQ(asked.rules(0), "stay 10.0.0.0/8");
}

TEST_F(ContainerServiceTest, BadInputIsToldWithoutAskingTheKeeper) {
  v1::RegisterRequest request;
  auto& port = *request.add_ports();
  port.set_host_port(70000);
  port.set_container_port(80);
  v1::RegisterResponse response;
  auto status = service.Register(nullptr, &request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("1 to 65535"));
  port.set_host_port(80);
  port.set_host_address("localhost");
  status = service.Register(nullptr, &request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("no IP address"));
  v1::SetRequest nothing;
  v1::SetResponse set;
  EXPECT_EQ(service.Set(nullptr, &nothing, &set).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_TRUE(keeper.asked.empty());
}

TEST_F(ContainerServiceTest, TheKeepersErrorsBecomeCanonicalCodes) {
  const std::pair<int, grpc::StatusCode> table[] = {
      {ENOENT, grpc::StatusCode::NOT_FOUND},
      {EEXIST, grpc::StatusCode::ALREADY_EXISTS},
      {EADDRINUSE, grpc::StatusCode::FAILED_PRECONDITION},
      {EACCES, grpc::StatusCode::FAILED_PRECONDITION},
      {EINVAL, grpc::StatusCode::INVALID_ARGUMENT},
      {ENOSPC, grpc::StatusCode::RESOURCE_EXHAUSTED},
      {EOPNOTSUPP, grpc::StatusCode::UNIMPLEMENTED},
      {EPIPE, grpc::StatusCode::UNAVAILABLE},
      {ETIMEDOUT, grpc::StatusCode::UNAVAILABLE},
      {EIO, grpc::StatusCode::INTERNAL},
  };
  for (const auto& [error, code] : table) {
    keeper.answers.push_back(Error{error, "test", "do this instead"});
    v1::UnregisterRequest request;
    v1::UnregisterResponse response;
    const auto status = service.Unregister(nullptr, &request, &response);
    EXPECT_EQ(status.error_code(), code) << error;
    EXPECT_EQ(status.error_message(), "do this instead");
  }
}

TEST_F(ContainerServiceTest, ListCollectsAllPages) {
  for (const char* id : {"a", "b"}) {
    internal::FromKeeper page;
    page.mutable_containers()->add_containers()->set_container(id);
    page.mutable_containers()->set_more(std::string(id) == "a");
    keeper.answers.emplace_back(std::move(page));
  }
  v1::ListRequest request;
  v1::ListResponse response;
  EXPECT_TRUE(service.List(nullptr, &request, &response).ok());
  ASSERT_EQ(response.containers_size(), 2);
  EXPECT_EQ(response.containers(1).id(), "b");
  ASSERT_EQ(keeper.asked.size(), 2u);
  EXPECT_EQ(keeper.asked[1].list_containers().after(), "a");
}

TEST_F(ContainerServiceTest, ExplainConvertsBothWays) {
  internal::FromKeeper answer;
  auto& explanation = *answer.mutable_explanation();
  explanation.set_verdict("deny");
  explanation.set_reason("a rule says so");
  explanation.add_steps()->set_where("rules");
  keeper.answers.emplace_back(std::move(answer));
  v1::ExplainRequest request;
  request.set_container_id("web");
  request.set_address("::ffff:198.51.100.7");
  request.set_port(443);
  v1::ExplainResponse response;
  EXPECT_TRUE(service.Explain(nullptr, &request, &response).ok());
  EXPECT_EQ(response.verdict(), v1::VERDICT_DENY);
  EXPECT_EQ(response.reason(), "a rule says so");
  EXPECT_EQ(response.steps(0).where(), "rules");
  const auto& asked = keeper.asked[0].explain().destination();
  EXPECT_EQ(asked.address().substr(12), "\xC6\x33\x64\x07");
}

TEST_F(ContainerServiceTest, InfoTellsVersionsAndTheKeepersPid) {
  v1::GetInfoRequest request;
  v1::GetInfoResponse response;
  EXPECT_TRUE(service.GetInfo(nullptr, &request, &response).ok());
  EXPECT_EQ(response.api_version(), "v1");
  EXPECT_EQ(response.pid(), 4711);
  EXPECT_FALSE(response.kernel().empty());
}

}  // namespace
}  // namespace sockhop::control
