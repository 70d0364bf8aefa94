// Builds the BPF program that a runtime would load for an OCI seccomp section: by libseccomp, with
// the runtimes' own reading of the rules (rules that repeat the default are dropped, unknown names
// too, several comparisons of one argument are alternatives).
#pragma once

#include <linux/filter.h>

#include <string_view>
#include <vector>

namespace sockhop::test {

/// `config` is a whole config.json with linux.seccomp. Throws std::runtime_error with what
/// libseccomp refused: a test that cannot build its filter has failed.
std::vector<sock_filter> build_filter(std::string_view config);

}  // namespace sockhop::test
