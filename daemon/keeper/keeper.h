// One running daemon: its doors, its signals and its clock, around Containers.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <memory>
#include <optional>

#include "keeper/containers.h"
#include "keeper/control_door.h"
#include "keeper/notify_door.h"
#include "keeper/options.h"
#include "sys/runtime_dir.h"

namespace sockhop::keeper {

class Keeper {
 public:
  Keeper(Options options, core::Config config, sys::RuntimeDir dir);

  /// Serves until SIGTERM or SIGINT. Sessions go on afterwards.
  Status run();

 private:
  void adopt();
  Status open_doors();
  void serve();
  void wait_for_signal();
  void reload();
  void reap();
  void expire();
  [[nodiscard]] std::optional<Containers::Time> next_deadline() const;

  Options options_;
  sys::RuntimeDir dir_;
  boost::asio::io_context loop_{1};  // declared before what waits in it
  boost::asio::signal_set signals_;
  bool ending_ = false;
  Containers containers_;
  std::unique_ptr<NotifyDoor> notify_door_;
  std::unique_ptr<ControlDoor> control_door_;
};

}  // namespace sockhop::keeper
