#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <variant>

#include "protocol/serve/requests.h"
#include "scale/machine.h"
#include "scale/memory_count.h"

namespace terrane::bench::scale {

using protocol::Access;

static void add(std::vector<protocol::BlockRange>& runs, std::uint64_t block) {
  if (!runs.empty() && runs.back().end() == block) {
    ++runs.back().count;
  } else {
    runs.push_back({block, 1});
  }
}

// An overload of perform() for each kind of step (protocol/steps/step_kinds.h) that the patterns
// need: what it does, and costs; nothing: it waits.
class Machine::Steps {
 public:
  Steps(Machine& machine, std::uint32_t node)
      : machine_(machine),
        self_(node),
        nodes_(machine.nodes_),
        costs_(machine.costs_),
        blocks_(machine.blocks_) {}

  std::optional<double> perform(protocol::Pause& step) { return step.yields ? 1'000.0 : 0.0; }

  // There is one thread: nobody holds what it waits for.
  std::optional<double> perform(protocol::Wait&) { return 0.0; }
  std::optional<double> perform(protocol::Wake&) { return 0.0; }

  std::optional<double> perform(protocol::Tell& step) {
    step_core(*step.event);
    return costs_.step;
  }

  std::optional<double> perform(protocol::Call& step) {
    Node& node = *nodes_[self_];
    if (!node.resumed) {
      step_core(*step.event);
      if (!node.resumed) {
        node.wait = Wait::kResume;
        return std::nullopt;
      }
    }
    node.resumed = false;
    step.result = node.value;
    return costs_.step;
  }

  // The other node serves it; the step is complete when the answer has come.
  template <typename Kind>
  std::optional<double> exchange(Kind& step) {
    Node& node = *nodes_[self_];
    using Result = decltype(step.result);
    if (const auto* answer = std::get_if<Result>(&node.answer)) {
      step.result = *answer;
      node.answer = {};
      return 0.0;
    }
    node.wait = Wait::kAnswer;
    post(step.node.value, protocol::request_of(step, node.strand.waiter()));
    return std::nullopt;
  }

  std::optional<double> perform(protocol::LoadOwner& step) {
    if (step.node != NodeId{self_}) return exchange(step);
    step.result = {.entry = nodes_[self_]->owners[step.block.value]};
    return 20.0;
  }

  std::optional<double> perform(protocol::ClaimOwner& step) {
    if (step.node != NodeId{self_}) return exchange(step);
    std::uint32_t* owners = &nodes_[self_]->owners[step.blocks.first];
    for (std::uint64_t b = 0; b < step.blocks.count; ++b) {
      if (owners[b] == 0) owners[b] = step.entry;
      if (owners[b] != step.entry) break;
    }
    step.result = {.entry = owners[0]};
    return 20.0;
  }

  std::optional<double> perform(protocol::Fetch& step) {
    nodes_[self_]->stages = step.stages;
    return exchange(step);
  }

  // The fetch that follows asks.
  std::optional<double> perform(protocol::PostFetch&) { return 10; }

  // ---- words

  std::optional<double> perform(protocol::LoadWord& step) {
    step.result = nodes_[step.node.value]->words[step.block.value];
    return 10;
  }

  std::optional<double> perform(protocol::StoreWord& step) {
    nodes_[self_]->words[step.block.value] = step.word;
    return 10;
  }

  std::optional<double> perform(protocol::SwapWord& step) {
    std::uint32_t& word = nodes_[step.node.value]->words[step.block.value];
    step.result = word == step.expected;
    if (step.result) word = step.desired;
    return 10;
  }

  // Each node has one thread: none is between two of these when another node looks.
  std::optional<double> perform(protocol::CountFlush&) { return 10; }
  std::optional<double> perform(protocol::LoadFlushing&) { return 10; }
  std::optional<double> perform(protocol::CountGiving&) { return 10; }
  std::optional<double> perform(protocol::LoadGiving&) { return 10; }

  std::optional<double> perform(protocol::SetWanted& step) {
    std::uint64_t& word = nodes_[step.node.value]->wanted[step.block.value / 64];
    std::uint64_t bit = 1ull << (step.block.value % 64);
    step.result = (word & bit) != 0;
    word |= bit;
    return 10;
  }

  std::optional<double> perform(protocol::TakeWanted& step) {
    Node& node = *nodes_[self_];
    for (std::uint64_t b = 0; b < blocks_; ++b)
      if (node.wanted[b / 64] >> (b % 64) & 1) add(*step.runs, b);
    std::fill(node.wanted.begin(), node.wanted.end(), 0);
    return 10;
  }

  std::optional<double> perform(protocol::ClearOwner& step) {
    nodes_[self_]->owners[step.block.value] = 0;
    return 10;
  }

  // ---- memory and view

  std::optional<double> perform(protocol::Populate& step) {
    for (std::uint64_t b = step.blocks.first; b < step.blocks.end(); ++b) nodes_[self_]->frames[b];
    return 0;
  }

  std::optional<double> perform(protocol::Map& step) {
    for (std::uint64_t b = step.blocks.first; b < step.blocks.end(); ++b) {
      View& view = nodes_[self_]->views[b];
      if (!view.present) view = {.present = true, .guarded = step.access == Access::kRead};
    }
    return costs_.enter;
  }

  // By scan: an entry that was not protected may have been written.
  std::optional<double> perform(protocol::Remap& step) {
    for (std::uint64_t b = step.blocks.first; b < step.blocks.end(); ++b) {
      View& view = nodes_[self_]->views[b];
      view.present = true;
    }
    return costs_.enter;
  }

  std::optional<double> perform(protocol::Protect& step) {
    for (std::uint64_t b = step.blocks.first; b < step.blocks.end(); ++b)
      nodes_[self_]->views[b].guarded = true;
    return costs_.view_call + static_cast<double>(step.blocks.count) * costs_.view_page;
  }

  std::optional<double> perform(protocol::Unprotect& step) {
    for (std::uint64_t b = step.blocks.first; b < step.blocks.end(); ++b)
      nodes_[self_]->views[b].guarded = false;
    return costs_.view_call + static_cast<double>(step.blocks.count) * costs_.view_page;
  }

  std::optional<double> perform(protocol::Zap& step) {
    for (std::uint64_t b = step.blocks.first; b < step.blocks.end(); ++b)
      nodes_[self_]->views[b].present = false;
    return costs_.zap;
  }

  void scan(Node& node, protocol::BlockRange blocks, bool protects,
            std::vector<protocol::BlockRange>& runs) {
    for (std::uint64_t b = blocks.first; b < blocks.end(); ++b) {
      View& view = node.views[b];
      if (view.guarded) continue;
      view.guarded = protects;
      add(runs, b);
    }
  }

  std::optional<double> perform(protocol::Scan& step) {
    scan(*nodes_[self_], step.blocks, true, *step.runs);
    return costs_.view_call + static_cast<double>(step.blocks.count) * costs_.view_page;
  }

  std::optional<double> perform(protocol::Look& step) {
    scan(*nodes_[self_], step.blocks, false, *step.runs);
    return costs_.view_call + static_cast<double>(step.blocks.count) * costs_.view_page;
  }

  std::optional<double> perform(protocol::Punch& step) {
    for (std::uint64_t b = step.blocks.first; b < step.blocks.end(); ++b) {
      nodes_[self_]->frames.erase(b);
      nodes_[self_]->twins.erase(b);
    }
    return costs_.zap;
  }

  std::optional<double> perform(protocol::DropTwin& step) {
    for (std::uint64_t b = step.blocks.first; b < step.blocks.end(); ++b)
      nodes_[self_]->twins.erase(b);
    return costs_.zap;
  }

  // ---- bytes

  std::optional<double> perform(protocol::CopyTwin& step) {
    nodes_[self_]->twins[step.block.value] = nodes_[self_]->frames[step.block.value];
    return costs_.copy_page;
  }

  std::optional<double> perform(protocol::Merge& step) {
    Node& node = *nodes_[self_];
    Page& page = node.frames[step.block.value];
    Page& twin = node.twins[step.block.value];
    const Page& staged = node.staged[step.slot];
    for (std::uint32_t w = 0; w < kPageWords; ++w) {
      if (step.merges && staged.words[w] == twin.words[w]) continue;
      page.words[w] = staged.words[w];
      if (step.merges) twin.words[w] = staged.words[w];
    }
    return costs_.compare_page;
  }

  std::optional<double> perform(protocol::PostDiff& step) {
    Node& node = *nodes_[self_];
    const Page& page = node.frames[step.block.value];
    Page& twin = node.twins[step.block.value];
    Difference diff{.page = page};
    for (std::uint32_t w = 0; w < kPageWords; ++w)
      if (page.words[w] != twin.words[w]) diff.changed |= 1u << w;
    if (step.twin_follows) twin = page;
    step.result = static_cast<std::uint64_t>(std::popcount(diff.changed));
    if (diff.changed == 0) return costs_.compare_page;
    std::vector<std::byte>& flush = node.posted[step.node.value];
    if (flush.empty())
      wire::put(flush, wire::Flush{.waiter = node.strand.waiter().value, .origin = self_});
    wire::put(flush,
              wire::FlushedBlock{
                  .block = step.block.value, .diff_bytes = sizeof diff, .via = step.via.value});
    wire::put(flush, diff);
    return costs_.compare_page;
  }

  // Everything for one home goes in one message.
  std::optional<double> perform(protocol::AwaitFlush&) {
    Node& node = *nodes_[self_];
    for (auto& [home, flush] : node.posted) {
      if (flush.empty()) continue;
      node.flushes.add();
      post(home, std::move(flush));
      flush.clear();
    }
    if (node.flushes.over()) return 0.0;
    node.wait = Wait::kFlushed;
    return std::nullopt;
  }

  // ---- pushes

  std::optional<double> perform(protocol::TakePush& step) {
    Node& node = *nodes_[self_];
    auto stage = [&](std::uint64_t slot, const std::byte* bytes) {
      std::memcpy(&node.staged[slot], bytes, sizeof(Page));
    };
    auto taken = node.pushes.take(step.node, step.blocks, step.barrier_exit, kPageBytes,
                                  *step.versions, stage);
    if (!taken) {
      node.wait = Wait::kPush;
      return std::nullopt;
    }
    step.result = *taken;
    if (taken->gone) return 0.0;
    auto copied = step.blocks.count - static_cast<std::uint64_t>(std::popcount(taken->same));
    return static_cast<double>(copied) * costs_.copy_page;
  }

  std::optional<double> perform(protocol::ForgetPushes& step) {
    nodes_[self_]->pushes.forget(step.barrier_exit);
    return 0.0;
  }

  std::optional<double> perform(protocol::EndSubscription& step) {
    post(step.node.value,
         wire::SubscriptionEnd{.blocks = static_cast<std::uint8_t>(step.blocks.count),
                               .block = step.blocks.first});
    return 0.0;
  }

  std::optional<double> perform(protocol::TakeGranted& step) {
    std::memcpy(&nodes_[self_]->staged[step.slot], step.bytes, sizeof(Page));
    ++nodes_[self_]->tally.fetched;
    return costs_.copy_page;
  }

  // ---- what a node does for others

  std::optional<double> perform(protocol::SendBuffer& step) {
    std::vector<std::byte>& out = nodes_[self_]->out;
    out.assign(step.blocks * kPageBytes, std::byte{0});
    step.result = out.data();
    return 0;
  }

  // And compared to what was sent last.
  std::optional<double> perform(protocol::ReadBlock& step) {
    std::memcpy(step.to, &nodes_[self_]->frames[step.block.value], sizeof(Page));
    return costs_.copy_page + costs_.compare_page;
  }

  std::optional<double> perform(protocol::ApplyDiff& step) {
    Difference diff;
    step.result = wire::take(step.diff, diff);
    Page& page = nodes_[self_]->frames[step.block.value];
    for (std::uint32_t w = 0; w < kPageWords; ++w)
      if (diff.changed >> w & 1) page.words[w] = diff.page.words[w];
    return costs_.compare_page;
  }

  std::optional<double> perform(protocol::CountOwned& step) {
    const auto& owners = nodes_[self_]->owners;
    while (step.result < step.blocks.count && owners[step.blocks.first + step.result] == step.entry)
      ++step.result;
    return 10;
  }

  std::optional<double> perform(protocol::SendMessage& step) {
    Message message{self_, step.to.value, 0, {step.head.begin(), step.head.end()}};
    message.bytes.insert(message.bytes.end(), step.tail.begin(), step.tail.end());
    if (step.to == NodeId{self_}) {
      flushed(message);
    } else {
      post(step.to.value, std::move(message.bytes));
    }
    return 0;
  }

  std::optional<double> perform(protocol::SendPush& step) {
    std::vector<std::byte> message;
    protocol::put_push_head(message, *step.part, step.further);
    message.insert(message.end(), step.part->bytes.begin(), step.part->bytes.end());
    post(step.to.value, std::move(message));
    return 0;
  }

  std::optional<double> perform(protocol::SendPushes&) { return 0; }

  std::optional<double> perform(protocol::KeepPush& step) {
    Node& node = *nodes_[self_];
    const protocol::PushPart& part = *step.part;
    step.result = node.pushes.put(part);  // pages' bytes, as frames are: not counted
    if (node.wait == Wait::kPush) wake();
    return 0;
  }

 private:
  template <typename Message>
  void post(std::uint32_t to, Message&& message) {
    machine_.post(self_, to, std::forward<Message>(message));
  }
  void step_core(const protocol::Event& event) { machine_.step_core(self_, event); }
  void wake() { machine_.wake(self_); }
  void flushed(const Message& answer) { machine_.flushed(answer); }

  Machine& machine_;
  const std::uint32_t self_;
  std::vector<std::unique_ptr<Node>>& nodes_;
  const Costs& costs_;
  const std::uint64_t blocks_;
};

std::optional<double> Machine::perform(std::uint32_t self, protocol::Strand& strand) {
  Steps steps(*this, self);
  return std::visit(
      [&](auto& step) -> std::optional<double> {
        if constexpr (requires { steps.perform(step); }) {
          return steps.perform(step);
        } else {
          std::fprintf(stderr, "scale: the patterns take a step that Machine::Steps lacks: %s\n",
                       std::string(step.kName).c_str());
          std::exit(1);
        }
      },
      strand.step());
}

// A handler thread does it, at once.
void Machine::make_offer(std::uint32_t self, const protocol::Offer& offer) {
  Node& node = *nodes_[self];
  protocol::Strand strand(node.strand.waiter());
  auto task = node.hlrc->offer_asked(strand, offer);
  strand.start(task);
  double cost = 0;
  for (; !task.done(); strand.move_on()) cost += perform(self, strand).value();
  node.handler_free = std::max(now_, node.handler_free) + static_cast<Ns>(cost);
  step_core(self, protocol::OfferMade{offer.to, offer.waiter, task.value()});
}

}  // namespace terrane::bench::scale
