#include "engine/listener_table.h"

#include <algorithm>

namespace sockhop::engine {

Listener* ListenerTable::find(std::uint64_t cookie) {
  const auto found = std::find_if(all_.begin(), all_.end(),
                                  [cookie](const auto& one) { return one->cookie == cookie; });
  return found == all_.end() ? nullptr : found->get();
}

Listener* ListenerTable::find_multipath(const core::Endpoint& local) {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const auto& one) {
    return one->multipath && one->local.address == local.address && one->local.port == local.port;
  });
  return found == all_.end() ? nullptr : found->get();
}

Listener* ListenerTable::add(std::uint64_t cookie, const core::Endpoint& local, int family,
                             bool v6_only) {
  Listener* listener = find(cookie);
  if (listener == nullptr) {
    if (all_.size() >= kMaxListeners) return nullptr;
    all_.push_back(std::make_unique<Listener>(memory_, container_, cookie));
    listener = all_.back().get();
    listener->bell.find();
  }
  listener->local = local;
  listener->family = family;
  listener->v6_only = v6_only;
  listener->listening = true;
  return listener;
}

void ListenerTable::remove(std::uint64_t cookie) {
  if (Listener* gone = find(cookie)) gone->bell.drop();
  std::erase_if(all_, [cookie](const auto& one) { return one->cookie == cookie; });
}

bool ListenerTable::is_bell(const core::Endpoint& peer) const {
  return std::any_of(all_.begin(), all_.end(), [&](const auto& one) { return one->bell.is(peer); });
}

}  // namespace sockhop::engine
