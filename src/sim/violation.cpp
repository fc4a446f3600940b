#include "sim/violation.h"

#include "sim/names.h"

namespace terrane::sim {
namespace {

// In the order of Fault.
constexpr std::string_view kRules[] = {
    "none",
    "a load returns the latest store that happened before it",
    "at the end all nodes read the same",
    "a lock has one holder, or readers alone",
    "a thread leaves a barrier after all threads have entered it",
    "no thread waits for ever",
    "no thread runs in a circle",
    "an invariant holds between any two steps",
    "no node refuses a message of another node",
    "each operation answers what its description says",
    "each step is one that a real machine can perform",
    "each message arrives once, in order and whole",
    "a peer is lost only where no path leads to it",
    "a gateway holds at most a window of each pair",
    "a race that is reported is one",
    "what two nodes write at once is reported"};
static_assert(std::size(kRules) == static_cast<std::size_t>(Fault::kMissedRace) + 1);

}  // namespace

std::string_view rule_of(Fault fault) { return kRules[static_cast<std::size_t>(fault)]; }

std::string reason_of(const Violation& violation) {
  if (violation.fault == Fault::kNone) return {};
  return fmt::format("{}: {} (rule: {})", name_of(violation.fault), violation.text,
                     rule_of(violation.fault));
}

}  // namespace terrane::sim
