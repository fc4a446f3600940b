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
  several_hosts_ = setup.hosts > 1;
  populate_fails_percent_ = setup.populate_fails_percent;
  static constexpr std::uint32_t kFine[] = {6, 20, 50, 100};
  fine_ = kFine[rng.below(4)];
}

std::uint32_t Mover::pieces() {
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
    case StepKind::kFetch:
      return fetch(a, step);
    case StepKind::kSendNews:
      return send_news(a, step);
    case StepKind::kTakeNews:
      return take_news(a, step);
    case StepKind::kForgetNews:
      nodes_[a.node].news().forget(static_cast<std::uint32_t>(step.value));
      return true;
    case StepKind::kClaimOwner:
      return claim_owner(a, step);
    case StepKind::kAtomic:
      nodes_[step.node.value].back(step.blocks.first);
      a.strand.result =
          protocol::perform(a.strand.atomic, nodes_[step.node.value].frame(step.blocks.first));
      return true;
    case StepKind::kAskAtomic:
      return ask_atomic(a, step);
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

// ---- bytes

// What a home does for a reader that cannot reach it, for one block: word, wanted, copy, and the
// word once more.
Mover::Served Mover::serve(Progress& p, const Reader& reader, Node& home, std::uint64_t block,
                           std::byte* to) {
  bool copied = p.at == block_bytes_;
  std::uint32_t& word = home.words[block];
  if (mutant(Mutant::kFetchCopiesFirst) && !copied) {
    copy_block(p, home.frame(block), to);
  } else if (p.part == 0) {
    p.loaded = word;
    p.answer = reader.unasked
                   ? protocol::answer_news(word, reader.node)
                   : protocol::answer_fetch(word, reader.node, reader.follows, reader.may_take);
    if (p.answer.what >= protocol::FetchAnswer::What::kElsewhere) return Served::kNot;
    bool own = p.answer.what == protocol::FetchAnswer::What::kOwn;
    if (p.block > 0 && own != p.own) return Served::kNot;
    p.own = own;
    p.part = own ? 1 : 2;
    home.giving += own;
  } else if (p.part == 1) {
    p.part = word == static_cast<std::uint32_t>(p.loaded) ? 2 : 0;
    if (p.part == 2) word = p.answer.word;
    if (p.part == 0) --home.giving;
  } else if (p.part == 2) {
    if (!(p.loaded & protocol::kTracked)) home.wanted[block / 64] |= 1ull << (block % 64);
    p.part = 3;
  } else if (!copied) {
    copy_block(p, home.frame(block), to);
  } else {
    if (!p.own && !protocol::stayed_here(static_cast<std::uint32_t>(p.loaded), word)) {
      p.at = p.part = 0;
      return Served::kGoesOn;
    }
    if (p.loaded & protocol::kTracked) p.changed |= 1u << p.block;
    if (p.own) --home.giving;
    p.at = p.part = 0;
    return Served::kDone;
  }
  return Served::kGoesOn;
}

bool Mover::fetch(Actor& a, const Step& step) {
  Progress& p = a.progress;
  std::uint64_t block = step.blocks.first + p.block;
  Node& self = nodes_[a.node];
  Node& home = nodes_[step.node.value];
  self.back(block);
  std::byte* to = step.flag ? self.aside(p.block) : self.frame(block);
  Reader reader{NodeId{a.node}, (step.value & protocol::kFollows) != 0,
                (step.value & protocol::kMayTake) != 0};
  Served served = serve(p, reader, home, block, to);
  if (served == Served::kGoesOn) return false;
  if (served == Served::kDone && ++p.block < step.blocks.count) return false;
  if (p.block == 0) {
    bool elsewhere = p.answer.what == protocol::FetchAnswer::What::kElsewhere;
    std::uint32_t alike = 1;
    while (elsewhere && alike < step.blocks.count &&
           protocol::moved_to(home.words[step.blocks.first + alike], p.answer.home))
      ++alike;
    a.strand.result = protocol::fetched_nothing(elsewhere ? p.answer.home : step.node, alike);
    return true;
  }
  protocol::BlockRange came{step.blocks.first, p.block};
  std::uint64_t promised = 0;
  if (step.value & protocol::kAgain && !p.own)
    promised = home.hlrc().promises().make(reader.node, came);
  a.strand.result =
      protocol::fetched(p.changed, p.block, p.own, static_cast<std::uint32_t>(promised));
  return true;
}

bool Mover::send_news(Actor& a, const Step& step) {
  Progress& p = a.progress;
  wire::PageNews head{.blocks = static_cast<std::uint8_t>(step.blocks.count),
                      .number = static_cast<std::uint32_t>(step.value),
                      .block = step.blocks.first};
  a.flush.resize(sizeof head + step.blocks.count * block_bytes_);
  std::byte* to = a.flush.data() + sizeof head + p.block * block_bytes_;
  Reader reader{.node = step.node, .unasked = true};
  Served served = serve(p, reader, nodes_[a.node], step.blocks.first + p.block, to);
  if (served == Served::kGoesOn) return false;
  if (served == Served::kDone && ++p.block < step.blocks.count) return false;
  head.tracked = p.changed;
  head.gone = served == Served::kNot;
  std::memcpy(a.flush.data(), &head, sizeof head);
  return true;
}

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
  for (std::uint64_t i = 0; i < step.blocks.count; ++i)
    std::memcpy(self.aside(i), news->bytes.data() + i * block_bytes_, block_bytes_);
  a.strand.result = news->tracked;
  return true;
}

