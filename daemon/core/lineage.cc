#include "core/lineage.h"

#include <algorithm>
#include <charconv>
#include <span>

namespace sockhop::core {
namespace {

constexpr int kMaxDepth = 256;  // of ancestors
constexpr int kMaxRounds = 16;  // against ancestors that end while they are looked at
constexpr int kStartField = 22;
constexpr int kStateField = 3;  // the first after the name
constexpr unsigned kCapSysAdmin = 21;

template <class Number>
std::optional<Number> number_at(std::string_view text, int base = 10) {
  Number value{};
  const auto from = text.find_first_not_of(" \t");
  if (from == text.npos) return std::nullopt;
  const auto* const end = text.data() + text.size();
  if (std::from_chars(text.data() + from, end, value, base).ec != std::errc{}) return std::nullopt;
  return value;
}

/// What follows "KEY:" on its line. The name of the process comes first, with line feeds escaped.
std::string_view line_of(std::string_view status, std::string_view key) {
  while (!status.empty()) {
    const auto end = std::min(status.find('\n'), status.size());
    const auto line = status.substr(0, end);
    if (line.starts_with(key) && line.substr(key.size()).starts_with(':')) {
      return line.substr(key.size() + 1);
    }
    status.remove_prefix(std::min(end + 1, status.size()));
  }
  return {};
}

std::optional<std::uint64_t> start_of(std::string_view stat) {
  // "PID (NAME) STATE ...": a name may hold anything, also blanks and brackets.
  const auto close = stat.rfind(')');
  if (close == stat.npos) return std::nullopt;
  stat.remove_prefix(close + 1);
  for (int field = kStateField; field <= kStartField; ++field) {
    const auto from = stat.find(' ');
    if (from == stat.npos) return std::nullopt;
    stat.remove_prefix(from + 1);
  }
  return number_at<std::uint64_t>(stat);
}

/// "NSpid: 812 7 1": the number in the innermost namespace comes last.
bool begins_namespace(std::string_view numbers) {
  const auto last = numbers.find_last_of(" \t");
  return numbers.substr(last == numbers.npos ? 0 : last + 1) == "1";
}

const Restrictions::Relative* find_relative(const Restrictions& all, const ProcessName& process) {
  const auto known =
      std::span(all.relatives).first(std::min<std::size_t>(all.count, kMaxRelatives));
  const auto found = std::ranges::find_if(known, [&](const auto& one) {
    return one.process == process || (one.process.start == 0 && one.process.id == process.id);
  });
  return found == known.end() ? nullptr : &*found;
}

void forget_ended(Restrictions& all, const ProcessLookup& lookup) {
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < all.count; ++i) {
    const auto there = lookup(all.relatives[i].process.id);
    // One that cannot be seen may be there.
    const bool ended = all.relatives[i].process.start != 0 &&
                       (!there || there->process != all.relatives[i].process);
    if (!ended) all.relatives[kept++] = all.relatives[i];
  }
  all.count = kept;
}

void add_relative(Restrictions& all, const Restrictions::Relative& one,
                  const ProcessLookup& lookup) {
  if (const auto* known = find_relative(all, one.process)) {
    if (one.restricted != 0) all.relatives[known - all.relatives.data()].restricted = 1;
    return;
  }
  if (all.count >= kMaxRelatives) forget_ended(all, lookup);
  if (all.count >= kMaxRelatives) {
    all.everybody = 1;
    return;
  }
  all.relatives[all.count] = one;
  ++all.count;
}

/// The parent, if it was that while we looked; ids are used again, and orphans get other parents.
std::optional<ThreadFacts> parent_of(const ThreadFacts& child, const ProcessLookup& lookup) {
  auto parent = lookup(child.parent);
  const auto again = lookup(child.process.id);
  if (!parent || !again || again->process != child.process || again->parent != child.parent) {
    return std::nullopt;
  }
  return parent;
}

/// False when they changed meanwhile.
bool add_ancestors(Restrictions& all, ThreadFacts child, const ProcessLookup& lookup) {
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    if (child.parent == 0) return true;
    const auto parent = parent_of(child, lookup);
    if (!parent) {
      const auto again = lookup(child.process.id);
      if (!again || again->process != child.process || again->parent != child.parent) return false;
      // Children of one that has ended have another parent by then: this one is out of sight.
      add_relative(all, {{child.parent, 0}, 0}, lookup);
      return true;
    }
    add_relative(all, {parent->process, 0}, lookup);
    child = *parent;
  }
  return false;
}

}  // namespace

std::optional<std::int32_t> process_in_status(std::string_view status) {
  return number_at<std::int32_t>(line_of(status, "Tgid"));
}

std::optional<ThreadFacts> parse_thread_facts(std::string_view status, std::string_view stat) {
  const auto id = process_in_status(status);
  const auto parent = number_at<std::int32_t>(line_of(status, "PPid"));
  const auto no_new_privs = number_at<int>(line_of(status, "NoNewPrivs"));
  const auto capabilities = number_at<std::uint64_t>(line_of(status, "CapEff"), 16);
  const auto start = start_of(stat);
  if (!id || !parent || !no_new_privs || !capabilities || !start) return std::nullopt;
  return ThreadFacts{.process = {*id, *start},
                     .parent = *parent,
                     .begins_namespace = begins_namespace(line_of(status, "NSpid")),
                     .no_new_privs = *no_new_privs != 0,
                     .is_admin = (*capabilities >> kCapSysAdmin & 1) != 0};
}

bool can_restrict(const ThreadFacts& caller) { return caller.no_new_privs || caller.is_admin; }

void note_restriction(Restrictions& all, const ThreadFacts& caller, std::uint64_t now,
                      const ProcessLookup& lookup) {
  if (!caller.no_new_privs) all.some_without = 1;
  if (all.since == 0 || now < all.since) all.since = std::max<std::uint64_t>(now, 1);
  add_relative(all, {caller.process, 1}, lookup);
  for (int round = 0; round < kMaxRounds; ++round) {
    const auto begin = lookup(caller.process.id);
    if (begin && add_ancestors(all, *begin, lookup)) return;
  }
  all.everybody = 1;
}

bool may_be_restricted(const Restrictions& all, const ThreadFacts& thread,
                       const ProcessLookup& lookup) {
  if (all.since == 0) return false;
  if (all.some_without == 0 && !thread.no_new_privs) return false;
  ThreadFacts child = thread;
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    const auto* known = find_relative(all, child.process);
    if (known != nullptr && known->restricted != 0) return true;
    if (child.process.start < all.since) return false;
    if (all.everybody != 0 || child.parent == 0) return true;
    const auto parent = parent_of(child, lookup);
    if (!parent || parent->begins_namespace) return true;
    if (find_relative(all, parent->process) != nullptr) return true;
    child = *parent;
  }
  return true;
}

}  // namespace sockhop::core
