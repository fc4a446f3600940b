// The steps of step_kinds.h.
#include <cstring>
#include <variant>

#include "sim/mover.h"
#include "sim/violation.h"

namespace terrane::sim {

bool Mover::perform_typed(Actor& a) {
  return std::visit(
      [&](auto& step) -> bool {
        if constexpr (requires { this->perform(a, step); }) {
          return perform(a, step);
        } else {
          violated(Fault::kBadStep, "step {} is none of the mover's", step.kName);
        }
      },
      a.strand.typed());
}

bool Mover::perform(Actor&, protocol::LoadWord& step) {
  step.result = nodes_[step.node.value].words[step.block.value];
  return true;
}

bool Mover::perform(Actor&, protocol::SwapWord& step) {
  std::uint32_t& word = nodes_[step.node.value].words[step.block.value];
  step.result = word == step.expected;
  if (step.result) word = step.desired;
  return true;
}

bool Mover::perform(Actor&, protocol::SetWanted& step) {
  std::uint64_t& word = nodes_[step.node.value].wanted[step.block.value / 64];
  std::uint64_t bit = 1ull << (step.block.value % 64);
  step.result = (word & bit) != 0;
  word |= bit;
  return true;
}

bool Mover::perform(Actor& a, protocol::CountFlush& step) {
  nodes_[a.node].flushing += step.begins ? 1 : ~0u;
  return true;
}

bool Mover::perform(Actor& a, protocol::CountGiving& step) {
  nodes_[a.node].giving += step.begins ? 1 : ~0u;
  return true;
}

bool Mover::perform(Actor& a, protocol::SendBuffer& step) {
  a.out.assign(step.blocks * block_bytes_, std::byte{0});
  step.result = a.out.data();
  return true;
}

bool Mover::perform(Actor& a, protocol::ReadBlock& step) {
  return copy_block(a.progress, nodes_[a.node].frame(step.block.value), step.to);
}

bool Mover::perform(Actor& a, protocol::ApplyDiff& step) {
  Progress& p = a.progress;
  Node& home = nodes_[a.node];
  home.back(step.block.value);
  for (std::uint32_t left = pieces(); p.at < step.diff.size() && left > 0; --left) {
    PostedWord word;
    std::memcpy(&word, step.diff.data() + p.at, sizeof word);
    std::byte* to = home.frame(step.block.value) + word.at;
    for (std::uint32_t i = 0; i < kWordBytes; ++i)
      if (word.bytes >> i & 1) to[i] = static_cast<std::byte>(word.value >> (8 * i));
    p.at += sizeof word;
  }
  step.result = true;
  return p.at == step.diff.size();
}

bool Mover::perform(Actor&, protocol::PerformAtomic& step) {
  Node& home = nodes_[step.node.value];
  home.back(step.block.value);
  step.result = protocol::perform(step.op, home.frame(step.block.value));
  return true;
}

bool Mover::perform(Actor& a, protocol::LoadOwner& step) {
  step.result = nodes_[a.node].owners[step.block.value];
  return true;
}

bool Mover::perform(Actor& a, protocol::ClaimOwner& step) {
  return claim_owner(a.progress, &nodes_[a.node].owners[step.blocks.first], step.blocks.count,
                     step.owner, step.result);
}

bool Mover::perform(Actor& a, protocol::CountOwned& step) {
  for (std::uint32_t left = pieces(); left > 0; --left, ++step.result) {
    if (step.result == step.blocks.count) return true;
    if (nodes_[a.node].owners[step.blocks.first + step.result] != step.owner) return true;
  }
  return false;
}

}  // namespace terrane::sim
