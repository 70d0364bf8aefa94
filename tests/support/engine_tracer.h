// Ends an engine at a chosen system call: the only points where what others can see changes.
#pragma once

#include <functional>
#include <vector>

namespace sockhop::tests {

class EngineTracer {
 public:
  /// Traces every thread of `engine`, which is idle and goes on being so.
  explicit EngineTracer(int engine);

  /// Lets it run until its `stop`-th entry to, or exit from, a system call (from 1), and kills it
  /// there: at an entry the call is not made, at an exit its result is never seen. False when
  /// `done` held before that; the engine is then left to itself.
  bool kill_at(int stop, const std::function<bool()>& done);
  /// The system call, by number, where it was killed.
  [[nodiscard]] long last_call() const { return last_call_; }

 private:
  enum class Look { nothing, stopped, counted };
  Look look(int thread);
  void watch_all(bool interrupt);
  void settle();
  void end();
  void let_go();

  int engine_;
  long last_call_ = -1;
  std::vector<int> threads_;
};

}  // namespace sockhop::tests
