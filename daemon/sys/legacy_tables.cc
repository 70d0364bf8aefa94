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
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sys/legacy_entries.h"
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

// A table as it lies in memory: its entries begin behind the head that names it.
template <class Family>
struct TableBytes {
  typename Family::Info info{};
  std::vector<char> bytes;

  [[nodiscard]] std::span<const char> entries() const {
    return std::span(bytes).subspan(offsetof(typename Family::Entries, entrytable));
  }
};

template <class Family>
Result<TableBytes<Family>> read_table(FdRef socket, std::string_view name) {
  TableBytes<Family> table;
  auto& info = table.info;
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
  auto& bytes = table.bytes;
  bytes.resize(offsetof(typename Family::Entries, entrytable) + info.size);
  std::memcpy(bytes.data(), &head, offsetof(typename Family::Entries, entrytable));
  length = static_cast<socklen_t>(bytes.size());
  if (::getsockopt(socket.get(), Family::kLevel, Family::kGetEntries, bytes.data(), &length) != 0) {
    return errno_error("getsockopt(SO_GET_ENTRIES)");
  }
  return table;
}

template <class Family>
Status add_table(FdRef socket, std::string_view name, core::RuleSetBuilder& builder) {
  const auto read = read_table<Family>(socket, name);
  if (!read) return read.error();
  LegacyTable table{.name = name, .v6 = Family::kLevel == SOL_IPV6, .entries = read->entries()};
  table.valid_hooks = read->info.valid_hooks;
  std::copy(std::begin(read->info.hook_entry), std::end(read->info.hook_entry),
            table.hook_entries.begin());
  if (!add_legacy_table(table, builder)) return Error{EBADMSG, "iptables table", {}};
  return {};
}

template <class Family>
Status add_tables(std::string_view names, const UniqueFd& socket, core::RuleSetBuilder& builder) {
  while (!names.empty()) {
    const auto end = std::min(names.find('\n'), names.size());
    const auto name = names.substr(0, end);
    names.remove_prefix(std::min(end + 1, names.size()));
    if (name.empty()) continue;
    if (!socket) return Error{EAFNOSUPPORT, "iptables table", {}};
    if (auto added = add_table<Family>(socket, name, builder); !added) return added;
  }
  return {};
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

Result<core::RuleSet> LegacyTables::read() {
  core::RuleSetBuilder builder;
  auto v4 =
      add_tables<V4>(table_names(proc_net_, v4_.names, "ip_tables_names"), v4_.socket, builder);
  if (!v4) return v4.error();
  auto v6 =
      add_tables<V6>(table_names(proc_net_, v6_.names, "ip6_tables_names"), v6_.socket, builder);
  if (!v6) return v6.error();
  if (builder.full()) return Error{E2BIG, "iptables rules", {}};
  return std::move(builder).finish();
}

}  // namespace sockhop::sys
