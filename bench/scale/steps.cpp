#include <algorithm>
#include <bit>
#include <cstring>

#include "protocol/push/news_tree.h"
#include "scale/machine.h"
#include "scale/memory_count.h"

namespace terrane::bench::scale {

using protocol::Access;
using protocol::StepKind;

std::optional<double> Machine::perform(std::uint32_t self) {
  Node& node = *nodes_[self];
  const protocol::Step& step = node.strand.step();
  std::uint64_t block = step.blocks.first;
  switch (step.kind) {
    case StepKind::kPause:
      return step.flag ? 1'000.0 : 0.0;
    case StepKind::kWait:  // there is one thread: nobody holds what it waits for
    case StepKind::kWake:
      return 0.0;
    case StepKind::kCall:
    case StepKind::kTell:
      return call(self, step);
    case StepKind::kLoadOwner:
    case StepKind::kClaimOwner:
      if (step.node == NodeId{self}) {
        node.strand.result = claim(node, step);
        return 20.0;
      }
      return ask(self, step);
    case StepKind::kFetch:
      return ask(self, step);
    case StepKind::kPopulate:
    case StepKind::kMap:
    case StepKind::kProtect:
    case StepKind::kUnprotect:
    case StepKind::kZap:
    case StepKind::kScan:
    case StepKind::kLook:
    case StepKind::kPunch:
    case StepKind::kDropTwin:
      return view_step(node, step);
    case StepKind::kCopyTwin:
      node.twins[block] = node.frames[block];
      return costs_.copy_page;
    case StepKind::kMerge:
      merge(node, step);
      return costs_.compare_page;
    case StepKind::kPostDiff:
      post_difference(self, step);
      return costs_.compare_page;
    case StepKind::kAwaitFlush:
      return await_flush(self);
    case StepKind::kSendNews:
      return send_news(self, step);
    case StepKind::kTakeNews:
      return take_news(node, step);
    case StepKind::kTakeGranted: {
      auto from = static_cast<std::uint32_t>(step.value);
      std::memcpy(&node.aside[step.value >> 32], node.strand.granted.data() + from, sizeof(Page));
      ++node.tally.fetched;
      return costs_.copy_page;
    }
    case StepKind::kEndPromise: {
      Message message;
      message.what = What::kAsk;
      message.step = step;
      post(self, step.node.value, 16, std::move(message));
      return 0.0;
    }
    case StepKind::kForgetNews:
      node.news.forget(static_cast<std::uint32_t>(step.value));
      return 0.0;
    default:
      return word_step(node, node.strand, step);
  }
}

std::optional<double> Machine::call(std::uint32_t self, const protocol::Step& step) {
  Node& node = *nodes_[self];
  if (step.kind == StepKind::kTell) {
    step_core(self, *step.event);
    return costs_.step;
  }
  if (!node.resumed) {
    step_core(self, *step.event);
    if (!node.resumed) {
      node.wait = Wait::kResume;
      return std::nullopt;
    }
  }
  node.resumed = false;
  return costs_.step;
}

// The other node serves it; the step is complete when the answer has come.
std::optional<double> Machine::ask(std::uint32_t self, const protocol::Step& step) {
  Node& node = *nodes_[self];
  if (node.resumed) {
    node.resumed = false;
    return 0.0;
  }
  node.wait = Wait::kAnswer;
  Message message;
  message.what = What::kAsk;
  message.step = step;
  post(self, step.node.value, 48, std::move(message));
  return std::nullopt;
}

void Machine::serve(Message& asked) {
  Message answer;
  answer.what = What::kAnswer;
  answer.step = asked.step;
  Node& home = *nodes_[asked.to];
  if (asked.step.kind == StepKind::kEndPromise)  // nobody waits for an answer
    return home.hlrc->promises().end(NodeId{asked.from}, asked.step.blocks);
  if (asked.step.kind == StepKind::kFetch) {
    answer.result = serve_fetch(asked.to, asked.from, asked.step, answer.pages);
  } else {
    answer.result = claim(home, asked.step);
  }
  std::size_t size = 32 + answer.pages.size() * kPageBytes;
  post(asked.to, asked.from, size, std::move(answer));
}

// As long as the home's words allow it, and the blocks are alike.
std::uint64_t Machine::serve_fetch(std::uint32_t self, std::uint32_t reader,
                                   const protocol::Step& step, std::vector<Page>& pages) {
  using enum protocol::FetchAnswer::What;
  Node& home = *nodes_[self];
  std::uint32_t tracked = 0;
  bool own = false;
  for (std::uint64_t i = 0; i < step.blocks.count; ++i) {
    std::uint64_t block = step.blocks.first + i;
    std::uint32_t& word = home.words[block];
    auto answer =
        protocol::answer_fetch(word, NodeId{reader}, (step.value & protocol::kFollows) != 0,
                               (step.value & protocol::kMayTake) != 0);
    if (answer.what == kElsewhere || answer.what == kNotYet) {
      if (i > 0) break;
      if (answer.what == kNotYet) return protocol::fetched_nothing(step.node, 1);
      std::uint32_t alike = 1;
      while (alike < step.blocks.count &&
             protocol::moved_to(home.words[block + alike], answer.home))
        ++alike;
      return protocol::fetched_nothing(answer.home, alike);
    }
    if (i > 0 && own != (answer.what == kOwn)) break;
    own = answer.what == kOwn;
    if (own) word = answer.word;
    if (word & protocol::kTracked) {
      tracked |= 1u << i;
    } else {
      home.wanted[block / 64] |= 1ull << (block % 64);
    }
    pages.push_back(home.frames[block]);
  }
  home.sent_news.forget({step.blocks.first, pages.size()});
  std::uint64_t promised = 0;
  std::uint64_t again = std::min<std::uint64_t>(pages.size(), protocol::wanted_again(step.value));
  if (again > 0 && !own)
    promised = home.hlrc->promises().make(NodeId{reader}, {step.blocks.first, again});
  return protocol::fetched(tracked, static_cast<std::uint32_t>(pages.size()), own,
                           static_cast<std::uint32_t>(promised));
}

void Machine::answered(const Message& answer) {
  Node& node = *nodes_[answer.to];
  node.tally.fetched += answer.pages.size();
  for (std::size_t i = 0; i < answer.pages.size(); ++i) {
    if (answer.step.flag) {
      node.aside[i] = answer.pages[i];
    } else {
      node.frames[answer.step.blocks.first + i] = answer.pages[i];
    }
  }
  node.strand.result = answer.result;
  node.resumed = true;
  wake(answer.to);
}

// A directory tells for how many blocks its answer is true.
std::uint64_t Machine::claim(Node& home, const protocol::Step& step) {
  std::uint64_t first = step.blocks.first;
  std::uint32_t& owner = home.owners[first];
  if (step.kind == StepKind::kClaimOwner && owner == 0)
    owner = static_cast<std::uint32_t>(step.value);
  std::uint64_t alike = 0;
  while (first + alike < (first / 64 + 1) * 64 && home.owners[first + alike] == owner) ++alike;
  return owner | alike << 32;
}

double Machine::view_step(Node& node, const protocol::Step& step) {
  auto pages = static_cast<double>(step.blocks.count);
  for (std::uint64_t block = step.blocks.first; block < step.blocks.end(); ++block) {
    View& view = node.views[block];
    switch (step.kind) {
      case StepKind::kPopulate:
        node.strand.result = 1;
        node.frames[block];
        break;
      case StepKind::kMap:
        if (!view.present) view = {.present = true, .guarded = step.access == Access::kRead};
        break;
      case StepKind::kProtect:
        view.guarded = view.present;
        break;
      case StepKind::kUnprotect:
        view.guarded = false;
        break;
      case StepKind::kZap:
        view = {};
        break;
      case StepKind::kScan:
      case StepKind::kLook: {
        if (!view.present || view.guarded) break;
        view.guarded = step.kind == StepKind::kScan;
        auto& runs = node.strand.runs;
        if (!runs.empty() && runs.back().end() == block) {
          ++runs.back().count;
        } else {
          runs.push_back({block, 1});
        }
        break;
      }
      case StepKind::kDropTwin:
        node.twins.erase(block);
        break;
      default:
        node.frames.erase(block);
        node.twins.erase(block);
        break;
    }
  }
  switch (step.kind) {
    case StepKind::kMap:
      return costs_.enter;
    case StepKind::kZap:
    case StepKind::kPunch:
    case StepKind::kDropTwin:
      return costs_.zap;
    case StepKind::kPopulate:
      return 0;
    default:
      return costs_.view_call + pages * costs_.view_page;
  }
}

// Whoever serves messages there does it, at once.
void Machine::make_offer(std::uint32_t self, const protocol::Offer& offer) {
  Node& node = *nodes_[self];
  protocol::Strand strand(node.strand.waiter());
  auto task = node.hlrc->offer_asked(strand, offer);
  strand.start(task);
  double cost = 0;
  while (!task.done()) {
    const protocol::Step& step = strand.step();
    cost += step.kind == StepKind::kZap ? view_step(node, step) : word_step(node, strand, step);
    strand.move_on();
  }
  node.handler_free = std::max(now_, node.handler_free) + static_cast<Ns>(cost);
  step_core(self, protocol::OfferMade{offer.to, offer.waiter, task.value()});
}

double Machine::word_step(Node& node, protocol::Strand& strand, const protocol::Step& step) {
  std::uint64_t block = step.blocks.first;
  std::uint64_t& result = strand.result;
  switch (step.kind) {
    case StepKind::kLoadWord:
      result = node.words[block];
      break;
    case StepKind::kStoreWord:
      node.words[block] = static_cast<std::uint32_t>(step.value);
      break;
    case StepKind::kSwapWord: {
      std::uint32_t& word = node.words[block];
      result = step.flag || word == static_cast<std::uint32_t>(step.value);
      if (result) word = static_cast<std::uint32_t>(step.value >> 32);
      break;
    }
    case StepKind::kLoadFlushing:
    case StepKind::kLoadGiving:
      result = 0;
      break;
    case StepKind::kClearOwner:
      node.owners[block] = 0;
      break;
    case StepKind::kTakeWanted:
      for (std::uint64_t b = 0; b < blocks_; ++b) {
        if (!(node.wanted[b / 64] >> (b % 64) & 1)) continue;
        auto& runs = strand.runs;
        if (!runs.empty() && runs.back().end() == b) {
          ++runs.back().count;
        } else {
          runs.push_back({b, 1});
        }
      }
      std::fill(node.wanted.begin(), node.wanted.end(), 0);
      break;
    default:
      break;
  }
  return 10;
}

void Machine::merge(Node& node, const protocol::Step& step) {
  Page& page = node.frames[step.blocks.first];
  Page& twin = node.twins[step.blocks.first];
  const Page& news = node.aside[step.value];
  for (std::uint32_t w = 0; w < kPageWords; ++w) {
    if (step.flag && news.words[w] == twin.words[w]) continue;
    page.words[w] = news.words[w];
    if (step.flag) twin.words[w] = news.words[w];
  }
}

void Machine::post_difference(std::uint32_t self, const protocol::Step& step) {
  Node& node = *nodes_[self];
  std::uint64_t block = step.blocks.first;
  const Page& page = node.frames[block];
  Page& twin = node.twins[block];
  Posted posted{block, NodeId{static_cast<std::uint32_t>(step.value) - 1}, 0, page};
  for (std::uint32_t w = 0; w < kPageWords; ++w)
    if (page.words[w] != twin.words[w]) posted.changed |= 1u << w;
  if (step.flag) twin = page;
  node.strand.result = static_cast<std::uint64_t>(__builtin_popcount(posted.changed));
  if (posted.changed != 0) node.posted[step.node.value].push_back(posted);
}

// Everything for one home goes in one message.
std::optional<double> Machine::await_flush(std::uint32_t self) {
  Node& node = *nodes_[self];
  for (auto& [home, posted] : node.posted) {
    if (posted.empty()) continue;
    Message message;
    message.what = What::kFlush;
    message.origin = self;
    std::size_t size = 16;
    for (const Posted& one : posted)
      size +=
          16 + static_cast<std::size_t>(__builtin_popcount(one.changed)) * kPageBytes / kPageWords;
    message.posted = std::move(posted);
    posted.clear();
    ++node.flights;
    post(self, home, size, std::move(message));
  }
  if (node.flights == 0) return 0.0;
  node.wait = Wait::kFlushed;
  return std::nullopt;
}

void Machine::apply(Message& flush) {
  using enum protocol::FlushAnswer::What;
  Node& home = *nodes_[flush.to];
  std::unordered_map<std::uint32_t, Message> passed;
  for (Posted& posted : flush.posted) {
    std::uint32_t& word = home.words[posted.block];
    auto answer = protocol::answer_flush(word, NodeId{flush.origin}, posted.via);
    if (answer.what == kEndOffer) {
      word = answer.word;
      answer = protocol::answer_flush(word, NodeId{flush.origin}, posted.via);
    }
    if (answer.what == kPassOn || answer.what == kSendBack) {
      Message& message = passed[answer.home.value];
      message.what = What::kFlush;
      message.origin = flush.origin;
      if (answer.what == kPassOn) {
        posted.via = NodeId{flush.to};
      } else {
        posted.via = kNoNode;
      }
      message.size += 16 + static_cast<std::size_t>(__builtin_popcount(posted.changed)) * 512;
      message.posted.push_back(posted);
      continue;
    }
    Page& page = home.frames[posted.block];
    for (std::uint32_t w = 0; w < kPageWords; ++w)
      if (posted.changed >> w & 1) page.words[w] = posted.page.words[w];
  }
  std::uint64_t others = passed.size();
  for (auto& [to, message] : passed) post(flush.to, to, 16 + message.size, std::move(message));
  if (flush.origin == flush.to) return flushed(flush.to, others);
  Message answer;
  answer.what = What::kFlushed;
  answer.result = others;
  post(flush.to, flush.origin, 16, std::move(answer));
}

void Machine::flushed(std::uint32_t self, std::uint64_t passed) {
  Node& node = *nodes_[self];
  node.flights += static_cast<std::uint32_t>(passed);
  if (--node.flights == 0 && node.wait == Wait::kFlushed) wake(self);
}

double Machine::send_news(std::uint32_t self, const protocol::Step& step) {
  Node& node = *nodes_[self];
  const std::vector<NodeId>& readers = node.strand.readers;
  protocol::NewsBox::News news;
  news.from = NodeId{self};
  news.number = static_cast<std::uint32_t>(step.value);
  news.run = step.blocks;
  std::vector<std::byte> pages(step.blocks.count * kPageBytes);  // what they take on a real node
  for (std::uint64_t i = 0; i < step.blocks.count && !news.gone; ++i) {
    std::uint64_t block = step.blocks.first + i;
    std::uint32_t word = node.words[block];
    news.gone = protocol::answer_news(word, readers).what != protocol::FetchAnswer::What::kCopy;
    if (word & protocol::kTracked) {
      news.tracked |= 1u << i;
    } else {
      node.wanted[block / 64] |= 1ull << (block % 64);
    }
    std::memcpy(pages.data() + i * kPageBytes, &node.frames[block], sizeof(Page));
  }
  protocol::NewsPart part{.head = {.blocks = static_cast<std::uint8_t>(step.blocks.count),
                                   .number = news.number,
                                   .block = step.blocks.first}};
  MemoryCount::work_for(self);
  if (!news.gone) node.sent_news.send(part, pages.data(), !step.flag);
  MemoryCount::work_for(MemoryCount::kNobody);
  news.same = part.head.same;
  news.serials = part.serials;
  news.bytes.assign(part.bytes.begin(), part.bytes.end());
  spread_news(self, news, readers);
  return static_cast<double>(step.blocks.count) * (costs_.copy_page + costs_.compare_page);
}

void Machine::spread_news(std::uint32_t self, const protocol::NewsBox::News& news,
                          std::span<const NodeId> readers) {
  protocol::spread(readers, protocol::kNewsArity, [&](NodeId to, std::span<const NodeId> further) {
    Message message;
    message.what = What::kNews;
    message.news = news;
    message.further.assign(further.begin(), further.end());
    std::size_t size = 32 + (further.size() + news.serials.size()) * 4 + news.bytes.size();
    post(self, to.value, size, std::move(message));
  });
}

// What a grant carries; what that takes on a real node.
std::size_t Machine::add_granted(std::uint32_t self, const protocol::Send& send,
                                 std::vector<std::byte>& grant) {
  Node& node = *nodes_[self];
  std::size_t size = 0;
  bool promised = static_cast<wire::Kind>(grant[0]) == wire::Kind::kBarrierArrive;
  for (std::uint32_t i = 0; i < send.wanted; ++i) {
    std::uint64_t block = 0;
    std::size_t at = send.offset + send.size + i * sizeof block;
    std::memcpy(&block, effects_.bytes.data() + at, sizeof block);
    std::uint32_t word = node.words[block];
    bool here =
        protocol::answer_news(word, {&send.to, 1}).what == protocol::FetchAnswer::What::kCopy;
    if (!here) {
      wire::put(grant, wire::GrantedBlock{.block = block, .home = self});
      size += sizeof(wire::GrantedBlock);
      continue;
    }
    bool tracked = (word & protocol::kTracked) != 0;
    if (!tracked) node.wanted[block / 64] |= 1ull << (block % 64);
    protocol::SentNews::Sent sent{};
    if (promised) {
      std::byte page[kPageBytes] = {};
      std::memcpy(page, &node.frames[block], sizeof(Page));
      sent = node.sent_news.send(block, page, 0, false);
    }
    std::uint32_t bytes = sent.same ? 0 : sizeof(Page);
    wire::put(grant, wire::GrantedBlock{block, self, bytes, tracked, sent.serial});
    size += sizeof(wire::GrantedBlock);
    if (sent.same) continue;
    wire::put(grant, node.frames[block]);
    size += kPageBytes;
  }
  return size;
}

std::optional<double> Machine::take_news(Node& node, const protocol::Step& step) {
  const auto* news = node.news.find(step.node, step.blocks, static_cast<std::uint32_t>(step.value));
  if (news == nullptr) {
    node.wait = Wait::kNews;
    return std::nullopt;
  }
  node.strand.result = protocol::kNewsGone;
  if (news->gone) return 0.0;
  std::uint32_t same = news->same_of(step.blocks);
  node.strand.result = protocol::taken(news->tracked_of(step.blocks), same);
  node.strand.serials.resize(step.blocks.count);
  for (std::uint64_t i = 0; i < step.blocks.count; ++i) {
    std::uint64_t block = step.blocks.first + i;
    node.strand.serials[i] = news->serial_of(block);
    if (same >> i & 1) continue;
    std::memcpy(&node.aside[i], news->bytes_of(block, kPageBytes), sizeof(Page));
  }
  auto copied = step.blocks.count - static_cast<std::uint64_t>(std::popcount(same));
  return static_cast<double>(copied) * costs_.copy_page;
}

}  // namespace terrane::bench::scale
