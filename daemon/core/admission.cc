#include "core/admission.h"

#include <algorithm>

namespace sockhop::core {
namespace {

bool descends_from(const Namespaces& process, std::uint64_t pid_namespace) {
  return std::find(process.pids.begin(), process.pids.end(), pid_namespace) != process.pids.end();
}

}  // namespace

ContainerMark mark_of(const Namespaces& container, const Namespaces& runtime) {
  ContainerMark mark;
  if (container.network != runtime.network) mark.network = container.network;
  if (container.mount != runtime.mount) mark.mount = container.mount;
  if (!container.pids.empty() && !descends_from(runtime, container.pids.front())) {
    mark.pid = container.pids.front();
  }
  return mark;
}

bool lives_in(const Namespaces& process, const ContainerMark& container) {
  return (container.network != 0 && process.network == container.network) ||
         (container.mount != 0 && process.mount == container.mount) ||
         (container.pid != 0 && descends_from(process, container.pid));
}

}  // namespace sockhop::core
