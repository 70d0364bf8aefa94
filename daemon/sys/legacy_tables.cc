#include "sys/legacy_tables.h"

// Before the kernel's headers: those then leave out what it defines.
#include <netinet/in.h>
//
#include <fcntl.h>
#include <linux/netfilter_ipv4/ip_tables.h>
#include <linux/netfilter_ipv6/ip6_tables.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "sys/proc_files.h"

namespace sockhop::sys {
namespace {

constexpr std::size_t kMaxTable = 4U * 1024 * 1024;

// The two families differ in these types and numbers only.
struct V4 {
  using Info = ipt_getinfo;
  using Entries = ipt_get_entries;
  using Entry = ipt_entry;
  static constexpr int kLevel = SOL_IP;
  static constexpr int kGetInfo = IPT_SO_GET_INFO;
  static constexpr int kGetEntries = IPT_SO_GET_ENTRIES;
};
struct V6 {
  using Info = ip6t_getinfo;
  using Entries = ip6t_get_entries;
  using Entry = ip6t_entry;
  static constexpr int kLevel = SOL_IPV6;
  static constexpr int kGetInfo = IP6T_SO_GET_INFO;
  static constexpr int kGetEntries = IP6T_SO_GET_ENTRIES;
};

template <class T>
T read_at(const std::vector<char>& bytes, std::size_t offset) {
  T value{};
  if (offset + sizeof value <= bytes.size()) {
    std::memcpy(&value, bytes.data() + offset, sizeof value);
  }
  return value;
}

template <class Family>
Result<std::vector<char>> read_table(FdRef socket, std::string_view name) {
  typename Family::Info info{};
  if (name.size() >= sizeof info.name) return Error{EINVAL, "iptables table name", {}};
  std::memcpy(info.name, name.data(), name.size());
  socklen_t length = sizeof info;
  if (::getsockopt(socket.get(), Family::kLevel, Family::kGetInfo, &info, &length) != 0) {
    return errno_error("getsockopt(SO_GET_INFO)");
  }
  if (info.size > kMaxTable) return Error{E2BIG, "iptables table", {}};
  typename Family::Entries head{};
  std::memcpy(head.name, name.data(), name.size());
  head.size = info.size;
  std::vector<char> bytes(offsetof(typename Family::Entries, entrytable) + info.size);
  std::memcpy(bytes.data(), &head, offsetof(typename Family::Entries, entrytable));
  length = static_cast<socklen_t>(bytes.size());
  if (::getsockopt(socket.get(), Family::kLevel, Family::kGetEntries, bytes.data(), &length) != 0) {
    return errno_error("getsockopt(SO_GET_ENTRIES)");
  }
  return bytes;
}

template <class Family>
void add_entries(const std::vector<char>& bytes, core::FilteringSum& sum) {
  using Entry = typename Family::Entry;
  std::size_t at = offsetof(typename Family::Entries, entrytable);
  while (at + sizeof(Entry) <= bytes.size()) {
    const auto entry = read_at<Entry>(bytes, at);
    const auto target = read_at<xt_standard_target>(bytes, at + entry.target_offset);
    const std::string_view name(target.target.u.user.name, sizeof target.target.u.user.name);
    sum.add_legacy_target(name.substr(0, name.find('\0')), target.verdict);
    if (entry.next_offset < sizeof(Entry)) return sum.add_unknown();
    at += entry.next_offset;
  }
}

template <class Family>
void add_tables(std::string_view names, const UniqueFd& socket, core::FilteringSum& sum) {
  while (!names.empty()) {
    const auto end = std::min(names.find('\n'), names.size());
    const auto name = names.substr(0, end);
    names.remove_prefix(std::min(end + 1, names.size()));
    if (name.empty()) continue;
    if (!socket) return sum.add_unknown();
    const auto table = read_table<Family>(socket, name);
    if (!table) return sum.add_unknown();
    add_entries<Family>(*table, sum);
  }
}

/// Opens the list of tables where the kernel has come to have one.
std::string table_names(const UniqueFd& proc_net, UniqueFd& file, const char* name) {
  if (!file) file = UniqueFd(::openat(proc_net.get(), name, O_RDONLY | O_CLOEXEC));
  if (!file) return {};
  auto names = read_again(file);
  // A list that cannot be read names a table that cannot be read.
  return names ? *std::move(names) : std::string("?\n");
}

}  // namespace

Result<LegacyTables> LegacyTables::open() {
  LegacyTables tables;
  tables.proc_net_ = UniqueFd(::open("/proc/thread-self/net", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!tables.proc_net_) return errno_error("open", "/proc/thread-self/net");
  tables.v4_.socket = UniqueFd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  tables.v6_.socket = UniqueFd(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  table_names(tables.proc_net_, tables.v4_.names, "ip_tables_names");
  table_names(tables.proc_net_, tables.v6_.names, "ip6_tables_names");
  return tables;
}

core::FilteringSum LegacyTables::read(core::FilteringSum sum) {
  add_tables<V4>(table_names(proc_net_, v4_.names, "ip_tables_names"), v4_.socket, sum);
  add_tables<V6>(table_names(proc_net_, v6_.names, "ip6_tables_names"), v6_.socket, sum);
  return sum;
}

}  // namespace sockhop::sys
