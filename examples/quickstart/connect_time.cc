// The quick start's stopwatch for connections.
//
//   connect_time serve PORT             accepts and closes, for ever
//   connect_time ADDRESS PORT SECONDS   prints the median of socket + connect + close, in µs
//
// Sockets close by a reset (SO_LINGER 0): otherwise thousands of ports would wait in TIME_WAIT, and
// what is measured then is the search for a free one.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

sockaddr_in name_of(const char* address, const char* port) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port)));
  if (inet_pton(AF_INET, address, &name.sin_addr) != 1) {
    std::fprintf(stderr, "%s is not an IPv4 address\n", address);
    std::exit(2);
  }
  return name;
}

[[noreturn]] void serve(const char* port) {
  const sockaddr_in name = name_of("0.0.0.0", port);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(listener, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) fail("bind");
  if (listen(listener, 4096) != 0) fail("listen");
  for (;;) {
    const int connection = accept(listener, nullptr, nullptr);
    if (connection >= 0) close(connection);
  }
}

double connect_once(const sockaddr_in& name) {
  const auto begin = Clock::now();
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (client < 0) fail("socket");
  const linger reset_on_close{.l_onoff = 1, .l_linger = 0};
  setsockopt(client, SOL_SOCKET, SO_LINGER, &reset_on_close, sizeof reset_on_close);
  if (connect(client, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) fail("connect");
  close(client);
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

double median_of_connects(const sockaddr_in& name, double seconds) {
  std::vector<double> times;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end || times.empty()) times.push_back(connect_once(name));
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "serve") serve(argv[2]);
  if (argc != 4) {
    std::fprintf(stderr, "usage: connect_time serve PORT | connect_time ADDRESS PORT SECONDS\n");
    return 2;
  }
  std::printf("%.2f\n", median_of_connects(name_of(argv[1], argv[2]), std::atof(argv[3])));
}
