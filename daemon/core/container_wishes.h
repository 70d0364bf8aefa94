// What the OCI config of a container says to sockhop: its annotations; with Docker, its labels.
//
//   sockhop/accelerate  true, false     false: sockhop leaves the container alone
//   sockhop/required    true, false     true: without sockhop it does not start
//   sockhop/ports       "8080:80,127.0.0.1:8443:443/tcp"
//   sockhop/rules       "stay 10.0.0.0/8,deny 203.0.113.0/24:25"
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sockhop::core {

struct ContainerWishes {
  bool accelerate = true;
  std::optional<bool> required;    // absent: as the configuration has it
  std::vector<std::string> ports;  // each as parse_published_port takes it
  std::vector<std::string> rules;  // each as parse_rule takes it
};

/// Docker gives its runtime no labels, and before 24 no annotations either, but it keeps them in a
/// file beside the resolv.conf that it mounts. Its path; empty when the config is not of Docker's.
std::string docker_state_file(std::string_view config, std::string_view container);

/// `config` is the whole config.json, `docker_state` the text of that file or nothing. An
/// annotation counts more than a label. Errors: no OCI config, an unknown sockhop/ name, or a value
/// that is not of the form above; they say what to write.
Result<ContainerWishes> read_wishes(std::string_view config, std::string_view docker_state = {});

}  // namespace sockhop::core
