#include "sim/checked_homes.h"

#include <cstring>

#include "sim/mover.h"

namespace terrane::sim {
namespace {

void tell_races(Node& home, Checker& checker) {
  for (const protocol::Race& race : home.take_races()) checker.race_found(race);
}

}  // namespace

void compare_home(Node& home, NodeId self, protocol::CompareHome& step, Checker& checker) {
  std::uint64_t block = step.block.value;
  step.result =
      home.races()->compare(block, {self, step.known}, home.frame(block), home.twin(block));
  tell_races(home, checker);
}

void apply_checked(Node& home, const protocol::ApplyDiff& step, std::uint32_t block_bytes,
                   Checker& checker) {
  std::uint64_t block = step.block.value;
  home.back(block);
  std::byte now[Node::kMaxBlockBytes] = {};
  protocol::ByteMask changed(block_bytes / 64);
  for (std::size_t at = 0; at < step.diff.size(); at += sizeof(PostedWord)) {
    PostedWord word;
    std::memcpy(&word, step.diff.data() + at, sizeof word);
    std::memcpy(&now[word.at], &word.value, kWordBytes);
    changed[word.at / 64] |= std::uint64_t{word.bytes} << word.at % 64;
  }
  std::byte* twin = home.has_twin(block) ? home.twin(block) : nullptr;
  home.races()->arrives(block, {step.writer, step.known}, changed, now, home.frame(block), twin);
  bool follows = twin != nullptr && !protocol::mutant(protocol::Mutant::kCheckTrustsTwin);
  for (std::uint32_t i = 0; i < block_bytes; ++i) {
    if (!(changed[i / 64] >> i % 64 & 1)) continue;
    home.frame(block)[i] = now[i];
    if (follows) twin[i] = now[i];
  }
  tell_races(home, checker);
}

void follow_atomic(Node& home, const protocol::PerformAtomic& step) {
  std::uint64_t block = step.block.value;
  std::uint64_t after = protocol::after(step.op, step.result);
  home.races()->forget(block, {step.op.offset, step.op.size});
  if (home.has_twin(block) && !protocol::mutant(protocol::Mutant::kCheckKeepsAtomics))
    std::memcpy(home.twin(block) + step.op.offset, &after, step.op.size);
}

}  // namespace terrane::sim
