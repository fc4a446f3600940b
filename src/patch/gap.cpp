#include "patch/gap.h"

#include <set>

namespace terrane::patch {
namespace {

constexpr std::uint64_t kAlignment = 16;  // of what is written by hand, behind a table

using Code = std::span<const std::uint8_t>;

Decoded run_at(Code code, std::uint64_t address, std::uint64_t at, Fences fences) {
  return decode(code.subspan(at - address), at, fences, Until::kLeaves);
}

// Follows jumps and calls inside of the gap.
std::optional<std::uint64_t> locked_behind(Code code, std::uint64_t address,
                                           const std::vector<std::uint64_t>& entries,
                                           Fences fences) {
  std::vector<std::uint64_t> open = entries;
  std::set<std::uint64_t> seen;
  while (!open.empty()) {
    std::uint64_t at = open.back();
    open.pop_back();
    if (at - address >= code.size() || !seen.insert(at).second) continue;
    Decoded run = run_at(code, address, at, fences);
    if (!run.locked.empty()) return run.locked[0].address;
    if (!run.is_good) return run.end;
    open.insert(open.end(), run.targets.begin(), run.targets.end());
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> locked_in_gap(Code code, std::uint64_t address,
                                           const std::vector<std::uint64_t>& entries,
                                           Fences fences) {
  if (entries.empty()) return std::nullopt;
  if (auto found = locked_behind(code, address, entries, fences)) return found;
  std::uint64_t end = address + code.size();
  for (std::uint64_t at = address; at < end;) {
    Decoded run = run_at(code, address, at, fences);
    bool is_whole = run.is_good && !run.falls_through;
    if (is_whole && !run.locked.empty()) return run.locked[0].address;
    at = is_whole ? run.end : (at / kAlignment + 1) * kAlignment;
    if (is_whole && at < end) at += padding(code.subspan(at - address));
  }
  return std::nullopt;
}

}  // namespace terrane::patch
