// Makes an OCI bundle ready for sockhop before its runtime sees it.
#pragma once

#include <string>

#include "core/runtime_command.h"
#include "core/runtime_config.h"

namespace sockhop::hook {

enum class Outcome {
  accelerated,  // the bundle has our rules, its ports are published
  left_alone,   // nothing to do: the container says so, or there is no bundle to be read
  plain,        // not possible now; the container starts as it would without sockhop
  refused,      // the container must not start: what it asks for cannot be, or it requires sockhop
};

struct Preparation {
  Outcome outcome = Outcome::left_alone;
  /// For people, with the remedy; of plain and refused.
  std::string message;
};

/// `runtime`: path of the real runtime, which is asked for its version. Takes at most
/// `config.patience` and a second; the bundle is changed last, and wholly or not at all.
Preparation prepare(const core::RuntimeCommand& command, const core::RuntimeConfig& config,
                    const std::string& runtime);

}  // namespace sockhop::hook
