#include "core/filtering.h"

#include <algorithm>
#include <array>
#include <span>

#include "core/packet.h"

namespace sockhop::core {
namespace {

// linux/rtnetlink.h, linux/netfilter/nf_conntrack_common.h, linux/netfilter.h, linux/tcp.h; core
// includes no kernel headers.
constexpr std::uint32_t kUnicast = 1;
constexpr std::uint32_t kLocal = 2;
constexpr std::uint32_t kStateEstablished = 1U << 1;
constexpr std::uint32_t kStateNew = 1U << 3;
constexpr std::uint32_t kStatusDnat = 1U << 5;
constexpr std::uint8_t kTcp = 6;
constexpr std::uint8_t kFlagsOfSyn = 0x17;  // FIN, SYN, RST, ACK; ECN may set others
constexpr std::uint8_t kSyn = 0x02;

enum class Phase { opening, original, reply };

std::span<const std::uint8_t> wire_bytes(const Address& address) {
  const std::span<const std::uint8_t> bytes(address.bytes);
  return address.is_v4() ? bytes.last(4) : bytes;
}

void put_addresses(Packet& packet, bool v4, const std::optional<Address>& source,
                   const std::optional<Address>& destination) {
  const std::size_t first = v4 ? 12 : 8;
  if (source) packet.network.set(first, wire_bytes(*source));
  if (destination) packet.network.set(first + (v4 ? 4 : 16), wire_bytes(*destination));
}

void put_protocol(Packet& packet, bool v4) {
  const std::array<std::uint8_t, 1> tcp{kTcp};
  const std::array<std::uint8_t, 1> version{static_cast<std::uint8_t>(v4 ? 0x40 : 0x60)};
  const std::array<std::uint8_t, 1> version_mask{0xf0};
  packet.network.set_bits(0, version, version_mask);
  packet.network.set(v4 ? 9 : 6, tcp);
  packet.put(PacketField::l4_protocol, tcp);
  const std::array<std::uint8_t, 1> family{static_cast<std::uint8_t>(v4 ? 2 : 10)};
  packet.put(PacketField::net_family, family);
  const std::array<std::uint8_t, 2> ethernet{static_cast<std::uint8_t>(v4 ? 0x08 : 0x86),
                                             static_cast<std::uint8_t>(v4 ? 0x00 : 0xdd)};
  packet.put(PacketField::protocol, ethernet);
}

void put_device(Packet& packet, PacketField index, PacketField name,
                const std::optional<CrossedDevice>& device) {
  packet.forget(index);
  packet.forget(name);
  if (!device) return;
  packet.put(index, static_cast<std::uint32_t>(device->index));
  packet.put_name(name, device->name);
}

void put_in(Packet& packet, const std::optional<CrossedDevice>& device) {
  put_device(packet, PacketField::in_index, PacketField::in_name, device);
}

void put_out(Packet& packet, const std::optional<CrossedDevice>& device) {
  put_device(packet, PacketField::out_index, PacketField::out_name, device);
}

void put_source_port(Packet& packet, const Crossing& crossing, Phase phase) {
  const std::array<std::uint8_t, 1> high{0x80};
  if (crossing.source_port_is_high) {
    packet.transport.set_bits(phase == Phase::reply ? 2 : 0, high, high);
  }
}

void put_port_and_state(Packet& packet, std::uint16_t port, Phase phase) {
  const std::array<std::uint8_t, 2> bytes{static_cast<std::uint8_t>(port >> 8),
                                          static_cast<std::uint8_t>(port & 0xff)};
  packet.transport.set(phase == Phase::reply ? 0 : 2, bytes);
  if (phase == Phase::opening) {
    const std::array<std::uint8_t, 1> flags{kSyn};
    const std::array<std::uint8_t, 1> mask{kFlagsOfSyn};
    packet.transport.set_bits(13, flags, mask);
  }
  packet.put(PacketField::ct_state, phase == Phase::opening ? kStateNew : kStateEstablished);
  packet.put_zero_bits(PacketField::ct_status, kStatusDnat);
  const std::array<std::uint8_t, 1> direction{static_cast<std::uint8_t>(phase == Phase::reply)};
  packet.put(PacketField::ct_direction, direction);
}

// The packet as it comes to the first hook. Between network namespaces a packet loses its mark.
Packet first_packet(const Crossing& crossing, Phase phase, bool mark_known) {
  Packet packet;
  const bool v4 = crossing.destination.is_v4();
  const bool reply = phase == Phase::reply;
  put_protocol(packet, v4);
  put_port_and_state(packet, crossing.port, phase);
  if (mark_known) packet.put(PacketField::mark, 0);
  if (reply) {
    put_addresses(packet, v4, crossing.destination, std::nullopt);
    packet.put(PacketField::source_type, kUnicast);
  } else {
    put_addresses(packet, v4, crossing.source, crossing.destination);
    put_source_port(packet, crossing, phase);
    packet.put(PacketField::source_type, crossing.made_here ? kLocal : kUnicast);
    packet.put(PacketField::destination_type, kUnicast);
  }
  return packet;
}

const CrossedDevice kNoDevice{};

// What changes from one hook to the next.
void move_to(Packet& packet, const Crossing& crossing, Phase phase, Hook hook) {
  const bool reply = phase == Phase::reply;
  const auto& in = reply ? std::optional(crossing.out) : crossing.in;
  const auto& out = reply ? crossing.in : std::optional(crossing.out);
  const bool v4 = crossing.destination.is_v4();
  switch (hook) {
    case Hook::prerouting:
      put_in(packet, in);
      put_out(packet, kNoDevice);
      break;
    case Hook::input:
    case Hook::forward:
      // What masquerade changed has been changed back.
      if (reply) {
        put_addresses(packet, v4, std::nullopt, crossing.source);
        put_source_port(packet, crossing, phase);
        packet.put(PacketField::destination_type, hook == Hook::input ? kLocal : kUnicast);
      }
      put_in(packet, in);
      put_out(packet, hook == Hook::input ? kNoDevice : out);
      break;
    case Hook::output:
      put_in(packet, kNoDevice);
      put_out(packet, out);
      break;
    case Hook::postrouting:
      // Here the source changes, and kernels differ in whether they tell where it came in.
      put_in(packet, std::nullopt);
      put_out(packet, out);
      if (!reply) {
        packet.network.forget(v4 ? 12 : 8, v4 ? 4 : 16);
        packet.transport.forget(0, 2);
        packet.forget(PacketField::source_type);
      }
      break;
    case Hook::link:
      break;
  }
}

std::span<const Hook> hooks_of(const Crossing& crossing, Phase phase) {
  static constexpr std::array kOut{Hook::output, Hook::postrouting};
  static constexpr std::array kIn{Hook::prerouting, Hook::input};
  static constexpr std::array kThrough{Hook::prerouting, Hook::forward, Hook::postrouting};
  if (!crossing.made_here) return kThrough;
  if (phase == Phase::reply) return kIn;
  return kOut;
}

bool is_for(const RuleChain& chain, Hook hook, bool v4) {
  if (chain.hook != hook) return false;
  if (hook == Hook::link || chain.family == RuleFamily::both) return true;
  return chain.family == (v4 ? RuleFamily::v4 : RuleFamily::v6);
}

// Rules on frames are not followed: they object if they can object to anything at all.
std::optional<Objection> objection_on_links(const RuleSet& rules) {
  for (const int base : rules.bases) {
    const auto& chain = rules.chains[static_cast<std::size_t>(base)];
    if (chain.hook != Hook::link) continue;
    Packet any;
    if (auto found = RuleMachine(rules, any).run(chain)) return found;
  }
  return std::nullopt;
}

class Evaluation {
 public:
  Evaluation(const NamespaceRules& all, const Crossing& crossing)
      : all_(all), crossing_(crossing) {}

