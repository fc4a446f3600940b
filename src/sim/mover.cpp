#include "sim/mover.h"

#include <cstring>
#include <variant>

#include "sim/checked_homes.h"
#include "sim/violation.h"

namespace terrane::sim {

using protocol::Access;
using protocol::Mutant;
using protocol::mutant;

static void add(std::vector<protocol::BlockRange>& runs, std::uint64_t block) {
  if (!runs.empty() && runs.back().end() == block) {
    ++runs.back().count;
  } else {
    runs.push_back({block, 1});
  }
}

// An overload of perform() for each kind of step (protocol/steps/step_kinds.h). Each continues the
// step, and is true when the step is complete.
class Mover::Steps {
 public:
  Steps(std::vector<Node>& nodes, Checker& checker) : nodes_(nodes), checker_(checker) {}

  void begin(base::Prng& rng, const Setup& setup) {
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

  std::uint32_t pieces() {
    if (whole_steps_) return ~0u;
    std::uint64_t draw = rng_->next();
    if ((draw & 127) >= fine_) return ~0u;
    return 1 + static_cast<std::uint32_t>(draw >> 32) % 12;
  }

  // ---- words

  bool perform(Actor&, protocol::LoadWord& step) {
    step.result = nodes_[step.node.value].words[step.block.value];
    return true;
  }

  bool perform(Actor& a, protocol::StoreWord& step) {
    nodes_[a.node].words[step.block.value] = step.word;
    return true;
  }

  bool perform(Actor&, protocol::SwapWord& step) {
    std::uint32_t& word = nodes_[step.node.value].words[step.block.value];
    step.result = word == step.expected;
    if (step.result) word = step.desired;
    return true;
  }

  bool perform(Actor& a, protocol::CountFlush& step) {
    nodes_[a.node].flushing += step.begins ? 1 : ~0u;
    return true;
  }

  bool perform(Actor&, protocol::LoadFlushing& step) {
    step.result = nodes_[step.node.value].flushing;
    return true;
  }

  bool perform(Actor& a, protocol::CountGiving& step) {
    nodes_[a.node].giving += step.begins ? 1 : ~0u;
    return true;
  }

  bool perform(Actor& a, protocol::LoadGiving& step) {
    step.result = nodes_[a.node].giving;
    return true;
  }

  bool perform(Actor&, protocol::SetWanted& step) {
    std::uint64_t& word = nodes_[step.node.value].wanted[step.block.value / 64];
    std::uint64_t bit = 1ull << (step.block.value % 64);
    step.result = (word & bit) != 0;
    word |= bit;
    return true;
  }

  bool perform(Actor& a, protocol::TakeWanted& step) {
    Node& node = nodes_[a.node];
    for (std::uint32_t w = 0; w < std::size(node.wanted); ++w) {
      std::uint64_t word = node.wanted[w];
      node.wanted[w] = 0;
      for (; word != 0; word &= word - 1)
        add(*step.runs, w * 64 + static_cast<std::uint64_t>(__builtin_ctzll(word)));
    }
    return true;
  }

  bool perform(Actor&, protocol::LoadOwner& step) {
    step.result = {.entry = nodes_[step.node.value].owners[step.block.value]};
    return true;
  }

  bool perform(Actor& a, protocol::ClaimOwner& step) {
    std::uint32_t* owners = &nodes_[step.node.value].owners[step.blocks.first];
    Progress& p = a.progress;
    bool apart = mutant(Mutant::kClaimWithoutSwap);
    if (apart && p.part == 0) {
      p.part = 1;
      p.loaded = owners[0];
      return false;
    }
    std::uint32_t entry = apart ? static_cast<std::uint32_t>(p.loaded) : owners[0];
    if (entry == 0) entry = owners[0] = step.entry;
    step.result = {.entry = entry};
    for (std::uint64_t b = 1; b < step.blocks.count && entry == step.entry; ++b) {
      if (owners[b] == 0) owners[b] = step.entry;
      if (owners[b] != step.entry) break;
    }
    return true;
  }

  bool perform(Actor& a, protocol::CountOwned& step) {
    for (std::uint32_t left = pieces(); left > 0; --left, ++step.result) {
      if (step.result == step.blocks.count) return true;
      if (nodes_[a.node].owners[step.blocks.first + step.result] != step.entry) return true;
    }
    return false;
  }

  bool perform(Actor& a, protocol::ClearOwner& step) {
    nodes_[a.node].owners[step.block.value] = 0;
    return true;
  }

  // Enters the round, then looks again and again until it is over.
  bool perform(Actor& a, protocol::ArriveInMemory& step) {
    protocol::CentralBarrier barrier(nodes_[0].barrier_words[step.barrier], nodes_in_job_,
                                     nodes_[0].told[step.barrier]);
    Progress& p = a.progress;
    if (p.part == 0) {
      if (a.node == 0 && step.takes != nullptr) barrier.tell(step.gives);
      p.loaded = barrier.come(step.told);
      p.part = 1;
      return false;
    }
    auto round = p.part == 1 ? barrier.look(p.loaded) : barrier.withdraw(p.loaded);
    if (rng_->below(patience_) == 0) p.part = 2;
    step.result = round == protocol::CentralBarrier::Round::kHeld;
    if (step.result && step.takes != nullptr) {
      auto told = barrier.told(p.loaded);
      step.takes->assign(told.begin(), told.end());
    }
    return round != protocol::CentralBarrier::Round::kOpen;
  }

  bool perform(Actor& a, protocol::Gather& step) {
    protocol::CentralBarrier barrier(nodes_[0].barrier_words[step.barrier], nodes_in_job_);
    Progress& p = a.progress;
    auto others = p.part == 0 ? barrier.others(step.told) : barrier.give_up_others(step.told);
    if (others == protocol::CentralBarrier::Round::kOff) others = barrier.give_up_others(step.told);
    if (rng_->below(patience_) == 0) p.part = 1;
    step.result = others == protocol::CentralBarrier::Round::kHeld;
    return others != protocol::CentralBarrier::Round::kOpen;
  }

  // ---- ranges of the view

  template <typename Do>
  bool each_block(Actor& a, protocol::BlockRange blocks, Do what) {
    Progress& p = a.progress;
    for (std::uint32_t left = pieces(); p.at < blocks.count && left > 0; --left, ++p.at)
      what(nodes_[a.node], blocks.first + p.at);
    return p.at == blocks.count;
  }

  bool perform(Actor& a, protocol::Populate& step) {
    return each_block(a, step.blocks, [&](Node& node, std::uint64_t block) {
      if (!node.backed[block] && rng_->chance(populate_fails_percent_)) step.result = false;
      if (step.result) node.back(block);
    });
  }

  bool perform(Actor&, protocol::PopulateAt& step) {
    Node& node = nodes_[step.node.value];
    step.result = node.backed[step.block.value] || !rng_->chance(populate_fails_percent_);
    if (step.result) node.back(step.block.value);
    return true;
  }

  bool perform(Actor& a, protocol::Map& step) {
    return each_block(a, step.blocks, [&](Node& node, std::uint64_t block) {
      Node::View& view = node.views[block];
      if (step.access == Access::kWrite) view.sealed = false;
      if (view.present) return;  // the kernel reports that it exists, and leaves it as it is
      if (!node.backed[block])
        violated(Fault::kBadStep, "node {} maps block {} without memory", a.node, block);
      view = {.present = true,
              .guarded = step.access == Access::kRead &&
                         (node.enters_protected || node.core().sc().serves(block))};
    });
  }

  // A view that was never entered is not guarded, and neither is an entry of a block that was
  // written: the machine cannot tell them apart.
  bool perform(Actor& a, protocol::Remap& step) {
    return each_block(a, step.blocks, [&](Node& node, std::uint64_t block) {
      Node::View& view = node.views[block];
      if (view.present) return;
      if (!node.backed[block])
        violated(Fault::kBadStep, "node {} maps block {} without memory", a.node, block);
      view = {.present = true, .guarded = !scan_ || view.guarded};
    });
  }

  bool perform(Actor& a, protocol::Protect& step) {
    return each_block(a, step.blocks, [&](Node& node, std::uint64_t block) {
      Node::View& view = node.views[block];
      if (scan_ && node.hlrc().state().tracked.contains(block) && view.present && !view.guarded)
        violated(Fault::kInvariant,
                 "node {} protects tracked block {}, which hides that it is written", a.node,
                 block);
      view.guarded = true;
    });
  }

  bool perform(Actor& a, protocol::Unprotect& step) {
    return each_block(a, step.blocks, [](Node& node, std::uint64_t block) {
      node.views[block].guarded = node.views[block].sealed = false;
    });
  }

  bool perform(Actor& a, protocol::Share& step) {
    return each_block(a, step.blocks, [&](Node& node, std::uint64_t block) {
      if (!node.backed[block])
        violated(Fault::kBadStep, "node {} maps block {} without memory", a.node, block);
      node.views[block] = {.present = true, .guarded = true, .sealed = true};
    });
  }

  bool perform(Actor& a, protocol::Zap& step) {
    return each_block(a, step.blocks, [](Node& node, std::uint64_t block) {
      node.views[block].present = node.views[block].sealed = false;
    });
  }

  // A look protects nothing.
  template <typename Scans>
  requires std::is_same_v<Scans, protocol::Scan> || std::is_same_v<Scans, protocol::Look>
  bool perform(Actor& a, Scans& step) {
    return each_block(a, step.blocks, [&](Node& node, std::uint64_t block) {
      Node::View& view = node.views[block];
      if (view.guarded) return;
      view.guarded = std::is_same_v<Scans, protocol::Scan>;
      add(*step.runs, block);
    });
  }

  bool perform(Actor& a, protocol::Punch& step) {
    return each_block(a, step.blocks, [](Node& node, std::uint64_t block) { node.punch(block); });
  }

  bool perform(Actor& a, protocol::DropTwin& step) {
    return each_block(a, step.blocks,
                      [](Node& node, std::uint64_t block) { node.drop_twin(block); });
  }

  bool copy_block(Progress& p, const std::byte* from, std::byte* to) {
    std::uint32_t count = pieces();
    if (count > block_bytes_ - p.at) count = block_bytes_ - p.at;
    std::memcpy(to + p.at, from + p.at, count);
    p.at += count;
    return p.at == block_bytes_;
  }

  bool perform(Actor& a, protocol::CopyHome& step) {
    Progress& p = a.progress;
    std::uint64_t block = step.blocks.first + p.block;
    Node& self = nodes_[a.node];
    self.back(block);
    std::byte* to = step.slot ? self.staged(*step.slot + p.block) : self.frame(block);
    if (!copy_block(p, nodes_[step.node.value].frame(block), to)) return false;
    p.at = 0;
    return ++p.block == step.blocks.count;
  }

  bool perform(Actor& a, protocol::StoreHome& step) {
    Node& home = nodes_[step.node.value];
    home.back(step.block.value);
    return copy_block(a.progress, nodes_[a.node].frame(step.block.value),
                      home.frame(step.block.value));
  }

  bool perform(Actor& a, protocol::CopyTwin& step) {
    std::uint64_t block = step.block.value;
    Node& from = nodes_[step.home == kNoNode ? a.node : step.home.value];
    nodes_[a.node].back_twin(block);
    if (nodes_[a.node].races() != nullptr) {
      std::memcpy(nodes_[a.node].twin(block), from.frame(block), block_bytes_);
      return true;
    }
    return copy_block(a.progress, from.frame(block), nodes_[a.node].twin(block));
  }

  // Word by word: the bytes that differ from the twin go to the block, then the word goes to the
  // twin.
  bool perform(Actor& a, protocol::Merge& step) {
    Progress& p = a.progress;
    Node& self = nodes_[a.node];
    std::byte* block = self.frame(step.block.value);
    std::byte* twin = self.twin(step.block.value);
    const std::byte* staged = self.staged(step.slot);
    for (std::uint32_t left = pieces(); p.at < block_bytes_ && left > 0; --left) {
      if (p.part == 0) {
        load_and_compare(p, staged + p.at, twin + p.at);
        if (!step.merges) p.pending = 0xff;
        p.part = 1;
      } else if (p.part == 1) {
        if (p.pending != 0) note_refresh(a.node, step.block.value, p, block + p.at);
        if (p.pending != 0) store_some(p, block + p.at);
        if (p.pending == 0) p.part = 2;
      } else {
        bool follows = step.merges || mutant(Mutant::kRefreshOverwrites);
        if (follows && !mutant(Mutant::kRefreshKeepsTwin))
          std::memcpy(twin + p.at, &p.loaded, kWordBytes);
        p.part = 0;
        p.at += kWordBytes;
      }
    }
    return p.at == block_bytes_;
  }

  // What is pending of the word is about to be stored at `to`, in the node's copy of the block.
  void note_refresh(std::uint32_t node, std::uint64_t block, const Progress& p,
                    const std::byte* to) {
    for (std::uint32_t i = 0; i < kWordBytes; ++i)
      if (p.pending >> i & 1 && to[i] != static_cast<std::byte>(p.loaded >> (8 * i)))
        checker_.refreshed(node, block, p.at + i);
  }

  // ---- differences

  bool perform(Actor& a, protocol::StoreDiff& step) { return make_diff(a, step); }

  bool perform(Actor& a, protocol::PostDiff& step) {
    if (a.progress.at == 0 && a.progress.part == 0) a.flush.clear();
    return make_diff(a, step);
  }

  // Word by word: load once, compare, store the changed bytes at the home, and the word to the
  // twin.
  template <typename Diff>
  bool make_diff(Actor& a, Diff& step) {
    Progress& p = a.progress;
    const std::byte* mine = nodes_[a.node].frame(step.block.value);
    std::byte* twin = nodes_[a.node].twin(step.block.value);
    for (std::uint32_t left = pieces(); p.at < block_bytes_ && left > 0; --left) {
      if (p.part == 0) {
        load_and_compare(p, mine + p.at, twin + p.at);
        if (p.pending == 0) {
          p.at += kWordBytes;
          continue;
        }
        p.part = 1;
      } else if (p.part == 1) {
        store(a, step);
        if (p.pending == 0) p.part = 2;
      } else {
        if (step.twin_follows && !mutant(Mutant::kTwinCopiedApart))
          std::memcpy(twin + p.at, &p.loaded, kWordBytes);
        p.part = 0;
        p.at += kWordBytes;
      }
    }
    if (p.at < block_bytes_) return false;
    if (mutant(Mutant::kTwinCopiedApart) && step.twin_follows && p.part != 3) {
      p.part = 3;
      return false;
    }
    if (p.part == 3) std::memcpy(twin, mine, block_bytes_);
    if (mutant(Mutant::kFlushWholeBlock) && p.changed > 0) store_whole(a, step);
    step.result = p.changed;
    return true;
  }

  void store(Actor& a, const protocol::StoreDiff& step) {
    Node& home = nodes_[step.node.value];
    home.back(step.block.value);
    store_some(a.progress, home.frame(step.block.value) + a.progress.at);
  }

  void store(Actor& a, const protocol::PostDiff& step) {
    Progress& p = a.progress;
    post(a, step, p.at, p.loaded, p.pending);
    p.pending = 0;
  }

  void store_whole(Actor& a, const protocol::StoreDiff& step) {
    std::memcpy(nodes_[step.node.value].frame(step.block.value),
                nodes_[a.node].frame(step.block.value), block_bytes_);
  }

  void store_whole(Actor& a, const protocol::PostDiff& step) {
    const std::byte* mine = nodes_[a.node].frame(step.block.value);
    for (std::uint32_t at = 0; at < block_bytes_; at += kWordBytes) {
      std::uint64_t word = 0;
      std::memcpy(&word, mine + at, kWordBytes);
      post(a, step, at, word, 0xff);
    }
  }

  void post(Actor& a, const protocol::PostDiff& step, std::uint32_t at, std::uint64_t value,
            std::uint64_t bytes) {
    wire::FlushedBlock head{.block = step.block.value, .via = step.via.value};
    if (a.flush.empty()) wire::put(a.flush, head);
    wire::put(a.flush, PostedWord{value, at, static_cast<std::uint32_t>(bytes)});
    head.diff_bytes = static_cast<std::uint32_t>(a.flush.size() - sizeof head);
    std::memcpy(a.flush.data(), &head, sizeof head);
  }

  bool perform(Actor& a, protocol::ApplyDiff& step) {
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

  void load_and_compare(Progress& p, const std::byte* block, const std::byte* twin) {
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

  // Stores all changed bytes of the word at once, or some of them.
  void store_some(Progress& p, std::byte* home) {
    std::uint64_t now = p.pending;
    if ((rng_->next() & 127) < fine_) now &= rng_->next();
    if (now == 0) now = p.pending;
    for (std::uint32_t i = 0; i < kWordBytes; ++i)
      if (now >> i & 1) home[i] = static_cast<std::byte>(p.loaded >> (8 * i));
    p.pending &= ~now;
  }

  // ---- atomic operations

  bool perform(Actor&, protocol::PerformAtomic& step) {
    Node& home = nodes_[step.node.value];
    home.back(step.block.value);
    step.result = protocol::perform(step.op, home.frame(step.block.value));
    if (home.races() != nullptr) follow_atomic(home, step);
    return true;
  }

  bool perform(Actor& a, protocol::Patch& step) {
    std::uint64_t value = protocol::after(step.op, step.before);
    Node& self = nodes_[a.node];
    std::uint64_t block = step.block.value;
    std::memcpy(self.frame(block) + step.op.offset, &value, step.op.size);
    if (step.twin_follows) std::memcpy(self.twin(block) + step.op.offset, &value, step.op.size);
    return true;
  }

  // ---- pushes and other data of messages

  // False while a push is missing.
  bool perform(Actor& a, protocol::TakePush& step) {
    Node& self = nodes_[a.node];
    auto stage = [&](std::uint64_t slot, const std::byte* bytes) {
      std::memcpy(self.staged(slot), bytes, block_bytes_);
    };
    auto taken = self.pushes().take(step.node, step.blocks, step.barrier_exit, block_bytes_,
                                    *step.versions, stage);
    if (taken) step.result = *taken;
    return taken.has_value();
  }

  bool perform(Actor& a, protocol::ForgetPushes& step) {
    nodes_[a.node].pushes().forget(step.barrier_exit);
    return true;
  }

  bool perform(Actor& a, protocol::TakeGranted& step) {
    std::memcpy(nodes_[a.node].staged(step.slot), step.bytes, block_bytes_);
    return true;
  }

  bool perform(Actor& a, protocol::SendBuffer& step) {
    a.out.assign(step.blocks * block_bytes_, std::byte{0});
    step.result = a.out.data();
    return true;
  }

  bool perform(Actor& a, protocol::ReadBlock& step) {
    return copy_block(a.progress, nodes_[a.node].frame(step.block.value), step.to);
  }

 private:
  std::vector<Node>& nodes_;
  Checker& checker_;
  base::Prng* rng_ = nullptr;
  std::uint32_t block_bytes_ = 64;
  std::uint32_t fine_ = 30;  // so many of 128 steps are cut into pieces
  std::uint32_t nodes_in_job_ = 1;
  std::uint32_t patience_ = 1;  // looks at a round, in the mean, until a node withdraws
  bool scan_ = true;
  bool whole_steps_ = false;
  std::uint32_t populate_fails_percent_ = 0;
};

Mover::Mover(std::vector<Node>& nodes, Checker& checker)
    : steps_(std::make_unique<Steps>(nodes, checker)) {}
Mover::~Mover() = default;

void Mover::begin(base::Prng& rng, const Setup& setup) { steps_->begin(rng, setup); }

bool Mover::perform(Actor& a) {
  return std::visit(
      [&](auto& step) -> bool {
        if constexpr (requires { steps_->perform(a, step); }) {
          return steps_->perform(a, step);
        } else {
          violated(Fault::kBadStep, "step {} is none of the mover's", step.kName);
        }
      },
      a.strand.step());
}

}  // namespace terrane::sim
