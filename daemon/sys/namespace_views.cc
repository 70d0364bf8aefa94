#include "sys/namespace_views.h"

#include <utility>

namespace sockhop::sys {

NamespaceViews::NamespaceViews(RouteView routes, LinkView links, NetlinkWatch watch,
                               std::optional<RuleReader> rules)
    : routes_(std::move(routes)),
      links_(std::move(links)),
      watch_(std::move(watch)),
      rules_(std::move(rules)) {}

Result<std::unique_ptr<NamespaceViews>> NamespaceViews::open(Standpoint standpoint) {
  const bool inside = standpoint == Standpoint::inside;
  // The watch first: what changes while the rest is opened is then heard.
  auto watch = NetlinkWatch::open(inside ? Watched::routes_and_rules : Watched::routes);
  if (!watch) return watch.error();
  auto routes = RouteView::open();
  if (!routes) return routes.error();
  auto links = LinkView::open();
  if (!links) return links.error();
  std::optional<RuleReader> rules;
  if (inside) {
    auto reader = RuleReader::open();
    if (!reader) return reader.error();
    rules = std::move(*reader);
  }
  return std::unique_ptr<NamespaceViews>(new NamespaceViews(std::move(*routes), std::move(*links),
                                                            std::move(*watch), std::move(rules)));
}

bool NamespaceViews::changed() { return watch_.changed(); }

Result<core::RouteAnswer> NamespaceViews::route(const core::Address& destination) {
  return routes_.lookup(destination);
}

Result<core::DeviceFacts> NamespaceViews::device(int index) { return links_.get(index); }

Result<std::vector<core::Address>> NamespaceViews::addresses(int index) {
  return links_.addresses(index);
}

Result<RuleReader::Reread> NamespaceViews::filtering(core::NamespaceRules known) {
  if (!rules_) return RuleReader::Reread{};
  return rules_->read(std::move(known));
}

}  // namespace sockhop::sys
