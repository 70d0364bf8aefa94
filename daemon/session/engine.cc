#include "session/engine.h"

#include <malloc.h>
#include <spdlog/spdlog.h>

#include <boost/asio/io_context.hpp>

#include "session/convert.h"
#include "session/kept_start.h"
#include "session/requests.h"
#include "sys/session_memory.h"
#include "sys/taken_connection.h"

namespace sockhop::session {
int run_engine(sys::SessionMemory& memory) {
  // Few threads that allocate little: one arena keeps the private memory of a session small.
  ::mallopt(M_ARENA_MAX, 1);
  if (auto done = sys::find_taken_connection(memory); !done) return 1;
  if (auto done = sys::close_unnamed(memory); !done) return 1;
  const auto message = kept_start(memory);
  if (!message) return 1;
  auto start = start_of(*message);
  boost::asio::io_context loop(1);
  Requests requests(loop, memory, *message);
  auto session = start ? engine::Session::open(loop, memory, std::move(*start))
                       : Result<std::unique_ptr<engine::Session>>(start.error());
  if (!session) {
    requests.tell_failure(session.error());
    spdlog::error("container {}: {}", message->container(), to_string(session.error()));
    return 1;
  }
  (*session)->on_ended([&] { requests.tell_ended(); });
  requests.serve(**session);
  loop.run();
  return 0;
}

}  // namespace sockhop::session
