#include <algorithm>
#include <cstring>
#include <variant>

#include "protocol/serve/requests.h"
#include "sim/checked_homes.h"
#include "sim/history.h"
#include "sim/names.h"

namespace terrane::sim {

// Steps in which an actor waits, asks its core, or sends: an overload of perform() for each, true
// when the step is complete. Mover performs all others.
struct History::Steps {
  History& history;
  Actor& actor;

  void check_may_ask() const {
    if (is_service(actor))
      violated(Fault::kBadStep,
               "what a thread does in the middle of its own operation asks others");
  }

  bool perform(protocol::Pause&) { return true; }

  // Like a futex: looks at the word once, then sleeps until another actor wakes it.
  bool perform(protocol::Wait& step) {
    if (actor.resumed) {
      actor.resumed = false;
      return true;
    }
    if (step.word->load() != step.value) return true;
    actor.wait = Actor::Wait::kWord;
    history.schedule_.park(actor.id);
    return false;
  }

  bool perform(protocol::Wake& step) {
    history.wake(actor.node, step.word);
    return true;
  }

  bool perform(protocol::Call& step) {
    check_may_ask();
    const auto* goes = std::get_if<protocol::ScGiveBack>(step.event);
    if (goes != nullptr && goes->spares && !history.program_->setup.whole_steps &&
        history.rng_.chance(20)) {  // as if a thread had just got the page
      step.result = 0;
      return true;
    }
    if (!actor.resumed) {
      const auto* sleep = std::get_if<protocol::CountSleep>(step.event);
      bool may_expire = sleep != nullptr && sleep->may_expire;
      if (actor.wait != Actor::Wait::kResume) {
        actor.wait = Actor::Wait::kResume;
        history.step_core(actor.node, *step.event);
      } else if (may_expire && history.rng_.chance(20)) {
        history.step_core(actor.node, protocol::CountExpire{actor.strand.waiter()});
      }
      if (!actor.resumed) {
        if (!may_expire) history.schedule_.park(actor.id);
        return false;
      }
    }
    actor.resumed = false;
    step.result = actor.value;
    return true;
  }

  bool perform(protocol::Tell& step) {
    history.step_core(actor.node, *step.event);
    return true;
  }

  bool perform(protocol::CountAnnounced&) {
    ++history.nodes_[actor.node].announced;
    return true;
  }

  bool perform(protocol::LoadAnnounced& step) {
    step.result = history.nodes_[step.node.value].announced;
    return true;
  }

  // The difference goes to its home in a message of its own, or in one with other differences for
  // that home.
  bool perform(protocol::PostDiff& step) {
    if (!history.mover_.perform(actor)) return false;
    if (step.result == 0) return true;
    check_may_ask();
    std::uint32_t to = step.node.value;
    auto late = std::find_if(actor.late.begin(), actor.late.end(),
                             [&](const Actor::Late& one) { return one.to == to; });
    bool joins = late != actor.late.end();
    if (!joins) {
      late = actor.late.insert(late, {to, {}});
      wire::put(late->message, wire::Flush{.waiter = actor.id, .origin = actor.node});
      for (std::uint32_t known : step.known) wire::put(late->message, known);
    }
    late->message.insert(late->message.end(), actor.flush.begin(), actor.flush.end());
    if (!history.program_->setup.late_flushes) send_late();
    return true;
  }

  void send_late() {
    for (const Actor::Late& late : actor.late) {
      actor.flushes.add();
      history.push(actor.node, late.to, late.message);
    }
    actor.late.clear();
  }

  bool perform(protocol::CompareHome& step) {
    compare_home(history.nodes_[actor.node], NodeId{actor.node}, step, history.checker_);
    return true;
  }

  bool perform(protocol::CloseAccesses& step) {
    close_accesses(history.nodes_[actor.node], NodeId{actor.node}, step,
                   history.program_->setup.block_bytes);
    return true;
  }

  bool perform(protocol::ApplyDiff& step) {
    Node& home = history.nodes_[actor.node];
    if (home.races() == nullptr) return history.mover_.perform(actor);
    apply_checked(home, step, history.program_->setup.block_bytes, history.checker_);
    step.result = true;
    return true;
  }

  bool perform(protocol::AwaitFlush&) {
    check_may_ask();
    send_late();
    if (actor.flushes.over()) return true;
    actor.wait = Actor::Wait::kFlushed;
    history.schedule_.park(actor.id);
    return false;
  }

  bool perform(protocol::TakePush&) {
    check_may_ask();
    if (history.mover_.perform(actor)) return true;
    actor.wait = Actor::Wait::kPush;
    history.schedule_.park(actor.id);
    return false;
  }

