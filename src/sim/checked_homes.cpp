#include "sim/checked_homes.h"

#include <algorithm>
#include <cstring>
#include <utility>

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

void note_access(Node& node, std::uint64_t block, std::uint32_t at, std::uint32_t bytes,
                 bool is_write, std::uint32_t block_bytes) {
  if (node.accesses() == nullptr || node.hlrc().entry(block).synchronises()) return;
  node.accessed().push_back({block * block_bytes + at, bytes, is_write ? 1u : 0u, 0});
}

void close_accesses(Node& node, NodeId self, protocol::CloseAccesses& step,
                    std::uint32_t block_bytes) {
  std::vector<protocol::AccessedBytes>& accesses = node.accessed();
  std::erase_if(accesses, [&](const protocol::AccessedBytes& one) {
    return node.hlrc().entry(one.first / block_bytes).synchronises();
  });
  if (!accesses.empty()) step.result = accesses.front().first / block_bytes;
  node.accesses()->close(self, step.known, std::exchange(accesses, {}));
}

void compare_accesses(std::span<Node> nodes, std::uint32_t block_bytes, Checker& checker) {
  protocol::AccessCheck check;
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].accesses() == nullptr) return;
    protocol::CloseAccesses last{nodes[n].core().timestamp()};  // no release came after these
    close_accesses(nodes[n], NodeId{n}, last, block_bytes);
    check.add(NodeId{n}, nodes[n].accesses()->intervals());
  }
  auto synchronises = [&](std::uint64_t block) {
    return std::any_of(nodes.begin(), nodes.end(),
                       [&](Node& node) { return node.hlrc().entry(block).synchronises(); });
  };
  for (const protocol::AccessRace& race : check.find(~std::size_t{0}))
    if (!synchronises(race.first / block_bytes)) checker.access_race_found(race);
}

}  // namespace terrane::sim
