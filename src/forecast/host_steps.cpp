#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>
#include <variant>

#include "forecast/machine.h"
#include "forecast/page_steps.h"
#include "protocol/serve/requests.h"

namespace terrane::forecast {

// Steps in which an actor waits, asks its core, or sends: an overload of perform() for each kind.
// Nothing: it waits. PageSteps performs the others.
class Machine::HostSteps {
 public:
  HostSteps(Machine& machine, Actor& actor)
      : machine_(machine),
        actor_(actor),
        node_(*machine.job_.nodes[actor.node]),
        costs_(machine.job_.costs) {}

  std::optional<double> perform(protocol::Pause& step) { return step.yields ? 1'000.0 : 0.0; }

  // Like a futex: looks at the word once, then sleeps until another actor wakes it.
  std::optional<double> perform(protocol::Wait& step) {
    if (std::exchange(actor_.resumed, false) || step.word->load() != step.value) return 0.0;
    return wait(Actor::Wait::kWord);
  }

  std::optional<double> perform(protocol::Wake& step) {
    for (auto& other : node_.actors) {
      if (other->wait != Actor::Wait::kWord) continue;
      if (std::get<protocol::Wait>(other->strand.step()).word != step.word) continue;
      other->resumed = true;
      machine_.wake(*other);
    }
    return 0.0;
  }

  std::optional<double> perform(protocol::Tell& step) {
    machine_.step_core(actor_.node, *step.event);
    machine_.end_turns_beside(actor_.node, *step.event);
    return costs_.step;
  }

  std::optional<double> perform(protocol::Call& step) {
    if (!actor_.resumed) {
      machine_.step_core(actor_.node, *step.event);
      machine_.end_turns_beside(actor_.node, *step.event);
      if (!actor_.resumed) return wait(Actor::Wait::kResume);
    }
    actor_.resumed = false;
    step.result = actor_.value;
    if (const auto* lock = std::get_if<protocol::LockAcquire>(step.event))
      note_acquired(lock->lock, static_cast<protocol::Acquired>(step.result));
    return costs_.step;
  }

  template <typename Kind>
  void ask(const Kind& step, protocol::BlockRange blocks, bool stages) {
    post(step.node.value, protocol::request_of(step, actor_.strand.waiter()));
    actor_.asked.push_back({.from = step.node, .blocks = blocks, .stages = stages});
  }

  // The other node serves it; the step is complete when the answer has come to the request, which
  // is sent now or, of a fetch, was sent before.
  template <typename Kind>
  std::optional<double> exchange(Kind& step, protocol::BlockRange blocks, bool stages = false) {
    auto asked = std::find_if(actor_.asked.begin(), actor_.asked.end(), [&](const Exchange& one) {
      return one.blocks == blocks && one.from == step.node;
    });
    if (asked == actor_.asked.end()) {
      ask(step, blocks, stages);
      return wait(Actor::Wait::kAnswer);
    }
    using Result = decltype(step.result);
    if (!std::holds_alternative<Result>(asked->answer)) return wait(Actor::Wait::kAnswer);
    step.result = std::get<Result>(asked->answer);
    actor_.asked.erase(asked);
    return 0.0;
  }

  std::optional<double> perform(protocol::LoadOwner& step) {
    if (!is_here(step.node)) return exchange(step, {step.block.value, 1});
    step.result = {.entry = node_.owners[step.block.value]};
    return 20.0;
  }

  std::optional<double> perform(protocol::ClaimOwner& step) {
    if (!is_here(step.node)) return exchange(step, step.blocks);
    std::uint32_t* owners = &node_.owners[step.blocks.first];
    for (std::uint64_t b = 0; b < step.blocks.count; ++b) {
      if (owners[b] == 0) owners[b] = step.entry;
      if (owners[b] != step.entry) break;
    }
    step.result = {.entry = owners[0]};
    return 20.0;
  }

  std::optional<double> perform(protocol::Fetch& step) {
    return exchange(step, step.blocks, step.stages);
  }

  std::optional<double> perform(protocol::PostFetch& step) {
    ask(step, step.blocks, step.stages);
    return 10;
  }

  std::optional<double> perform(protocol::AskAtomic& step) {
    return exchange(step, {step.block.value, 1});
  }

  std::optional<double> perform(protocol::PostDiff& step) {
    const Page& page = node_.frames[step.block.value];
    Page& twin = node_.twins[step.block.value];
    Difference diff{.changed = PageSteps::changed(page, twin), .page = page};
    if (step.twin_follows) twin = page;
    step.result = static_cast<std::uint64_t>(std::popcount(diff.changed));
    if (diff.changed == 0) return costs_.compare_page;
    std::vector<std::byte>& flush = actor_.posted[step.node.value];
    if (flush.empty())
      wire::put(flush, wire::Flush{.waiter = actor_.strand.waiter().value, .origin = actor_.node});
    wire::put(flush,
              wire::FlushedBlock{
                  .block = step.block.value, .diff_bytes = sizeof diff, .via = step.via.value});
    wire::put(flush, diff);
    return costs_.compare_page;
  }

  // Everything for one home goes in one message.
  std::optional<double> perform(protocol::AwaitFlush&) {
    for (auto& [home, flush] : actor_.posted) {
      if (flush.empty()) continue;
      actor_.flushes.add();
      post(home, std::move(flush));
      flush.clear();
    }
    if (actor_.flushes.over()) return 0.0;
    return wait(Actor::Wait::kFlushed);
  }

  // ---- pushes

  std::optional<double> perform(protocol::TakePush& step) {
    auto stage = [&](std::uint64_t slot, const std::byte* bytes) {
      std::memcpy(&node_.staged[slot], bytes, sizeof(Page));
    };
    auto taken = node_.pushes.take(step.node, step.blocks, step.barrier_exit, kPageBytes,
                                   *step.versions, stage);
    if (!taken) return wait(Actor::Wait::kPush);
    step.result = *taken;
    if (taken->gone) return 0.0;
    auto copied = step.blocks.count - static_cast<std::uint64_t>(std::popcount(taken->same));
    node_.tally.pushed += copied;
    for (std::uint64_t i = 0; i < step.blocks.count; ++i)
      if ((taken->same >> i & 1) == 0) machine_.job_.came(step.blocks.first + i);
    return static_cast<double>(copied) * costs_.copy_page;
  }

  std::optional<double> perform(protocol::ForgetPushes& step) {
    node_.pushes.forget(step.barrier_exit);
    return 0.0;
  }

  std::optional<double> perform(protocol::EndSubscription& step) {
    post(step.node.value,
         wire::SubscriptionEnd{.blocks = static_cast<std::uint8_t>(step.blocks.count),
                               .block = step.blocks.first});
    return 0.0;
  }

  // ---- what a node does for others

  std::optional<double> perform(protocol::SendBuffer& step) {
    std::vector<std::byte>& out = actor_.out;
    out.assign(step.blocks * kPageBytes, std::byte{0});
    step.result = out.data();
    return 0;
  }

  std::optional<double> perform(protocol::SendMessage& step) {
    Message message{actor_.node, step.to.value, 0, {step.head.begin(), step.head.end()}};
    message.bytes.insert(message.bytes.end(), step.tail.begin(), step.tail.end());
    if (is_here(step.to)) {
      machine_.flushed(message);
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
    const protocol::PushPart& part = *step.part;
    step.result = node_.pushes.put(part);  // pages' bytes, as frames are: not counted
    for (auto& other : node_.actors)
      if (other->wait == Actor::Wait::kPush) machine_.wake(*other);
    return 0;
  }

 private:
  std::optional<double> wait(Actor::Wait what) {
    actor_.wait = what;
    return std::nullopt;
  }
  template <typename Message>
  void post(std::uint32_t to, Message&& message) {
    machine_.job_.post(actor_.node, to, std::forward<Message>(message));
  }
  bool is_here(NodeId node) const { return node == NodeId{actor_.node}; }

  void note_acquired(LockId lock, protocol::Acquired how) {
    if (actor_.role != Actor::Role::kThread || how == protocol::Acquired::kHeldAlready) return;
    bool remote = how == protocol::Acquired::kRemote || how == protocol::Acquired::kWithBlocks;
    machine_.job_.accounts.acquired(lock.value, remote);
  }

  Machine& machine_;
  Actor& actor_;
  Node& node_;
  const Costs& costs_;
};

std::optional<double> Machine::perform(Actor& actor) {
  HostSteps host(*this, actor);
  PageSteps pages(*job_.nodes[actor.node], job_.costs);
  return std::visit(
      [&](auto& step) -> std::optional<double> {
        if constexpr (requires { host.perform(step); }) {
          return host.perform(step);
        } else if constexpr (requires { pages.perform(step); }) {
          return pages.perform(step);
        } else {
          job_.fail("a step that PageSteps lacks: " + std::string(step.kName));
          actor.wait = Actor::Wait::kWord;
          return std::nullopt;
        }
      },
      actor.strand.step());
}

}  // namespace terrane::forecast
