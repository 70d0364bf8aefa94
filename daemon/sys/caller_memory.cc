#include "sys/caller_memory.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "sys/linux_abi.h"
#include "sys/proc_files.h"

namespace sockhop::sys {
namespace {

// 65,530 mappings are the limit of a process (vm.max_map_count), a line has about 80 bytes.
constexpr std::size_t kMaxMaps = std::size_t{16} << 20;

/// "7f12a000-7f12c000 rw-p ..."
std::optional<MappedArea> parse_area(std::string_view line) {
  MappedArea area;
  const char* const end = line.data() + line.size();
  const auto begin = std::from_chars(line.data(), end, area.begin, 16);
  if (begin.ec != std::errc{} || begin.ptr == end || *begin.ptr != '-') return std::nullopt;
  const auto last = std::from_chars(begin.ptr + 1, end, area.end, 16);
  if (last.ec != std::errc{} || end - last.ptr < 3) return std::nullopt;
  area.writable = last.ptr[2] == 'w';
  return area;
}

}  // namespace

Result<std::optional<MappedArea>> ask_area(FdRef maps, std::uint64_t address) {
  ProcmapQuery query{};
  query.size = sizeof query;
  query.query_flags = kProcmapCoveringOrNext;
  query.query_addr = address;
  if (::ioctl(maps.get(), kProcmapQuery, &query) == 0) {
    return std::optional(
        MappedArea{query.vma_start, query.vma_end, (query.vma_flags & kProcmapWritable) != 0});
  }
  if (errno == ENOENT) return std::optional<MappedArea>();
  return errno_error("PROCMAP_QUERY");
}

Result<std::optional<MappedArea>> find_area(FdRef maps, std::uint64_t address) {
  const auto text = read_again(maps, kMaxMaps);
  if (!text) return text.error();
  for (std::string_view rest = *text; !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const auto area = parse_area(rest.substr(0, end));
    if (area && area->end > address) return area;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::optional<MappedArea>();
}

Result<CallerMemory> CallerMemory::open(std::int32_t thread) {
  const std::string folder = "/proc/" + std::to_string(thread);
  UniqueFd memory(::open((folder + "/mem").c_str(), O_RDWR | O_CLOEXEC));
  if (!memory) return errno_error("open", folder + "/mem");
  UniqueFd maps(::open((folder + "/maps").c_str(), O_RDONLY | O_CLOEXEC));
  if (!maps) return errno_error("open", folder + "/maps");
  return CallerMemory(std::move(memory), std::move(maps));
}

std::size_t CallerMemory::writable_part(std::uint64_t address, std::size_t size) const {
  for (std::size_t done = 0; done < size;) {
    auto area = ask_area(maps_, address + done);
    if (!area && area.error().code == ENOTTY) area = find_area(maps_, address + done);
    // What no area holds is no business of ours: a stack may grow into it.
    if (!area || !*area) return size;
    if (!(*area)->writable && (*area)->begin <= address + done) return done;
    const std::uint64_t next = (*area)->begin > address + done ? (*area)->begin : (*area)->end;
    if (next - address >= size) return size;
    done = static_cast<std::size_t>(next - address);
  }
  return size;
}

Status CallerMemory::write(std::uint64_t address, std::span<const std::byte> bytes) const {
  const auto allowed = bytes.first(writable_part(address, bytes.size()));
  if (!allowed.empty()) {
    const ssize_t done =
        ::pwrite(memory_.get(), allowed.data(), allowed.size(), static_cast<off_t>(address));
    if (done < 0) return errno_error("pwrite");
    if (static_cast<std::size_t>(done) != allowed.size()) return Error{EFAULT, "pwrite", {}};
  }
  if (allowed.size() != bytes.size()) return Error{EFAULT, "maps", {}};
  return {};
}

}  // namespace sockhop::sys
