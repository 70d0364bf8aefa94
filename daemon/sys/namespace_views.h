// Everything that is asked of one network namespace about a destination, as one narrow interface.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "core/endpoint.h"
#include "core/route_answer.h"
#include "sys/link_view.h"
#include "sys/netlink_watch.h"
#include "sys/route_view.h"
#include "sys/rule_reader.h"

namespace sockhop::sys {

/// Each method asks the kernel anew; nothing is remembered here.
class NamespaceQuestions {
 public:
  virtual ~NamespaceQuestions() = default;
  /// Drains the events: false means that earlier answers still hold (filtering: see RuleReader).
  virtual bool changed() = 0;
  virtual Result<core::RouteAnswer> route(const core::Address& destination) = 0;
  virtual Result<core::DeviceFacts> device(int index) = 0;
  /// Of one device; of the namespace for index 0.
  virtual Result<std::vector<core::Address>> addresses(int index) = 0;
  /// See RuleReader::read().
  virtual Result<RuleReader::Reread> filtering(core::NamespaceRules known) = 0;
};

/// `outside` is for the host's namespace: its rules cannot be read without privilege and need not
/// be, because they meet slirp4netns' and pasta's sockets just as ours. there are none for
/// filtering().
enum class Standpoint { inside, outside };

class NamespaceViews final : public NamespaceQuestions {
 public:
  /// Opens all sockets in the calling thread's network namespace; usable from any one thread
  /// afterwards. For `inside` the opening thread should stay there (see RuleReader).
  static Result<std::unique_ptr<NamespaceViews>> open(Standpoint standpoint);

  bool changed() override;
  Result<core::RouteAnswer> route(const core::Address& destination) override;
  Result<core::DeviceFacts> device(int index) override;
  Result<std::vector<core::Address>> addresses(int index) override;
  Result<RuleReader::Reread> filtering(core::NamespaceRules known) override;

 private:
  NamespaceViews(RouteView routes, LinkView links, NetlinkWatch watch,
                 std::optional<RuleReader> rules);
  RouteView routes_;
  LinkView links_;
  NetlinkWatch watch_;
  std::optional<RuleReader> rules_;
};

}  // namespace sockhop::sys
