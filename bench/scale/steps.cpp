#include <algorithm>
#include <bit>
#include <cstring>

#include "protocol/serve/requests.h"
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
      if (step.node != NodeId{self}) return ask(self, step);
      if (step.kind == StepKind::kClaimOwner) {
        protocol::ClaimOwner claim{step.blocks, static_cast<std::uint32_t>(step.value)};
        perform(self, claim);
        node.strand.result = claim.result;
      } else {
        node.strand.result = node.owners[block];
      }
      return 20.0;
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
    case StepKind::kTyped:
      return perform_typed(self, node.strand.typed());
    case StepKind::kTakeNews:
      return take_news(node, step);
    case StepKind::kTakeGranted: {
      auto from = static_cast<std::uint32_t>(step.value);
      std::memcpy(&node.aside[step.value >> 32], node.strand.granted.data() + from, sizeof(Page));
      ++node.tally.fetched;
      return costs_.copy_page;
    }
    case StepKind::kEndPromise: {
      post(
          self, step.node.value,
          wire::PromiseEnd{.blocks = static_cast<std::uint8_t>(step.blocks.count), .block = block});
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
  if (step.kind == StepKind::kFetch) {
    post(self, step.node.value, protocol::fetch_request(step, node.strand.waiter()));
  } else {
    post(self, step.node.value, protocol::owner_request(step, node.strand.waiter()));
  }
  return std::nullopt;
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
  Difference diff{.page = page};
  for (std::uint32_t w = 0; w < kPageWords; ++w)
    if (page.words[w] != twin.words[w]) diff.changed |= 1u << w;
  if (step.flag) twin = page;
  node.strand.result = static_cast<std::uint64_t>(__builtin_popcount(diff.changed));
  if (diff.changed == 0) return;
  std::vector<std::byte>& flush = node.posted[step.node.value];
  if (flush.empty())
    wire::put(flush, wire::Flush{.waiter = node.strand.waiter().value, .origin = self});
  wire::put(flush, wire::FlushedBlock{.block = block,
                                      .diff_bytes = sizeof diff,
                                      .via = static_cast<std::uint32_t>(step.value) - 1});
  wire::put(flush, diff);
}

// Everything for one home goes in one message.
std::optional<double> Machine::await_flush(std::uint32_t self) {
  Node& node = *nodes_[self];
  for (auto& [home, flush] : node.posted) {
    if (flush.empty()) continue;
    node.flushes.add();
    post(self, home, std::move(flush));
    flush.clear();
  }
  if (node.flushes.over()) return 0.0;
  node.wait = Wait::kFlushed;
  return std::nullopt;
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