  template <typename Kind>
  void ask(const Kind& step, protocol::BlockRange blocks, bool stages = false) {
    check_may_ask();
    auto request = protocol::request_of(step, actor.strand.waiter());
    history.push(actor.node, step.node.value, std::as_bytes(std::span(&request, 1)));
    actor.asked.push_back({.from = step.node, .blocks = blocks, .stages = stages});
  }

  // Waits for the answer to a request that is sent now or, of a fetch, was sent before.
  template <typename Kind>
  bool exchange(Kind& step, protocol::BlockRange blocks, bool stages = false) {
    auto is_asked = [&](const Exchange& one) {
      return one.blocks == blocks && one.from == step.node;
    };
    auto asked = std::find_if(actor.asked.begin(), actor.asked.end(), is_asked);
    if (asked == actor.asked.end()) {
      ask(step, blocks, stages);
      asked = actor.asked.end() - 1;
    }
    using Result = decltype(step.result);
    if (!std::holds_alternative<Result>(asked->answer)) {
      actor.wait = Actor::Wait::kAnswer;
      history.schedule_.park(actor.id);
      return false;
    }
    step.result = std::get<Result>(asked->answer);
    actor.asked.erase(asked);
    return true;
  }

  bool perform(protocol::LoadOwner& step) {
    if (history.reaches(actor.node, step.node)) return history.mover_.perform(actor);
    return exchange(step, {step.block.value, 1});
  }

  bool perform(protocol::ClaimOwner& step) {
    if (history.reaches(actor.node, step.node)) return history.mover_.perform(actor);
    return exchange(step, step.blocks);
  }

  bool perform(protocol::Fetch& step) { return exchange(step, step.blocks, step.stages); }

  bool perform(protocol::PostFetch& step) {
    ask(step, step.blocks, step.stages);
    return true;
  }

  bool perform(protocol::AskAtomic& step) { return exchange(step, {step.block.value, 1}); }

  bool perform(protocol::EndSubscription& step) {
    wire::SubscriptionEnd end{.blocks = static_cast<std::uint8_t>(step.blocks.count),
                              .block = step.blocks.first};
    history.push(actor.node, step.node.value, std::as_bytes(std::span(&end, 1)));
    return true;
  }

  // The operation takes effect in its home's memory at this moment, whatever other actors do. The
  // result is checked for the thread that asked for it.
  bool perform(protocol::PerformAtomic& step) {
    history.mover_.perform(actor);
    Actor* asks = &actor;
    if (actor.id >= kFirstChannel) {
      wire::AtomicRequest request;
      protocol::Bytes message(actor.message);
      wire::take(message, request);
      asks = history.actors_[request.waiter].get();
    }
    history.operations_.check_atomic(*asks, step.result);
    return true;
  }

  bool perform(protocol::SendMessage& step) {
    std::vector<std::byte> message(step.head.begin(), step.head.end());
    message.insert(message.end(), step.tail.begin(), step.tail.end());
    if (step.to != NodeId{actor.node}) {
      history.push(actor.node, step.to.value, message);
    } else if (!history.accept(actor.node, actor.node, message)) {
      violated(Fault::kBadStep, "node {} sends itself a {}", actor.node, name_of_message(message));
    }
    return true;
  }

  bool perform(protocol::SendPush& step) {
    if (actor.id >= kFirstChannel) {
      using enum protocol::Mutant;
      const wire::PagePush& head = step.part->head;
      bool expects = history.nodes_[actor.node].hlrc().expects(
          NodeId{head.home}, {head.block, head.blocks}, head.number);
      if (!expects && protocol::mutant(kPushEndsWhereUnread)) return true;
      protocol::mark(protocol::Mark::kPushPassedOn);
      if (!expects) protocol::mark(protocol::Mark::kPushPassedOnByOthers);
      if (head.gone != 0) protocol::mark(protocol::Mark::kPushGonePassedOn);
    }
    std::vector<std::byte> message;
    protocol::put_push_head(message, *step.part, step.further);
    message.insert(message.end(), step.part->bytes.begin(), step.part->bytes.end());
    history.push(actor.node, step.to.value, message);
    return true;
  }

  bool perform(protocol::SendPushes&) { return true; }

  bool perform(protocol::KeepPush& step) {
    step.result = history.nodes_[actor.node].pushes().put(*step.part);
    for (auto& other : history.actors_) {
      if (other->node != actor.node || other->wait != Actor::Wait::kPush) continue;
      other->wait = Actor::Wait::kNothing;
      history.doers_.make_ready(*other);
    }
    return true;
  }
};

// Continues the actor's step. True when it is complete.
bool History::perform(Actor& actor) {
  return std::visit(
      [&](auto& step) {
        if constexpr (requires(Steps here) { here.perform(step); }) {
          return Steps{*this, actor}.perform(step);
        } else {
          return mover_.perform(actor);
        }
      },
      actor.strand.step());
}

}  // namespace terrane::sim
