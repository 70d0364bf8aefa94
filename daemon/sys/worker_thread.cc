#include "sys/worker_thread.h"

#include <sched.h>

namespace sockhop::sys {

Result<std::unique_ptr<WorkerThread>> WorkerThread::start(std::function<Status()> enter) {
  std::unique_ptr<WorkerThread> worker(new WorkerThread);
  worker->thread_ = std::thread([self = worker.get()] { self->loop(); });
  Status entered;
  worker->run([&] { entered = enter(); });
  if (!entered) return entered.error();
  return worker;
}

WorkerThread::~WorkerThread() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void WorkerThread::run(const std::function<void()>& job) {
  std::unique_lock lock(mutex_);
  job_ = &job;
  wake_.notify_one();
  done_.wait(lock, [this] { return job_ == nullptr; });
}

void WorkerThread::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stop_ || job_ != nullptr; });
    if (stop_) return;
    (*job_)();
    job_ = nullptr;
    done_.notify_one();
  }
}

Result<std::unique_ptr<WorkerThread>> start_in_netns(FdRef netns) {
  return WorkerThread::start([netns]() -> Status {
    if (::setns(netns.get(), CLONE_NEWNET) < 0) return errno_error("setns");
    return {};
  });
}

}  // namespace sockhop::sys
