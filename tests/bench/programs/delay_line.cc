// A link with a fixed one-way delay: bench_delay_line --a PATH --b PATH --delay-us N.
//
// PATH names a network namespace (/proc/PID/ns/net, /run/netns/NAME). In each one a TUN device of
// --name is made; a packet that leaves through one comes out of the other N microseconds later.
// The caller gives the devices their addresses after "ready" is printed; they end with this
// process.
//
// Theory: a packet is due at (time it was read + delay). One thread reads both devices, keeps a
// queue per direction (constant delay: first in, first out) and spins through the last stretch
// before a packet is due, because a timer of this kernel may be late by more than the measurement
// allows. It sleeps only while both queues are empty, so it costs no CPU when nothing is on the
// line.
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <deque>
#include <vector>

#include "args.h"
#include "base/unique_fd.h"
#include "clock.h"

using namespace sockhop::bench;
using sockhop::FdRef;
using sockhop::UniqueFd;

namespace {

constexpr std::size_t kMaxQueued = 20'000;
constexpr std::int64_t kSpinNs = 80'000;

struct Packet {
  std::int64_t due;
  std::vector<char> bytes;
};

struct Direction {
  FdRef from;
  FdRef to;
  std::deque<Packet> queue;
};

UniqueFd tun_in(const std::string& net_namespace, const std::string& name) {
  const UniqueFd ns(open(net_namespace.c_str(), O_RDONLY | O_CLOEXEC));
  if (!ns) fail(net_namespace.c_str());
  if (setns(ns.get(), CLONE_NEWNET) != 0) fail("setns");
  UniqueFd tun(open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!tun) fail("/dev/net/tun");
  ifreq request{};
  std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (ioctl(tun.get(), TUNSETIFF, &request) != 0) fail("TUNSETIFF");
  return tun;
}

void take_in(Direction& direction, std::int64_t delay_ns) {
  static std::vector<char> buffer(65536);
  for (int i = 0; i < 64; ++i) {
    const ssize_t length = read(direction.from.get(), buffer.data(), buffer.size());
    if (length <= 0) return;
    if (direction.queue.size() >= kMaxQueued) continue;  // a full line drops, as a router does
    direction.queue.push_back(
        {now_ns() + delay_ns, std::vector<char>(buffer.begin(), buffer.begin() + length)});
  }
}

void let_out(Direction& direction) {
  while (!direction.queue.empty() && direction.queue.front().due <= now_ns()) {
    const std::vector<char>& bytes = direction.queue.front().bytes;
    // A device that is not up refuses the packet: lost, as on any link that is down.
    [[maybe_unused]] const ssize_t sent = write(direction.to.get(), bytes.data(), bytes.size());
    direction.queue.pop_front();
  }
}

/// Nanoseconds until the next packet is due; negative when nothing is queued.
std::int64_t next_due_in(const Direction& there, const Direction& back) {
  std::int64_t due = -1;
  for (const Direction* each : {&there, &back}) {
    if (each->queue.empty()) continue;
    const std::int64_t first = each->queue.front().due;
    if (due < 0 || first < due) due = first;
  }
  if (due < 0) return -1;
  const std::int64_t left = due - now_ns();
  return left > 0 ? left : 0;
}

void wait_for_work(const Direction& there, const Direction& back) {
  pollfd devices[2] = {{.fd = there.from.get(), .events = POLLIN, .revents = 0},
                       {.fd = back.from.get(), .events = POLLIN, .revents = 0}};
  const std::int64_t left = next_due_in(there, back);
  if (left < 0) {
    poll(devices, 2, -1);
  } else if (left > kSpinNs) {
    const timespec nap{.tv_sec = 0, .tv_nsec = left - kSpinNs};
    ppoll(devices, 2, &nap, nullptr);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Args args(argc, argv);
  const std::int64_t delay_ns = args.number("--delay-us", 250) * 1000;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  prctl(PR_SET_TIMERSLACK, 1);
  const std::string name = args.text("--name", "delay0");
  const UniqueFd a = tun_in(args.text("--a", "/proc/self/ns/net"), name);
  const UniqueFd b = tun_in(args.text("--b", "/proc/self/ns/net"), name);
  Direction there{.from = a, .to = b, .queue = {}};
  Direction back{.from = b, .to = a, .queue = {}};
  std::puts("ready");
  std::fflush(stdout);
  for (;;) {
    take_in(there, delay_ns);
    take_in(back, delay_ns);
    let_out(there);
    let_out(back);
    wait_for_work(there, back);
  }
}