bool Mover::copy_home(Actor& a, const Step& step) {
  std::uint64_t block = step.blocks.first;
  Node& self = nodes_[a.node];
  self.back(block);
  return copy_block(a.progress, nodes_[step.node.value].frame(block),
                    step.flag ? self.aside(step.value) : self.frame(block));
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
  if (a.flush.empty()) wire::put(a.flush, wire::Flush{.waiter = a.id, .origin = a.node});
  PostedWord word{step.blocks.first, value, at, static_cast<std::uint32_t>(bytes),
                  static_cast<std::uint32_t>(step.value) - 1};
  wire::put(a.flush, word);
}

// All words are of one block.
Mover::Applied Mover::apply_flush(Node& home, protocol::Bytes message, Progress& p) {
  using enum protocol::FlushAnswer::What;
  PostedWord posted;
  wire::Flush head;
  std::memcpy(&head, message.data(), sizeof head);
  std::memcpy(&posted, message.data() + sizeof head, sizeof posted);
  std::uint32_t& word = home.words[posted.block];
  if (p.part == 0) {
    ++home.flushing;
    p.part = 1;
  } else if (p.part == 1) {
    p.loaded = word;
    auto answer = protocol::answer_flush(word, NodeId{head.origin}, NodeId{posted.via});
    if (answer.what == kPassOn || answer.what == kSendBack) {
      --home.flushing;
      return {true, answer.home, answer.what == kPassOn};
    }
    p.pending = answer.word;
    p.part = answer.what == kEndOffer ? 2 : 3;
    p.at = sizeof head;
  } else if (p.part == 2) {
    if (word == static_cast<std::uint32_t>(p.loaded)) word = static_cast<std::uint32_t>(p.pending);
    p.part = 1;
  } else {
    for (std::uint32_t left = pieces(); p.at < message.size() && left > 0; --left) {
      std::memcpy(&posted, message.data() + p.at, sizeof posted);
      home.back(posted.block);
      std::byte* to = home.frame(posted.block) + posted.at;
      for (std::uint32_t i = 0; i < kWordBytes; ++i)
        if (posted.bytes >> i & 1) to[i] = static_cast<std::byte>(posted.value >> (8 * i));
      p.at += sizeof posted;
    }
    if (p.at < message.size()) return {};
    --home.flushing;
    return {true};
  }
  return {};
}

// What a home does for an atomic operation of a node that cannot reach it: as for a difference, but
// it is not passed on.
bool Mover::ask_atomic(Actor& a, const Step& step) {
  using enum protocol::FlushAnswer::What;
  Progress& p = a.progress;
  Node& home = nodes_[step.node.value];
  std::uint32_t& word = home.words[step.blocks.first];
  if (p.part == 0) {
    ++home.flushing;
    p.part = 1;
  } else if (p.part == 1) {
    NodeId via{static_cast<std::uint32_t>(step.value) - 1};
    p.loaded = word;
    auto answer = protocol::answer_flush(word, NodeId{a.node}, via);
    if (answer.what == kPassOn || answer.what == kSendBack) {
      --home.flushing;
      a.strand.result = answer.what == kPassOn ? answer.home.value : protocol::kAtomicNotYet;
      return true;
    }
    p.pending = answer.word;
    p.part = answer.what == kEndOffer ? 2 : 3;
  } else if (p.part == 2) {
    if (word == static_cast<std::uint32_t>(p.loaded)) word = static_cast<std::uint32_t>(p.pending);
    p.part = 1;
  } else {
    home.back(step.blocks.first);
    a.strand.before = protocol::perform(a.strand.atomic, home.frame(step.blocks.first));
    --home.flushing;
    a.strand.result = protocol::kAtomicDone;
    return true;
  }
  return false;
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
    case StepKind::kPopulate:
      if (a.progress.at == 0) a.strand.result = 1;
      if (!node.backed[block] && rng_->chance(populate_fails_percent_)) a.strand.result = 0;
      if (a.strand.result) node.back(block);
      break;
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
      scan(a, block);
      break;
    case StepKind::kDropTwin:
      node.drop_twin(block);
      break;
    default:
      node.punch(block);
      break;
  }
}

void Mover::scan(Actor& a, std::uint64_t block) {
  Node::View& view = nodes_[a.node].views[block];
  if (!view.present || view.guarded) return;
  view.guarded = true;
  auto& runs = a.strand.runs;
  if (!runs.empty() && runs.back().end() == block) {
    ++runs.back().count;
  } else {
    runs.push_back({block, 1});
  }
}

// ---- words

bool Mover::claim_owner(Actor& a, const Step& step) {
  std::uint32_t& owner = nodes_[step.node.value].owners[step.blocks.first];
  Progress& p = a.progress;
  if (mutant(Mutant::kClaimWithoutSwap) && p.part == 0) {
    p.part = 1;
    p.loaded = owner;
    return false;
  }
  std::uint64_t seen = mutant(Mutant::kClaimWithoutSwap) ? p.loaded : owner;
  if (seen == 0) {
    owner = static_cast<std::uint32_t>(step.value);
    seen = step.value;
  }
  a.strand.result = told(step, static_cast<std::uint32_t>(seen));
  return true;
}

// A directory that is asked by a message tells for how many blocks its answer is true.
std::uint64_t Mover::told(const Step& step, std::uint32_t owner) const {
  std::uint64_t alike = 0;
  std::uint64_t first = step.blocks.first;
  while (several_hosts_ && first + alike < (first / 64 + 1) * 64 &&
         nodes_[step.node.value].owners[first + alike] == owner)
    ++alike;
  return owner | alike << 32;
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
      result = told(step, nodes_[step.node.value].owners[block]);
      break;
    case StepKind::kClearOwner:
      nodes_[a.node].owners[block] = 0;
      break;
    default:
      violated(Fault::kBadStep, "step {} is none of the mover's", static_cast<int>(step.kind));
  }
}

}  // namespace terrane::sim
