#include "runtime/engine.h"

#include <sched.h>

#include <cstdlib>
#include <cstring>

#include "base/check.h"
#include "runtime/page_steps.h"
#include "runtime/program/own_stack.h"
#include "runtime/sharing_watch.h"
#include "runtime/statistics.h"
#include "waiting/backoff.h"
#include "waiting/patience.h"

namespace terrane::runtime {

using waiting::Backoff;
using waiting::HandlerNeed;
using waiting::kSleepNs;

namespace {

constexpr std::uint32_t kMostFlushes = 64;  // most unanswered messages of a release

// Whether a message is of use only to threads of this node, which will poll for it anyway. False
// for pushes: this node may have to pass them on to other readers that wait.
bool can_wait(transport::Bytes message) {
  if (message.empty()) return false;
  auto kind = static_cast<wire::Kind>(message[0]);
  bool counted = kind == wire::Kind::kAnnounce && message.size() > 1 && message[1] != std::byte{0};
  return counted || kind == wire::Kind::kBarrierArrive || kind == wire::Kind::kSubscriptionEnd;
}

// How long one sleep of the wait may last: until the wait expires, and at most kSleepNs.
std::uint64_t sleep_ns(const WaitLimit& limit) {
  std::uint64_t expires_ns = limit.until_ns;
  if (expires_ns == WaitLimit::kNever) return kSleepNs;
  std::uint64_t now = platform::now_ns();
  return expires_ns <= now ? 1 : std::min(expires_ns - now, kSleepNs);
}

}  // namespace

Engine::Engine(PageSpace& space, transport::Transport& transport, bootstrap::Bootstrap& bootstrap,
               ThreadRegistry& threads, protocol::Core& core, protocol::Hlrc& hlrc,
               protocol::sc::Pages& sc, NewsHandler on_news)
    : space_(space),
      transport_(transport),
      bootstrap_(bootstrap),
      threads_(threads),
      remote_(space, transport, threads, hlrc.server()),
      core_(core),
      hlrc_(hlrc),
      sc_(sc),
      page_(space.unit() / sizeof(Line)),
      on_news_(std::move(on_news)) {
  effects_.bytes.reserve(1 << 16);
  std::vector<bool> far;
  for (std::uint32_t n = 0; n < bootstrap_.nodes(); ++n)
    far.push_back(bootstrap_.is_far(NodeId{n}));
  remote_.count_far(std::move(far));
  dropper_.start({[this](std::uint64_t timeout_ns, std::uint64_t) {
                    platform::futex_wait(chores_told_, chores_seen_, timeout_ns);
                  },
                  [this] {
                    chores_told_.fetch_add(1);
                    platform::futex_wake_all(chores_told_);
                  },
                  [this] {
                    chores_seen_ = chores_told_.load();
                    run_chores();
                    return waiting::HandlerTurn{};
                  }});
  handler_.start({[this](std::uint64_t timeout_ns, std::uint64_t patience_ns) {
                    transport_.sleep_beside(timeout_ns, patience_ns);
                  },
                  [this] { transport_.interrupt(); }, [this] { return turn(); }});
}

Engine::~Engine() { stop(); }

void Engine::stop() {
  handler_.stop();
  dropper_.stop();
}

// Counts the notices of an interval that ends, or of an eager release's expiry.
void Engine::count_notices(ThreadContext& context, const protocol::Event& event) {
  const std::vector<protocol::BlockRange>* ranges = nullptr;
  if (const auto* close = std::get_if<protocol::CloseInterval>(&event)) ranges = close->notices;
  if (const auto* expire = std::get_if<protocol::ExpireCopies>(&event)) ranges = expire->ranges;
  if (ranges == nullptr) return;
  for (const protocol::BlockRange& range : *ranges) {
    context.counters.notices.add(range.count);
    if (context.counters.sites != nullptr) context.counters.sites->writes().note_written(range);
  }
}

// Steps for which the thread waits, or that ask the core: an overload of perform() for each. All
// other steps are performed by RemotePages and PageSteps.
struct Engine::Steps {
  Engine& engine;
  ThreadContext& context;

