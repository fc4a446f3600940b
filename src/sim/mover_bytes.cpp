// The steps that move bytes: copies, differences, news and what a home does for who cannot reach
// it.
#include <algorithm>
#include <cstring>

#include "sim/mover.h"

namespace terrane::sim {

using protocol::Mutant;
using protocol::mutant;
using protocol::StepKind;

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
    p.answer = reader.unasked.empty()
                   ? protocol::answer_fetch(word, reader.node, reader.follows, reader.may_take)
                   : protocol::answer_news(word, reader.unasked);
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

// The home answers at once, or only when the answer is waited for.
bool Mover::post_fetch(Actor& a, const Step& step) {
  Progress& p = a.progress;
  if (!p.posted) p.at_once = whole_steps_ || rng_->chance(50);
  p.posted = true;
  if (p.at_once && !fetch(a, step)) return false;
  a.posted.push_back({step.blocks, step.node, p.at_once, a.strand.result});
  return true;
}

bool Mover::await_fetch(Actor& a, const Step& step) {
  auto posted = std::find_if(a.posted.begin(), a.posted.end(), [&](const Actor::Posted& one) {
    return one.blocks == step.blocks && one.node == step.node;
  });
  if (posted == a.posted.end()) return fetch(a, step);
  if (posted->answered) {
    a.strand.result = posted->result;
  } else if (!fetch(a, step)) {
    return false;
  }
  a.posted.erase(posted);
  return true;
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
  home.sent_news().forget(came);
  std::uint64_t promised = 0;
  end_promises(reader.node, step.node);
  std::uint64_t again = std::min(came.count, protocol::wanted_again(step.value));
  if (again > 0 && !p.own) promised = home.hlrc().promises().make(reader.node, {came.first, again});
  a.strand.result =
      protocol::fetched(p.changed, p.block, p.own, static_cast<std::uint32_t>(promised));
  return true;
}

void Mover::end_promises(NodeId reader, NodeId home) {
  std::erase_if(ends_, [&](const PromiseEnd& one) {
    bool comes = one.reader == reader && one.home == home;
    if (comes) nodes_[home.value].hlrc().promises().end(reader, one.run);
    return comes;
  });
}

bool Mover::send_news(Actor& a, const Step& step) {
  Progress& p = a.progress;
  a.flush.resize(step.blocks.count * block_bytes_);
  std::byte* to = a.flush.data() + p.block * block_bytes_;
  Reader reader{.node = step.node, .unasked = a.strand.readers};
  Served served = serve(p, reader, nodes_[a.node], step.blocks.first + p.block, to);
  if (served == Served::kGoesOn) return false;
  if (served == Served::kDone && ++p.block < step.blocks.count) return false;
  a.news = {.head = {.blocks = static_cast<std::uint8_t>(step.blocks.count),
                     .gone = served == Served::kNot,
                     .number = static_cast<std::uint32_t>(step.value),
                     .block = step.blocks.first,
                     .tracked = p.changed,
                     .home = a.node},
            .further = a.strand.readers};
  if (a.news.head.gone == 0) nodes_[a.node].sent_news().send(a.news, a.flush.data(), !step.flag);
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

bool Mover::grant(std::uint32_t home, NodeId to, std::uint64_t block, Progress& p,
                  std::vector<std::byte>& message) {
  wire::GrantedBlock head{.block = block, .home = home, .bytes = block_bytes_};
  std::size_t size = sizeof head + block_bytes_;
  if (!p.begun) message.resize(message.size() + size);
  p.begun = true;
  std::byte* at = message.data() + message.size() - size;
  Reader reader{.node = to, .unasked = {&to, 1}};
  Served served = serve(p, reader, nodes_[home], block, at + sizeof head);
  if (served == Served::kGoesOn) return false;
  protocol::SentNews::Sent sent{};
  bool promised = static_cast<wire::Kind>(message[0]) == wire::Kind::kBarrierArrive;
  if (promised && served != Served::kNot)
    sent = nodes_[home].sent_news().send(block, at + sizeof head, 0, false);
  head.serial = sent.serial;
  if (served == Served::kNot || sent.same) {
    head.bytes = 0;
    message.resize(message.size() - block_bytes_);
  }
  head.tracked = p.changed != 0;
  std::memcpy(at, &head, sizeof head);
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

}  // namespace terrane::sim
