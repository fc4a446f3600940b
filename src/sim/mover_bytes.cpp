// The steps that move bytes: copies, differences, news.
#include <cstring>

#include "sim/mover.h"

namespace terrane::sim {

using protocol::Mutant;
using protocol::mutant;
using protocol::StepKind;

// False while they are not here.
bool Mover::take_news(Actor& a, const Step& step) {
  Node& self = nodes_[a.node];
  const auto* news =
      self.news().find(step.node, step.blocks, static_cast<std::uint32_t>(step.value));
  if (news == nullptr) return false;
  if (news->gone) {
    a.strand.result = protocol::kNewsGone;
    return true;
  }
  std::uint32_t same = news->same_of(step.blocks);
  a.strand.serials.resize(step.blocks.count);
  for (std::uint64_t i = 0; i < step.blocks.count; ++i) {
    std::uint64_t block = step.blocks.first + i;
    a.strand.serials[i] = news->serial_of(block);
    if (!(same >> i & 1))
      std::memcpy(self.aside(i), news->bytes_of(block, block_bytes_), block_bytes_);
  }
  a.strand.result = protocol::taken(news->tracked_of(step.blocks), same);
  return true;
}

void Mover::take_granted(Actor& a, const Step& step) {
  Node& self = nodes_[a.node];
  auto from = static_cast<std::uint32_t>(step.value);
  std::memcpy(self.aside(step.value >> 32), a.strand.granted.data() + from, block_bytes_);
}

bool Mover::copy_home(Actor& a, const Step& step) {
  Progress& p = a.progress;
  std::uint64_t block = step.blocks.first + p.block;
  Node& self = nodes_[a.node];
  self.back(block);
  if (!copy_block(p, nodes_[step.node.value].frame(block),
                  step.flag ? self.aside(step.value + p.block) : self.frame(block)))
    return false;
  p.at = 0;
  return ++p.block == step.blocks.count;
}

bool Mover::store_home(Actor& a, const Step& step) {
  std::uint64_t block = step.blocks.first;
  Node& home = nodes_[step.node.value];
  home.back(block);
  return copy_block(a.progress, nodes_[a.node].frame(block), home.frame(block));
}

bool Mover::copy_block(Progress& p, const std::byte* from, std::byte* to) {
  std::uint32_t count = pieces();
  if (count > block_bytes_ - p.at) count = block_bytes_ - p.at;
  std::memcpy(to + p.at, from + p.at, count);
  p.at += count;
  return p.at == block_bytes_;
}

// Word by word: the bytes that are news go to the block, then the word to the twin.
bool Mover::merge(Actor& a, const Step& step) {
  Progress& p = a.progress;
  Node& self = nodes_[a.node];
  std::byte* block = self.frame(step.blocks.first);
  std::byte* twin = self.twin(step.blocks.first);
  const std::byte* news = self.aside(step.value);
  for (std::uint32_t left = pieces(); p.at < block_bytes_ && left > 0; --left) {
    if (p.part == 0) {
      load_and_compare(p, news + p.at, twin + p.at);
      if (!step.flag) p.pending = 0xff;
      p.part = 1;
    } else if (p.part == 1) {
      if (p.pending != 0) store_some(p, block + p.at);
      if (p.pending == 0) p.part = 2;
    } else {
      bool follows = step.flag || mutant(Mutant::kRenewOverwrites);
      if (follows && !mutant(Mutant::kRenewKeepsTwin))
        std::memcpy(twin + p.at, &p.loaded, kWordBytes);
      p.part = 0;
      p.at += kWordBytes;
    }
  }
  return p.at == block_bytes_;
}

bool Mover::copy_twin(Actor& a, const Step& step) {
  Progress& p = a.progress;
  std::uint64_t block = step.blocks.first;
  Node& node = nodes_[step.flag ? step.node.value : a.node];  // flag: the mutant kTwinFromHome
  std::uint32_t count = pieces();
  if (count > block_bytes_ - p.at) count = block_bytes_ - p.at;
  nodes_[a.node].back_twin(block);
  std::memcpy(nodes_[a.node].twin(block) + p.at, node.frame(block) + p.at, count);
  p.at += count;
  return p.at == block_bytes_;
}

// Word by word: load once, compare, store the changed bytes at the home, and the word to the twin.
bool Mover::store_diff(Actor& a, const Step& step) {
  Progress& p = a.progress;
  std::uint64_t block = step.blocks.first;
  Node& self = nodes_[a.node];
  Node& home = nodes_[step.node.value];
  bool posted = step.kind == StepKind::kPostDiff;
  if (posted && p.at == 0 && p.part == 0) a.flush.clear();
  const std::byte* mine = self.frame(block);
  std::byte* twin = self.twin(block);
  for (std::uint32_t left = pieces(); p.at < block_bytes_ && left > 0; --left) {
    if (p.part == 0) {
      load_and_compare(p, mine + p.at, twin + p.at);
      if (p.pending == 0) {
        p.at += kWordBytes;
        continue;
      }
      p.part = 1;
    } else if (p.part == 1 && posted) {
      post(a, p.at, p.loaded, p.pending);
      p.part = 2;
    } else if (p.part == 1) {
      home.back(block);
      store_some(p, home.frame(block) + p.at);
      if (p.pending == 0) p.part = 2;
    } else {
      if (step.flag && !mutant(Mutant::kTwinCopiedApart))
        std::memcpy(twin + p.at, &p.loaded, kWordBytes);
      p.part = 0;
      p.at += kWordBytes;
    }
  }
  if (p.at < block_bytes_) return false;
  if (mutant(Mutant::kTwinCopiedApart) && step.flag && p.part != 3) {
    p.part = 3;
    return false;
  }
  if (p.part == 3) std::memcpy(twin, mine, block_bytes_);
  if (mutant(Mutant::kFlushWholeBlock) && p.changed > 0) {
    if (!posted) std::memcpy(home.frame(block), mine, block_bytes_);
    for (std::uint32_t at = 0; posted && at < block_bytes_; at += kWordBytes) {
      std::uint64_t word = 0;
      std::memcpy(&word, mine + at, kWordBytes);
      post(a, at, word, 0xff);
    }
  }
  a.strand.result = p.changed;
  return true;
}

void Mover::post(Actor& a, std::uint32_t at, std::uint64_t value, std::uint64_t bytes) {
  const Step& step = a.strand.step();
  wire::FlushedBlock head{.block = step.blocks.first,
                          .via = static_cast<std::uint32_t>(step.value) - 1};
  if (a.flush.empty()) wire::put(a.flush, head);
  wire::put(a.flush, PostedWord{value, at, static_cast<std::uint32_t>(bytes)});
  head.diff_bytes = static_cast<std::uint32_t>(a.flush.size() - sizeof head);
  std::memcpy(a.flush.data(), &head, sizeof head);
}

void Mover::load_and_compare(Progress& p, const std::byte* block, const std::byte* twin) {
  std::uint64_t old = 0;
  std::memcpy(&p.loaded, block, kWordBytes);
  std::memcpy(&old, twin, kWordBytes);
  p.pending = 0;
  if (p.loaded == old) return;
  for (std::uint32_t i = 0; i < kWordBytes; ++i)
    if ((p.loaded ^ old) >> (8 * i) & 0xff) p.pending |= 1u << i;
  p.changed += static_cast<std::uint32_t>(__builtin_popcountll(p.pending));
  if (mutant(Mutant::kDiffWords)) p.pending = 0xff;
}

// All changed bytes of the word at once, or some of them.
void Mover::store_some(Progress& p, std::byte* home) {
  std::uint64_t now = p.pending;
  if ((rng_->next() & 127) < fine_) now &= rng_->next();
  if (now == 0) now = p.pending;
  for (std::uint32_t i = 0; i < kWordBytes; ++i)
    if (now >> i & 1) home[i] = static_cast<std::byte>(p.loaded >> (8 * i));
  p.pending &= ~now;
}

}  // namespace terrane::sim
