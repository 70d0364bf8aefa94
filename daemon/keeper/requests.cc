#include "keeper/requests.h"

#include <memory>
#include <utility>

#include "keeper/registration.h"
#include "sys/messages/convert.h"

namespace sockhop::keeper {
namespace {

using Answer = ControlDoor::Answer;

/// A page fits a packet when it holds four containers with 240 ports each. Without ports many more
/// do, each as large as 24 ports: hundreds of containers are asked in a dozen pages, not a hundred.
constexpr std::size_t kContainerWeight = 24;
constexpr std::size_t kPageWeight = 4 * (kContainerWeight + Containers::kMaxPorts);

void answer_failure(const Answer& answer, const Error& error) {
  internal::FromKeeper message;
  message.mutable_failure()->set_code(error.code);
  message.mutable_failure()->set_text(error.detail.empty() ? to_string(error) : error.detail);
  answer(std::move(message));
}

Containers::OnDone answer_status(Answer answer) {
  return [answer = std::move(answer)](const Status& done) {
    if (!done) return answer_failure(answer, done.error());
    internal::FromKeeper message;
    message.set_ok(true);
    answer(std::move(message));
  };
}

void register_container(Containers& containers, const internal::RegisterContainer& request,
                        Answer answer) {
  if (auto valid = core::check_container_id(request.container()); !valid) {
    return answer_failure(answer, Error{EINVAL, "register",
                                        "the container id " + valid.error().detail +
                                            "; write the id that the runtime is given"});
  }
  auto registration = registration_of(request);
  if (!registration) return answer_failure(answer, registration.error());
  containers.add_registration(request.container(), std::move(*registration),
                              answer_status(std::move(answer)));
}

void explain(Containers& containers, const internal::ExplainDestination& request, Answer answer) {
  if (!containers.sessions().find(request.container())) {
    return answer_failure(
        answer, Error{ENOENT, "explain",
                      request.container() + " does not run with sockhop; `sockhop ps` lists those "
                                            "that do"});
  }
  internal::ToSession question;
  *question.mutable_explain() = request.destination();
  containers.sessions().ask(request.container(), std::move(question), {},
                            [answer = std::move(answer)](const auto& reply) {
                              if (!reply) return answer_failure(answer, reply.error());
                              internal::FromKeeper message;
                              *message.mutable_explanation() = reply->explanation();
                              answer(std::move(message));
                            });
}

/// A page that waits for the sessions on it: shared by their replies, the last one answers.
struct Page {
  internal::FromKeeper message;
  int waiting = 1;  // the one who fills the page
  Answer answer;

  void done() {
    if (--waiting == 0) answer(std::move(message));
  }
};

void add_container(Containers& containers, const std::string& id,
                   const std::shared_ptr<Page>& page) {
  const auto& entry = *containers.table().find(id);
  auto& state = *page->message.mutable_containers()->add_containers();
  state.set_container(id);
  state.set_registered(entry.registration.has_value());
  state.set_running(entry.has_session);
  state.set_accelerate(entry.accelerate);
  if (entry.registration) {
    for (const auto& port : entry.registration->ports) internal::fill(*state.add_ports(), port);
  }
  if (!entry.has_session) return;
  ++page->waiting;
  internal::ToSession question;
  question.mutable_status();
  containers.sessions().ask(id, std::move(question), {}, [page, into = &state](const auto& reply) {
    into->set_unreachable(!reply);
    if (reply) {
      *into->mutable_status() = reply->status();
      into->mutable_status()->clear_policy();
    }
    page->done();
  });
}

std::size_t weight_of(const core::JoinTable::Entry& entry) {
  return kContainerWeight + (entry.registration ? entry.registration->ports.size() : 0);
}

void list(Containers& containers, const internal::ListContainers& request, Answer answer) {
  auto page = std::make_shared<Page>();
  page->answer = std::move(answer);
  page->message.mutable_containers();
  const auto& entries = containers.table().entries();
  auto next = entries.upper_bound(request.after());
  std::size_t weight = 0;
  for (; next != entries.end(); ++next) {
    weight += weight_of(next->second);
    if (weight > kPageWeight && page->message.containers().containers_size() > 0) break;
    add_container(containers, next->first, page);
  }
  page->message.mutable_containers()->set_more(next != entries.end());
  page->done();
}

}  // namespace

void handle(Containers& containers, const internal::ToKeeper& request, Answer answer) {
  switch (request.body_case()) {
    case internal::ToKeeper::kRegisterContainer:
      return register_container(containers, request.register_container(), std::move(answer));
    case internal::ToKeeper::kUnregisterContainer:
      return containers.remove_registration(request.unregister_container().container(),
                                            answer_status(std::move(answer)));
    case internal::ToKeeper::kListContainers:
      return list(containers, request.list_containers(), std::move(answer));
    case internal::ToKeeper::kExplain:
      return explain(containers, request.explain(), std::move(answer));
    case internal::ToKeeper::kSetAcceleration:
      return containers.set_acceleration(request.set_acceleration().container(),
                                         request.set_acceleration().on(),
                                         answer_status(std::move(answer)));
    case internal::ToKeeper::kAdmit:  // the door's own business
    case internal::ToKeeper::BODY_NOT_SET:
      return answer_failure(answer, input_error("request", "empty"));
  }
}

}  // namespace sockhop::keeper
