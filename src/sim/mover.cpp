#include "sim/mover.h"

#include <cstring>

#include "sim/violation.h"

namespace terrane::sim {

using protocol::Access;
using protocol::Mutant;
using protocol::mutant;
using protocol::StepKind;

void Mover::begin(base::Prng& rng, const Setup& setup) {
  rng_ = &rng;
  block_bytes_ = setup.block_bytes;
  scan_ = setup.scan;
  populate_fails_percent_ = setup.populate_fails_percent;
  whole_steps_ = setup.whole_steps;
  static constexpr std::uint32_t kFine[] = {6, 20, 50, 100};
  fine_ = kFine[rng.below(4)];
  nodes_in_job_ = setup.nodes;
  patience_ = setup.patience;
}

std::uint32_t Mover::pieces() {
  if (whole_steps_) return ~0u;
  std::uint64_t draw = rng_->next();
  if ((draw & 127) >= fine_) return ~0u;
  return 1 + static_cast<std::uint32_t>(draw >> 32) % 12;
}

bool Mover::perform(Actor& a) {
  const Step& step = a.strand.step();
  switch (step.kind) {
    case StepKind::kCopyHome:
      return copy_home(a, step);
    case StepKind::kStoreHome:
      return store_home(a, step);
    case StepKind::kMerge:
      return merge(a, step);
    case StepKind::kCopyTwin:
      return copy_twin(a, step);
    case StepKind::kStoreDiff:
    case StepKind::kPostDiff:
      return store_diff(a, step);
    case StepKind::kTyped:
      return perform_typed(a);
    case StepKind::kTakeNews:
      return take_news(a, step);
    case StepKind::kTakeGranted:
      take_granted(a, step);
      return true;
    case StepKind::kForgetNews:
      nodes_[a.node].news().forget(static_cast<std::uint32_t>(step.value));
      return true;
    case StepKind::kClaimOwner: {
      std::uint32_t owner = 0;
      bool done = claim_owner(a.progress, &nodes_[step.node.value].owners[step.blocks.first],
                              step.blocks.count, static_cast<std::uint32_t>(step.value), owner);
      a.strand.result = owner;
      return done;
    }
    case StepKind::kMeet:
      return meet(a, step);
    case StepKind::kAtomic:
      nodes_[step.node.value].back(step.blocks.first);
      a.strand.result =
          protocol::perform(a.strand.atomic, nodes_[step.node.value].frame(step.blocks.first));
      return true;
    case StepKind::kPatch: {
      std::uint64_t value = protocol::after(a.strand.atomic, a.strand.before);
      std::uint32_t at = a.strand.atomic.offset;
      Node& self = nodes_[a.node];
      std::memcpy(self.frame(step.blocks.first) + at, &value, a.strand.atomic.size);
      if (step.flag) std::memcpy(self.twin(step.blocks.first) + at, &value, a.strand.atomic.size);
      return true;
    }
    case StepKind::kPopulate:
    case StepKind::kMap:
    case StepKind::kProtect:
    case StepKind::kUnprotect:
    case StepKind::kZap:
    case StepKind::kScan:
    case StepKind::kLook:
    case StepKind::kPunch:
    case StepKind::kDropTwin:
      return whole_range(a, step);
    case StepKind::kTakeWanted:
      take_wanted(a);
      return true;
    default:
      word_step(a, step);
      return true;
  }
}

// ---- ranges of the view

bool Mover::whole_range(Actor& a, const Step& step) {
  Progress& p = a.progress;
  for (std::uint32_t left = pieces(); p.at < step.blocks.count && left > 0; --left, ++p.at)
    one_block(a, step, step.blocks.first + p.at);
  return p.at == step.blocks.count;
}

void Mover::one_block(Actor& a, const Step& step, std::uint64_t block) {
  Node& node = nodes_[a.node];
  Node::View& view = node.views[block];
  switch (step.kind) {
    case StepKind::kPopulate: {
      Node& at = step.flag ? nodes_[step.node.value] : node;
      if (a.progress.at == 0) a.strand.result = 1;
      if (!at.backed[block] && rng_->chance(populate_fails_percent_)) a.strand.result = 0;
      if (a.strand.result) at.back(block);
      break;
    }
    case StepKind::kMap:
      if (view.present) break;  // the kernel says that it exists, and leaves it as it is
      if (!node.backed[block])
        violated(Fault::kBadStep, "node {} maps block {} without memory", a.node, block);
      view = {.present = true,
              .guarded = step.access == Access::kRead &&
                         (node.enters_protected || node.core().sc().serves(block))};
      break;
    case StepKind::kProtect:
      if (scan_ && node.hlrc().is_tracked(block) && view.present && !view.guarded)
        violated(Fault::kInvariant,
                 "node {} protects tracked block {}, which hides that it is written", a.node,
                 block);
      view.guarded = view.present;
      break;
    case StepKind::kUnprotect:
      view.guarded = false;
      break;
    case StepKind::kZap:
      view = {};
      break;
    case StepKind::kScan:
    case StepKind::kLook:
      scan(a, step, block);
      break;
    case StepKind::kDropTwin:
      node.drop_twin(block);
      break;
    default:
      node.punch(block);
      break;
  }
}

void Mover::scan(Actor& a, const Step& step, std::uint64_t block) {
  Node::View& view = nodes_[a.node].views[block];
  if (!view.present || view.guarded) return;
  view.guarded = step.kind == StepKind::kScan;
  auto& runs = a.strand.runs;
  if (!runs.empty() && runs.back().end() == block) {
    ++runs.back().count;
  } else {
    runs.push_back({block, 1});
  }
}

// ---- words

bool Mover::claim_owner(Progress& p, std::uint32_t* owners, std::uint64_t count,
                        std::uint32_t claim, std::uint32_t& result) {
  if (mutant(Mutant::kClaimWithoutSwap) && p.part == 0) {
    p.part = 1;
    p.loaded = owners[0];
    return false;
  }
  result = mutant(Mutant::kClaimWithoutSwap) ? static_cast<std::uint32_t>(p.loaded) : owners[0];
  if (result == 0) result = owners[0] = claim;
  for (std::uint64_t b = 1; b < count && result == claim; ++b) {
    if (owners[b] == 0) owners[b] = claim;
    if (owners[b] != claim) break;
  }
  return true;
}

// Comes, then looks again and again until the round is over.
bool Mover::meet(Actor& a, const Step& step) {
  protocol::CentralBarrier barrier(nodes_[0].meetings[step.value >> 32], nodes_in_job_);
  Progress& p = a.progress;
  if (p.part == 0) {
    std::optional<std::uint32_t> told;
    if (step.flag) told = static_cast<std::uint32_t>(step.value);
    p.loaded = barrier.come(told);
    p.part = 1;
    return false;
  }
  auto round = p.part == 1 ? barrier.look(p.loaded) : barrier.withdraw(p.loaded);
  if (rng_->below(patience_) == 0) p.part = 2;
  a.strand.result = round == protocol::CentralBarrier::Round::kHeld;
  return round != protocol::CentralBarrier::Round::kOpen;
}

void Mover::take_wanted(Actor& a) {
  Node& node = nodes_[a.node];
  for (std::uint32_t w = 0; w < std::size(node.wanted); ++w) {
    std::uint64_t word = node.wanted[w];
    node.wanted[w] = 0;
    for (; word != 0; word &= word - 1) {
      std::uint64_t block = w * 64 + static_cast<std::uint64_t>(__builtin_ctzll(word));
      auto& runs = a.strand.runs;
      if (!runs.empty() && runs.back().end() == block) {
        ++runs.back().count;
      } else {
        runs.push_back({block, 1});
      }
    }
  }
}

void Mover::word_step(Actor& a, const Step& step) {
  std::uint64_t block = step.blocks.first;
  std::uint64_t& result = a.strand.result;
  switch (step.kind) {
    case StepKind::kLoadWord:
      result = nodes_[step.node.value].words[block];
      break;
    case StepKind::kStoreWord:
      nodes_[a.node].words[block] = static_cast<std::uint32_t>(step.value);
      break;
    case StepKind::kSwapWord: {
      std::uint32_t& word = nodes_[step.node.value].words[block];
      result = step.flag || word == static_cast<std::uint32_t>(step.value);
      if (result) word = static_cast<std::uint32_t>(step.value >> 32);
      break;
    }
    case StepKind::kCountFlush:
      nodes_[a.node].flushing += step.flag ? 1 : ~0u;
      break;
    case StepKind::kLoadFlushing:
      result = nodes_[step.node.value].flushing;
      break;
    case StepKind::kLoadGiving:
      result = nodes_[a.node].giving;
      break;
    case StepKind::kSetWanted: {
      std::uint64_t& word = nodes_[step.node.value].wanted[block / 64];
      std::uint64_t bit = 1ull << (block % 64);
      result = (word & bit) != 0;
      word |= bit;
      break;
    }
    case StepKind::kLoadOwner:
      result = nodes_[step.node.value].owners[block];
      break;
    case StepKind::kClearOwner:
      nodes_[a.node].owners[block] = 0;
      break;
    default:
      violated(Fault::kBadStep, "step {} is none of the mover's", static_cast<int>(step.kind));
  }
}

}  // namespace terrane::sim
