#include "core/oci_state.h"

#include <gmock/gmock.h>

#include <optional>

namespace sockhop::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::SizeIs;
using testing::StartsWith;

// As runc 1.1 sends it on create, and crun 1.8 on exec.
constexpr std::string_view kRunc =
    R"({"ociVersion":"1.0.2-dev","fds":["seccompFd"],"pid":791,"metadata":"m","state":{)"
    R"("ociVersion":"1.0.2-dev","id":"c1","status":"creating","pid":790,"bundle":"/b",)"
    R"("annotations":{"a":"1","b":""}}})";
constexpr std::string_view kCrunExec = R"({
    "ociVersion": "0.2.0",
    "fds": [ "seccompFd" ],
    "pid": 0,
    "metadata": "",
    "state": { "ociVersion": "0.2.0", "id": "c2", "status": "running", "pid": 0, "bundle": "." }
}
)";

std::optional<OciState> read_in_pieces(std::string_view text, std::size_t piece) {
  OciStateReader reader;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    auto progress = reader.feed(text.substr(at, piece));
    if (auto* state = std::get_if<OciState>(&progress)) return std::move(*state);
    if (std::holds_alternative<Error>(progress)) return std::nullopt;
  }
  return std::nullopt;
}

std::string refusal(std::string_view text) {
  OciStateReader reader;
  const auto progress = reader.feed(text);
  const Error* error = std::get_if<Error>(&progress);
  return error != nullptr ? to_string(*error) : "accepted";
}

std::string with_id(const std::string& id) {
  return R"({"fds":["seccompFd"],"state":{"id":")" + id + R"("}})";
}

TEST(OciState, ReadsWhatRuncSends) {
  const auto state = read_in_pieces(kRunc, kRunc.size());
  ASSERT_TRUE(state);
  EXPECT_EQ(state->id, "c1");
  EXPECT_EQ(state->pid, 791);
  EXPECT_EQ(state->status, "creating");
  EXPECT_EQ(state->bundle, "/b");
  EXPECT_EQ(state->metadata, "m");
  EXPECT_THAT(state->annotations, ElementsAre(Pair("a", "1"), Pair("b", "")));
  EXPECT_EQ(state->seccomp_fd_index(), 0);
}

TEST(OciState, TakesPidZeroAndOldVersionOfCrunExec) {
  const auto state = read_in_pieces(kCrunExec, kCrunExec.size());
  ASSERT_TRUE(state);
  EXPECT_EQ(state->id, "c2");
  EXPECT_EQ(state->pid, 0);
}

TEST(OciState, IsTheSameInEverySplit) {
  for (const std::string_view text : {kRunc, kCrunExec}) {
    for (std::size_t piece = 1; piece <= text.size(); ++piece) {
      ASSERT_TRUE(read_in_pieces(text, piece)) << "pieces of " << piece;
    }
  }
}

TEST(OciState, IsCompleteAtTheClosingBraceAndNotBefore) {
  OciStateReader reader;
  const auto open = reader.feed(kRunc.substr(0, kRunc.size() - 1));
  EXPECT_TRUE(std::holds_alternative<OciStateReader::NeedMore>(open));
  EXPECT_TRUE(std::holds_alternative<OciState>(reader.feed("}")));
}

TEST(OciState, IgnoresWhatFollowsTheObject) {
  EXPECT_EQ(refusal(std::string(kRunc) + "}}garbage"), "accepted");
}

TEST(OciState, FindsTheSeccompFdAmongOthers) {
  const auto state = read_in_pieces(R"({"fds":["other","seccompFd"],"state":{"id":"c"}})", 7);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->seccomp_fd_index(), 1);
  EXPECT_EQ(OciState{}.seccomp_fd_index(), -1);
}

TEST(OciState, TreatsNullAsMissing) {
  EXPECT_EQ(refusal(R"({"fds":["seccompFd"],"pid":null,"metadata":null,)"
                    R"("state":{"id":"c","annotations":null}})"),
            "accepted");
}

