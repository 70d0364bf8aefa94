// A thread that stands somewhere else (another network namespace, an own descriptor table) and does
// one small job at a time for the loop, which waits for it.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "base/result.h"
#include "base/unique_fd.h"

namespace sockhop::sys {

class WorkerThread {
 public:
  /// Starts the thread and runs `enter` on it; its error is the error of start().
  static Result<std::unique_ptr<WorkerThread>> start(std::function<Status()> enter);
  ~WorkerThread();
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  /// Runs `job` on the thread and returns when it is done.
  void run(const std::function<void()>& job);

 private:
  WorkerThread() = default;
  void loop();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  const std::function<void()>* job_ = nullptr;
  bool stop_ = false;
  std::thread thread_;
};

/// A worker inside the network namespace `netns` (setns(2)).
Result<std::unique_ptr<WorkerThread>> start_in_netns(FdRef netns);

}  // namespace sockhop::sys
