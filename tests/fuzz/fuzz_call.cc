// Decoding of notified calls: number, arch and arguments, each chosen by a container.
#include <cstring>

#include "core/call.h"
#include "require.h"

using namespace sockhop::core;
using sockhop::fuzz::require;

namespace {

void check_socketcall(const SocketcallCall& call, const RawCall& raw) {
  const int words = socketcall_words(call.number);
  require(words >= 0 && words <= 6, "a socketcall has at most six words");
  std::array<std::uint32_t, 6> arguments{};
  std::memcpy(arguments.data(), raw.args.data(), sizeof arguments);
  const Call inner = decode_socketcall(call.number, arguments);
  require(!std::holds_alternative<SocketcallCall>(inner), "a socketcall holds no socketcall");
  require(words != 0 || std::holds_alternative<OtherCall>(inner), "unknown subcalls are not ours");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  RawCall raw;
  if (size < 8 + sizeof raw.args) return 0;
  std::memcpy(&raw.number, data, 4);
  std::memcpy(&raw.arch, data + 4, 4);
  std::memcpy(raw.args.data(), data + 8, sizeof raw.args);
  const Call call = decode(raw);
  if (const auto* other = std::get_if<OtherCall>(&call)) {
    require(other->number == raw.number, "a call that is not ours keeps its number");
  }
  if (const auto* accept = std::get_if<AcceptCall>(&call)) {
    require(accept->fd == static_cast<int>(raw.args[0]), "a descriptor is the low 32 bits");
  }
  if (const auto* inner = std::get_if<SocketcallCall>(&call)) check_socketcall(*inner, raw);
  return 0;
}