TEST(OciState, TakesOneMebibyteAndNotAByteMore) {
  const std::string head = R"({"fds":["seccompFd"],"state":{"id":"c","annotations":{"a":")";
  const std::string tail = R"("}}})";
  const std::string full = head + std::string(kMaxOciState - head.size() - tail.size(), 'x') + tail;
  ASSERT_THAT(full, SizeIs(kMaxOciState));
  EXPECT_TRUE(read_in_pieces(full, 4096));
  EXPECT_TRUE(read_in_pieces(full, full.size()));

  OciStateReader endless;
  OciStateReader::Progress progress;
  for (std::size_t sent = 0; sent <= kMaxOciState; sent += 4096) {
    progress = endless.feed(sent == 0 ? head : std::string(4096, 'x'));
    if (std::holds_alternative<Error>(progress)) break;
  }
  ASSERT_TRUE(std::holds_alternative<Error>(progress));
  EXPECT_THAT(std::get<Error>(progress).detail, HasSubstr("1 MiB"));
}

TEST(OciState, SaysWhatIsWrong) {
  EXPECT_THAT(refusal("12"), HasSubstr("not a JSON object"));
  EXPECT_THAT(refusal("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(refusal("{x"), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal("{}"), HasSubstr("seccompFd"));
  EXPECT_THAT(refusal(R"({"fds":["seccompFd","seccompFd"],"state":{"id":"c"}})"),
              HasSubstr("exactly once"));
  EXPECT_THAT(refusal(R"({"fds":[1],"state":{"id":"c"}})"), HasSubstr("fds is not an array of"));
  EXPECT_THAT(refusal(R"({"fds":["seccompFd"],"pid":"7","state":{"id":"c"}})"),
              HasSubstr("pid is not an integer"));
  EXPECT_THAT(refusal(R"({"fds":["seccompFd"]})"), HasSubstr("state is not an object"));
  EXPECT_THAT(refusal(R"({"fds":["seccompFd"],"state":{"id":7}})"), HasSubstr("state.id"));
  EXPECT_THAT(refusal(R"({"fds":["seccompFd"],"state":{"id":"c","annotations":{"a":1}}})"),
              HasSubstr("state.annotations"));
}

TEST(OciState, BoundsTheDepth) {
  EXPECT_THAT(refusal(R"({"a":)" + std::string(100'000, '[')), HasSubstr("too deep"));
}

TEST(OciState, GivesAnErrorAfterTheEnd) {
  OciStateReader reader;
  EXPECT_TRUE(std::holds_alternative<OciState>(reader.feed(kRunc)));
  EXPECT_TRUE(std::holds_alternative<Error>(reader.feed("{")));
  EXPECT_TRUE(std::holds_alternative<Error>(reader.feed(kRunc)));
}

TEST(OciState, RefusesIdsThatCouldLeaveTheDirectory) {
  for (const char* id : {"", "a/b", "..\\u002f..", "a b", "a\\nb", "a\\u0000b", "\\u00e9"}) {
    EXPECT_THAT(refusal(with_id(id)), HasSubstr("container id")) << id;
  }
  EXPECT_THAT(refusal(with_id(std::string(kMaxContainerId + 1, 'a'))), HasSubstr("longer"));
  EXPECT_EQ(refusal(with_id(std::string(kMaxContainerId, 'a'))), "accepted");
}

TEST(SessionFileName, IsTheIdWhereThatIsSafe) {
  const std::string engine_id(64, 'f');
  EXPECT_EQ(session_file_name(engine_id, 69), engine_id + ".sock");
  EXPECT_EQ(session_file_name("my_c.1+x-y", 69), "my_c.1+x-y.sock");
}

TEST(SessionFileName, HashesWhatIsLongOrOdd) {
  for (const std::string& id : {std::string(65, 'f'), std::string(1024, 'a'), std::string(".."),
                                std::string("~x"), std::string("a:b"), std::string("a*")}) {
    const std::string name = session_file_name(id, 69);
    EXPECT_THAT(name, StartsWith("~"));
    EXPECT_THAT(name, SizeIs(42));
    EXPECT_EQ(name.find('/'), std::string::npos);
    EXPECT_EQ(name, session_file_name(id, 69)) << "a restarted keeper must find it again";
  }
  EXPECT_NE(session_file_name(std::string(200, 'a'), 69),
            session_file_name(std::string(201, 'a'), 69));
}

TEST(SessionFileName, OfAHashIsNotTheNameOfAnotherId) {
  const std::string hashed = session_file_name("a:b", 69);
  const std::string as_id = hashed.substr(0, hashed.size() - 5);
  EXPECT_NE(session_file_name(as_id, 69), hashed);
}

}  // namespace
}  // namespace sockhop::core
