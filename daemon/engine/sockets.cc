#include "engine/sockets.h"

#include <optional>

#include "sys/host_socket.h"

namespace sockhop::engine {

Result<std::unique_ptr<KernelSocketMaker>> KernelSocketMaker::open(sys::WorkerThread& container) {
  auto host = sys::OptionCarrier::open();
  if (!host) return host.error();
  std::optional<Result<sys::OptionCarrier>> inside;
  container.run([&] { inside.emplace(sys::OptionCarrier::open()); });
  if (!*inside) return inside->error();
  return std::unique_ptr<KernelSocketMaker>(
      new KernelSocketMaker(container, std::move(*host), std::move(**inside)));
}

Result<UniqueFd> KernelSocketMaker::on_host(int family, int device, FdRef like) {
  auto socket = sys::make_socket_like(family, like);
  if (!socket) return socket;
  if (auto leashed = sys::bind_to_device(*socket, device); !leashed) return leashed.error();
  if (auto carried = to_host_.carry(like, *socket, family); !carried) return carried.error();
  return socket;
}

Result<UniqueFd> KernelSocketMaker::inside(int family, FdRef like) {
  Result<UniqueFd> socket = Error{};
  container_.run([&] { socket = sys::make_socket_like(family, like); });
  if (!socket) return socket;
  if (auto carried = to_inside_.carry_back(like, *socket, family); !carried) return carried.error();
  return socket;
}

}  // namespace sockhop::engine