  void perform(const protocol::Pause& step) {
    if (step.yields) ::sched_yield();
  }

  void perform(const protocol::Wait& step) {
    engine.unattend(context);  // messages would wait until this thread goes on
    waiting::wait_while_equal(*step.word, step.value, context.is_handler ? 0 : waiting::kCrowdedNs);
  }

  void perform(protocol::Call& step) {
    engine.count_notices(context, *step.event);
    step.result = engine.ask_core(context, *step.event);
  }

  void perform(const protocol::Tell& step) {
    engine.count_notices(context, *step.event);
    engine.tell(context, *step.event);
  }

  template <typename Kind>
  void exchange(Kind& step) {
    Exchange& exchange = engine.remote_.ask(step, context);
    engine.wait_until(context, [&] { return exchange.done.load() != 0; });
    exchange.blocks.count = 0;
    step.result = std::get<decltype(step.result)>(exchange.result);
  }

  void perform(protocol::LoadOwner& step) {
    if (!engine.space_.reaches(step.node)) return exchange(step);
    PageSteps(engine.space_, context.counters).perform(step);
  }

  void perform(protocol::ClaimOwner& step) {
    if (!engine.space_.reaches(step.node)) return exchange(step);
    PageSteps(engine.space_, context.counters).perform(step);
  }

  SharingWatch* watch() const {
    return context.counters.sites == nullptr ? nullptr : context.counters.sites->sharing();
  }

  void perform(protocol::Fetch& step) {
    WatchedTime time(step.stages ? watch() : nullptr, step.blocks.first);
    exchange(step);
  }

  void perform(protocol::AskAtomic& step) { exchange(step); }

  void perform(const protocol::PostFetch& step) {
    engine.attend(context);
    engine.remote_.post_fetch(step, context);
  }

  void perform(protocol::PostDiff& step) {
    step.result = engine.remote_.post(step, context);
    if (context.flushes.unanswered() > kMostFlushes)
      engine.wait_until(context, [&] { return context.flushes.unanswered() <= kMostFlushes / 2; });
  }

  void perform(const protocol::AwaitFlush&) {
    engine.remote_.send_posted(context);
    engine.wait_until(context, [&] { return context.flushes.over(); });
  }

  void perform(protocol::TakePush& step) {
    WatchedTime time(watch(), step.blocks.first);
    engine.wait_until(context, [&] { return engine.remote_.take_push(step, context); });
  }

  void perform(const protocol::ForgetPushes& step) {
    engine.remote_.forget_pushes(step.barrier_exit);
  }

  void perform(const protocol::EndSubscription& step) {
    engine.remote_.end_subscription(step, context);
  }

  void perform(const protocol::TakeGranted& step) { engine.remote_.take_granted(step, context); }

  // Waits in an in-memory barrier: calls look() until the round is over. No node would wake a
  // thread that sleeps here, so a thread that would have to sleep gives up, and the barrier uses
  // messages.
  template <typename Look, typename GiveUp>
  bool is_held(Look look, GiveUp give_up) {
    using Round = protocol::CentralBarrier::Round;
    Round state = look();
    Backoff backoff;
    while (state == Round::kOpen && backoff.is_short()) {
      backoff.pause();
      state = look();
    }
    if (state == Round::kOpen) {
      std::uint64_t from = platform::now_ns();
      engine.attend(context);
      while (state == Round::kOpen) {
        engine.poll_once(context);
        bool waits = backoff.pause(engine.handler_.need());
        state = waits ? look() : give_up();
      }
      context.polled_ns = platform::now_ns();
      context.waited_ns += context.polled_ns - from;
    }
    return state == Round::kHeld;
  }

