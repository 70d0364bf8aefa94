// Entries of a legacy iptables table: a byte for the family, hooks' offsets, entries.
#include <cstring>

#include "core/filtering.h"
#include "require.h"
#include "sys/legacy_entries.h"

using namespace sockhop;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  sys::LegacyTable table{.name = "nat", .entries = {}};
  constexpr std::size_t kHead =
      1 + sizeof(std::uint16_t) * std::tuple_size_v<decltype(table.hook_entries)>;
  if (size < kHead) return 0;
  table.v6 = (data[0] & 0x80) != 0;
  if ((data[0] & 0x40) != 0) table.name = "filter";
  table.valid_hooks = data[0] & 0x1f;
  for (std::size_t i = 0; i < table.hook_entries.size(); ++i) {
    std::uint16_t offset = 0;
    std::memcpy(&offset, data + 1 + i * sizeof offset, sizeof offset);
    table.hook_entries[i] = offset;
  }
  table.entries = {reinterpret_cast<const char*>(data) + kHead, size - kHead};
  core::RuleSetBuilder builder;
  if (!sys::add_legacy_table(table, builder)) return 0;
  core::NamespaceRules rules;
  rules.legacy = std::move(builder).finish();
  core::Crossing crossing;
  crossing.destination = core::Address::v4(203, 0, 113, 1);
  crossing.port = 443;
  crossing.out = {2, "eth0"};
  const bool passes = !core::objection_to(rules, crossing);
  fuzz::require(passes || !core::passes_everything(rules),
                "what lets everything pass lets this pass");
  return 0;
}
