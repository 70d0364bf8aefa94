// Makes the sockets that take each other's place: on the host, leashed, and fresh ones inside.
#pragma once

#include <memory>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sys/socket_options.h"
#include "sys/worker_thread.h"

namespace sockhop::engine {

/// A seam of its own so that the flows can be tested without namespaces.
class SocketMaker {
 public:
  virtual ~SocketMaker() = default;
  /// A non-blocking host socket with everything `like` has, bound to `device`.
  /// ENOPROTOOPT: `like` has something that a host socket cannot have.
  virtual Result<UniqueFd> on_host(int family, int device, FdRef like) = 0;
  /// A non-blocking socket of the container's namespace with everything `like` has.
  virtual Result<UniqueFd> inside(int family, FdRef like) = 0;
};

class KernelSocketMaker final : public SocketMaker {
 public:
  /// `container` is a worker inside the container's network namespace; it outlives this.
  static Result<std::unique_ptr<KernelSocketMaker>> open(sys::WorkerThread& container);
  Result<UniqueFd> on_host(int family, int device, FdRef like) override;
  Result<UniqueFd> inside(int family, FdRef like) override;

 private:
  KernelSocketMaker(sys::WorkerThread& container, sys::OptionCarrier host,
                    sys::OptionCarrier inside)
      : container_(container), to_host_(std::move(host)), to_inside_(std::move(inside)) {}
  sys::WorkerThread& container_;
  sys::OptionCarrier to_host_;
  sys::OptionCarrier to_inside_;
};

}  // namespace sockhop::engine