  std::optional<Objection> run(const RuleSet& rules, const RuleSet& other) const {
    for (const Phase phase : {Phase::opening, Phase::original, Phase::reply}) {
      Packet packet = first_packet(crossing_, phase, !other.sets_marks);
      RuleMachine machine(rules, packet);
      for (const Hook hook : hooks_of(crossing_, phase)) {
        move_to(packet, crossing_, phase, hook);
        if (auto found = run_hook(machine, rules, {phase, hook})) return found;
        const bool routed_next = hook == Hook::output || hook == Hook::prerouting;
        // A set without such rules leaves the mark to the other set.
        if (routed_next && all_.selectors.mark && rules.sets_marks &&
            packet.is(PacketField::mark, 0) != Match::yes) {
          return Objection{"ip rule fwmark", 0};
        }
      }
    }
    return std::nullopt;
  }

 private:
  struct At {
    Phase phase;
    Hook hook;
  };

  std::optional<Objection> run_hook(RuleMachine& machine, const RuleSet& rules, At at) const {
    for (const int base : rules.bases) {
      const auto& chain = rules.chains[static_cast<std::size_t>(base)];
      if (!is_for(chain, at.hook, crossing_.destination.is_v4())) continue;
      // Address translation is decided by the first packet.
      if (chain.nat && at.phase != Phase::opening) continue;
      if (auto found = machine.run(chain)) return found;
    }
    return std::nullopt;
  }

  const NamespaceRules& all_;
  const Crossing& crossing_;
};

std::optional<Objection> objection_by_itself(const NamespaceRules& rules) {
  if (rules.unreadable) return Objection{"rules that cannot be read", 0};
  if (rules.shapes_or_transforms) return Objection{"xfrm policies or traffic control", 0};
  if (rules.selectors.anything_else) return Objection{"ip rule", 0};
  if (auto found = objection_on_links(rules.nft)) return found;
  return objection_on_links(rules.legacy);
}

bool passes_all_chains(const RuleSet& rules) {
  return std::all_of(rules.bases.begin(), rules.bases.end(), [&](int base) {
    Packet any;
    return !RuleMachine(rules, any).run(rules.chains[static_cast<std::size_t>(base)]);
  });
}

}  // namespace

std::optional<Objection> objection_to(const NamespaceRules& rules, const Crossing& crossing) {
  if (auto found = objection_by_itself(rules)) return found;
  if (rules.selectors.in_device && !crossing.made_here) return Objection{"ip rule iif", 0};
  const Evaluation evaluation(rules, crossing);
  if (auto found = evaluation.run(rules.nft, rules.legacy)) return found;
  return evaluation.run(rules.legacy, rules.nft);
}

bool passes_everything(const NamespaceRules& rules) {
  const auto& selectors = rules.selectors;
  const bool plain = !rules.unreadable && !rules.shapes_or_transforms && !selectors.mark &&
                     !selectors.in_device && !selectors.anything_else;
  return plain && passes_all_chains(rules.nft) && passes_all_chains(rules.legacy);
}

}  // namespace sockhop::core