  void perform(protocol::ArriveInMemory& step) {
    auto barrier = engine.space_.central_barrier(step.barrier);
    if (step.takes != nullptr && engine.space_.self() == NodeId{0}) barrier.tell(step.gives);
    std::uint64_t round = barrier.come(step.told);
    step.result =
        is_held([&] { return barrier.look(round); }, [&] { return barrier.withdraw(round); });
    if (!step.result || step.takes == nullptr) return;
    auto told = barrier.told(round);
    step.takes->assign(told.begin(), told.end());
  }

  void perform(protocol::Gather& step) {
    auto barrier = engine.space_.central_barrier(step.barrier);
    auto give_up = [&] { return barrier.give_up_others(step.told); };
    step.result = is_held([&] { return barrier.others(step.told); }, give_up);
    if (!step.result) give_up();
  }
};

void Engine::perform(ThreadContext& context, protocol::Strand& strand) {
  if (context.attends) poll_now_and_then(context);
  std::visit(
      [&](auto& step) {
        if constexpr (requires(Steps here) { here.perform(step); }) {
          Steps{*this, context}.perform(step);
        } else {
          remote_.perform(step, {context.push_pages, context.pushes_out, context.counters});
        }
      },
      strand.step());
}

void Engine::tell(ThreadContext& context, const protocol::Event& event) {
  if (const auto* installed = std::get_if<protocol::ScInstalled>(&event))
    context.latest_pages.add(installed->block.value, platform::now_ns());
  {
    std::lock_guard hold(mutex_);
    step(event, context.counters);
  }
  serve(context, false);
}

std::uint64_t Engine::call(ThreadContext& context, const protocol::Event& event) {
  std::uint64_t value = ask_core(context, event);
  unattend(context);
  return value;
}

// If the answer comes from another node, the thread begins to poll before it asks. Otherwise an
// answer that came at once would wake the handler thread, which then takes the processor. The
// thread wakes the receivers of its messages only when it has waited for a moment.
std::uint64_t Engine::ask_core(ThreadContext& context, const protocol::Event& event) {
  const auto* goes = std::get_if<protocol::ScGiveBack>(&event);
  if (goes != nullptr && goes->spares && kept_until_ns(goes->block.value) > platform::now_ns())
    return 0;
  context.resumed.store(0, std::memory_order_relaxed);
  context.nesting.wait_for(event);
  bool waits = false;
  {
    std::lock_guard hold(mutex_);
    decide(event);
    waits = !effects_.resumes(context.strand.waiter());
    if (waits) attend(context);
    carry_out(event, context.counters, waits ? &context.unrung : nullptr);
  }
  const auto* sleep = std::get_if<protocol::CountSleep>(&event);
  bool is_long = sleep != nullptr || std::holds_alternative<protocol::BarrierEnter>(event) ||
                 std::holds_alternative<protocol::BarrierGather>(event);
  if (is_long) end_turns(context, true);
  serve(context, false);
  WaitLimit limit = sleep != nullptr && sleep->may_expire ? context.limit : WaitLimit();
  if (waits)
    wait_until(
        context, [&] { return context.resumed.load() != 0; }, limit, sleep != nullptr);
  context.nesting.go_on();
  return context.value;
}

// Under the mutex. Messages are sent under it too, so the messages of each pair of nodes have the
// order of the steps.
void Engine::step(const protocol::Event& event, Counters& counters) {
  decide(event);
  carry_out(event, counters);
}

void Engine::decide(const protocol::Event& event) {
  effects_.clear();
  core_.step(event, effects_);
}

void Engine::carry_out(const protocol::Event& event, Counters& counters,
                       std::vector<Unrung>* unrung) {
  for (const auto& effect : effects_.list) {
    if (const auto* send = std::get_if<protocol::Send>(&effect)) {
      carry_out(*send, counters, unrung);
    } else if (const auto* resume = std::get_if<protocol::Resume>(&effect)) {
      carry_out(*resume);
    } else if (const auto* drop = std::get_if<protocol::Drop>(&effect)) {
      leave_to_dropper({*drop, {}});
    } else if (const auto* offer = std::get_if<protocol::Offer>(&effect)) {
      offers_.push_back(*offer);
      offer_count_.fetch_add(1);
    } else if (const auto* adopt = std::get_if<protocol::Adopt>(&effect)) {
      leave_to_dropper({*adopt, {}});
    } else if (const auto* kept = std::get_if<protocol::ReleaseKept>(&effect)) {
      releases_.push_back(*kept);
      release_count_.fetch_add(1);
      releases_told_.store(false);
    } else if (const auto* turn = std::get_if<protocol::TurnExtended>(&effect)) {
      bool asked = std::holds_alternative<protocol::Received>(event);
      extend_turn(turn->lock, asked && waiting_.load() != 0);
    } else if (const auto* recall = std::get_if<protocol::Recall>(&effect);
               recall != nullptr && recall->releases) {
      ordered_.add(*recall);
      releases_told_.store(false);
    } else if (recall != nullptr) {
      recalls_.push_back({*recall});
      recalls_due_ns_.store(0);
      recall_count_.fetch_add(1);
    } else if (const auto* bytes = std::get_if<protocol::Place>(&effect)) {
      place(*bytes, event, counters);
    } else if (const auto* expire = std::get_if<protocol::Expire>(&effect)) {
      const std::byte* ranges = effects_.bytes.data() + expire->offset;
      leave_to_dropper({*expire, {ranges, ranges + expire->size}});
    } else {
      malformed(std::get<protocol::Malformed>(effect).from);
    }
  }
}

void Engine::malformed(NodeId from) {
  bootstrap_.fail(fmt::format("a malformed message came from node {}; do all nodes run the same "
                              "version? See 'terrane info'",
                              from.value),
                  1);
  std::abort();
}

void Engine::carry_out(const protocol::Send& send, Counters& counters,
                       std::vector<Unrung>* unrung) {
  transport::Bytes head(effects_.bytes.data() + send.offset, send.size);
  if (send.wanted > 0) {
    grant_.assign(head.begin(), head.end());
    std::uint64_t blocks[wire::kMostWithArrival];
    std::memcpy(blocks, head.data() + head.size(), send.wanted * sizeof blocks[0]);
    remote_.add_granted(send.to, {blocks, send.wanted}, grant_, counters);
    head = grant_;
  }
  counters.sent(head.size() + (send.with.count == 0 ? 0 : space_.unit()),
                bootstrap_.is_far(send.to));
  if (send.with.count == 0) {
    Unrung sent{send.to,
                can_wait(head) ? transport::Sleepers::kWaiting : transport::Sleepers::kAll};
    if (unrung == nullptr && sent.whom == transport::Sleepers::kAll)
      return transport_.send(send.to, head);
    transport_.send_unrung(send.to, head);
    if (unrung == nullptr) return transport_.ring(sent.to, sent.whom);
    return unrung->push_back(sent);
  }
  space_.read_page(send.with.first, page_[0].bytes);
  transport_.send(send.to, head, {page_[0].bytes, space_.unit()});
}

void Engine::place(const protocol::Place& place, const protocol::Event& event, Counters& counters) {
  if (!space_.place(place.block.value, place.bytes))
    malformed(std::get<protocol::Received>(event).from);
  counters.pages_fetched.add(1);
  if (hlrc_.is_over_limit()) handler_.call();  // it makes room
}

void Engine::carry_out(const protocol::Resume& resume) {
  ThreadContext& context = threads_.at(resume.waiter);
  context.value = resume.value;
  const std::byte* payload = effects_.bytes.data() + resume.offset;
  context.strand.set_answer(payload, resume.size);
  context.resumed.store(1, std::memory_order_seq_cst);
  std::uint32_t sleeping = context.sleeping.load(std::memory_order_seq_cst);
  if (sleeping == ThreadContext::kSleepsAlone) {
    platform::futex_wake_all(context.resumed);
  } else if (sleeping != 0) {
    transport_.interrupt();
  }
}

// Waits until done(), which is called again and again. The thread that makes it true then looks at
// context.sleeping. alone: the core resumes this thread, and no message wakes it from its sleep:
// the handler thread serves meanwhile.
template <typename Done>
void Engine::wait_until(ThreadContext& context, Done done, WaitLimit limit, bool alone) {
  std::uint64_t from = platform::now_ns();
  Backoff backoff(context.is_handler ? waiting::kCrowdedNs : ~0ull);
  waiting::Patience patience;
  attend(context);
  waiting_.fetch_add(1);
  while (!done()) {
    if (own_stack().has_signal && own_stack().holds == 0 && context.nesting.holds_nothing) {
      run_handlers(context);
      continue;
    }
    if (poll_once(context)) {
      backoff.restart();  // a node that was served may soon ask for more
      continue;
    }
    if (limit.is_reached()) {
      std::lock_guard hold(mutex_);  // the core resumes the thread, unless it has done so before
      protocol::CountExpire expire{context.strand.waiter()};
      if (context.resumed.load() == 0) step(expire, context.counters);
      continue;
    }
    if (!backoff.is_short()) ring(context);
    if (backoff.pause(context.is_handler ? HandlerNeed::kNothing : handler_.need())) continue;
    end_turns(context, true);
    serve(context, false);
    transport_.unattend();
    context.sleeping.store(alone ? ThreadContext::kSleepsAlone : 1, std::memory_order_seq_cst);
    if (alone) {
      platform::futex_wait(context.resumed, 0, sleep_ns(limit));
    } else if (!done()) {
      transport_.sleep(sleep_ns(limit));
    }
    context.sleeping.store(0, std::memory_order_relaxed);
    if (double seconds = patience.due(); seconds > 0) {
      std::lock_guard hold(mutex_);
      WaitReports::tell(core_, context, seconds);
    }
    transport_.attend();
  }
  waiting_.fetch_sub(1);
  ring(context);
  context.polled_ns = platform::now_ns();
  context.waited_ns += context.polled_ns - from;
}

// The program's handlers that have waited for the calling thread. It serves nobody meanwhile, and
// the operations of a handler are no part of the one that waits.
void Engine::run_handlers(ThreadContext& context) {
  end_turns(context, true);
  serve(context, false);
  ring(context);
  if (transport_.unattend()) poll_all();
  ThreadContext& before = threads_.enter_handler();
  OwnStack& own = own_stack();
  OwnStack operation = own;
  own.top = nullptr;  // its operations run on the signal stack, as it does
  std::atomic_signal_fence(std::memory_order_seq_cst);
  own.depth = 0;
  take_signals();
  own.depth = operation.depth;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  own.top = operation.top;
  threads_.leave_handler(before);
  transport_.attend();
}

void Engine::received(NodeId from, transport::Bytes message) {
  ThreadContext& context = threads_.current();
  context.took = true;
  context.counters.messages_received.add(1);
  context.counters.message_bytes_received.add(message.size());
  if (!can_wait(message)) context.took_urgent = true;
  if (RemotePages::is_ours(message)) {
    if (!remote_.received(from, message, context.counters)) malformed(from);
    return;
  }
  std::lock_guard hold(mutex_);
  step(protocol::Received{from, message}, context.counters);
}

// The launcher detects every death by itself. It ends the job or reports the death to this node; if
// it does neither, this node ends the job.
void Engine::lost(NodeId peer, std::string_view why) {
  std::lock_guard hold(mutex_);
  if (lost_at_ns_ != 0) return;
  lost_ = peer;
  loss_ = fmt::format("node {} on {} is lost: {}", peer.value, bootstrap_.host_name(peer), why);
  lost_at_ns_ = platform::now_ns();
}

std::optional<LockId> Engine::held_by(const ThreadContext& context) {
  std::lock_guard hold(mutex_);
  return core_.locks().held_by(context.strand.waiter());
}

protocol::Region Engine::allocation_of(std::uint64_t block) {
  std::lock_guard hold(mutex_);
  const protocol::Region* region = core_.region_of(block);
  return region == nullptr ? protocol::Region{} : *region;
}

}  // namespace terrane::runtime
