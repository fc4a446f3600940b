#include "fault.h"

#include <fmt/format.h>

#include "base/prng.h"

namespace terrane::faults {
namespace {

constexpr std::uint32_t kEarlyPercent = 15;
constexpr std::uint32_t kEarlyMs = 250, kLateMs = 120;

bool hits_a_node(Kind kind) {
  return kind == Kind::kKillNode || kind == Kind::kStopNode || kind == Kind::kFilesShort ||
         kind == Kind::kMemoryShort || kind == Kind::kFullFolders;
}

// On one host alone, too: then there is no hub, and no network.
bool needs_no_other_host(Kind kind) {
  return hits_a_node(kind) || kind == Kind::kKillFront || kind == Kind::kKillEngine ||
         kind == Kind::kStopEngine;
}

bool hits_any_host(Kind kind) { return kind == Kind::kCutLink || kind == Kind::kSilenceLink; }

}  // namespace

// The kinds take turns, so that every campaign has all of them.
Fault fault_of(std::uint64_t seed) {
  base::Prng chance(seed);
  Fault fault{};
  fault.seed = seed;
  fault.kind = static_cast<Kind>(seed % kKinds);
  fault.hosts = needs_no_other_host(fault.kind) ? 1 + chance.below(4) : 2 + chance.below(3);
  if (hits_a_node(fault.kind)) {
    fault.victim = chance.below(kNodes);
  } else if (hits_any_host(fault.kind)) {
    fault.victim = chance.below(fault.hosts);
  } else if (!needs_no_other_host(fault.kind)) {
    fault.victim = 1 + chance.below(fault.hosts - 1);
  }
  fault.early = chance.chance(kEarlyPercent);
  fault.after_ms = chance.below(fault.early ? kEarlyMs : kLateMs);
  return fault;
}

const char* name_of(Kind kind) {
  constexpr const char* kNames[kKinds] = {
      "kill node",          "stop node",          "kill front",   "kill engine", "stop engine",
      "kill remote engine", "stop remote engine", "kill login",   "cut link",    "silence link",
      "host dies",          "files short",        "memory short", "full folders"};
  return kNames[static_cast<std::uint32_t>(kind)];
}

std::string describe(const Fault& fault) {
  return fmt::format("seed {}: {} {} {}, {} nodes on {} hosts, {} ms after {}", fault.seed,
                     name_of(fault.kind), hits_a_node(fault.kind) ? "of node" : "of host",
                     fault.victim, kNodes, fault.hosts, fault.after_ms,
                     fault.early ? "the start" : "the first barriers");
}

}  // namespace terrane::faults
