// Command lines of the measuring programs: --name value pairs with defaults.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace sockhop::bench {

[[noreturn]] inline void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

class Args {
 public:
  Args(int argc, char** argv) : argc_(argc), argv_(argv) {}

  [[nodiscard]] std::string text(std::string_view name, std::string_view fallback) const {
    for (int i = 1; i + 1 < argc_; i += 2) {
      if (name == argv_[i]) return argv_[i + 1];
    }
    return std::string(fallback);
  }

  [[nodiscard]] long number(std::string_view name, long fallback) const {
    const std::string value = text(name, "");
    return value.empty() ? fallback : std::strtol(value.c_str(), nullptr, 10);
  }

 private:
  int argc_;
  char** argv_;
};

/// An IPv4 name from dotted text; a bad one ends the program.
inline sockaddr_in ipv4_name(const std::string& address, long port) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<std::uint16_t>(port));
  if (inet_pton(AF_INET, address.c_str(), &name.sin_addr) != 1) {
    std::fprintf(stderr, "%s is not an IPv4 address\n", address.c_str());
    std::exit(2);
  }
  return name;
}

}  // namespace sockhop::bench
