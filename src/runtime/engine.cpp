#include "runtime/engine.h"

#include <pthread.h>
#include <sched.h>

#include <cstdlib>

#include "base/check.h"
#include "runtime/quiet_thread.h"

namespace terrane::runtime {
namespace {

constexpr std::uint32_t kMostFlushes = 64;             // messages that a release has under way
constexpr std::uint64_t kLossGraceNs = 5'000'000'000;  // in which the launcher may end the job
constexpr std::uint64_t kSleepNs = 100'000'000;        // a bound on every sleep

}  // namespace

Engine::Engine(PageSpace& space, transport::Transport& transport, bootstrap::Bootstrap& bootstrap,
               ThreadRegistry& threads, protocol::Core& core, protocol::Hlrc& hlrc,
               DeathHandler on_death)
    : space_(space),
      transport_(transport),
      bootstrap_(bootstrap),
      threads_(threads),
      remote_(space, transport, threads, hlrc.promises()),
      core_(core),
      hlrc_(hlrc),
      on_death_(std::move(on_death)) {
  effects_.bytes.reserve(1 << 16);
  handler_ = start_without_signals([this] { handle(); });
}

Engine::~Engine() { stop(); }

void Engine::stop() {
  if (!handler_.joinable()) return;
  stopping_.store(true);
  transport_.interrupt();
  handler_.join();
}

std::uint64_t Engine::perform(ThreadContext& context, const protocol::Step& step) {
  using enum protocol::StepKind;
  switch (step.kind) {
    case kPause:
      if (step.flag) ::sched_yield();
      return 0;
    case kWait:
      platform::wait_while_equal(*step.word, static_cast<std::uint32_t>(step.value));
      return 0;
    case kWake:
      platform::futex_wake_all(*step.word);
      return 0;
    case kCall:
      return call(context, *step.event);
    case kTell:
      tell(context, *step.event);
      return 0;
    case kLoadOwner:
    case kClaimOwner:
      if (!space_.reaches(step.node)) return exchange(context, step);
      break;
    case kFetch:
      return exchange(context, step);
    case kPostDiff:
      return post(context, step);
    case kSendNews:
      remote_.send_news(step, context);
      return 0;
    case kTakeNews:
      return take_news(context, step);
    case kForgetNews:
      remote_.forget_news(static_cast<std::uint32_t>(step.value));
      return 0;
    case kAwaitFlush:
      remote_.send_posted(context);
      wait_until(context, [&] { return context.flushed(); });
      return 0;
    default:
      break;
  }
  return space_.perform(step, context.strand, context.counters);
}

std::uint64_t Engine::exchange(ThreadContext& context, const protocol::Step& step) {
  remote_.ask(step, context);
  wait_until(context, [&] { return context.exchange.done.load() != 0; });
  return context.exchange.result;
}

std::uint64_t Engine::take_news(ThreadContext& context, const protocol::Step& step) {
  std::uint64_t result = 0;
  wait_until(context, [&] { return remote_.take_news(step, context, result); });
  return result;
}

std::uint64_t Engine::post(ThreadContext& context, const protocol::Step& step) {
  std::uint64_t changed = remote_.post(step, context);
  if (context.flushes.load(std::memory_order_relaxed) > kMostFlushes)
    wait_until(context, [&] { return context.flushes.load() <= kMostFlushes / 2; });
  return changed;
}

void Engine::tell(ThreadContext& context, const protocol::Event& event) {
  std::lock_guard hold(mutex_);
  step(event, context.counters);
}

std::uint64_t Engine::call(ThreadContext& context, const protocol::Event& event) {
  context.resumed.store(0, std::memory_order_relaxed);
  {
    std::lock_guard hold(mutex_);
    step(event, context.counters);
  }
  if (context.resumed.load(std::memory_order_acquire) == 0)
    wait_until(context, [&] { return context.resumed.load() != 0; });
  return context.strand.result;
}

// Under the mutex. Messages are sent under it too: their order for each pair is the order of the
// steps.
void Engine::step(const protocol::Event& event, Counters& counters) {
  effects_.clear();
  core_.step(event, effects_);
  for (const auto& effect : effects_.list) {
    if (const auto* send = std::get_if<protocol::Send>(&effect)) {
      carry_out(*send, counters);
    } else if (const auto* resume = std::get_if<protocol::Resume>(&effect)) {
      carry_out(*resume);
    } else if (const auto* drop = std::get_if<protocol::Drop>(&effect)) {
      drops_.push_back(*drop);
      transport_.interrupt();  // the handler thread does it
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

void Engine::carry_out(const protocol::Send& send, Counters& counters) {
  counters.messages_sent.add(1);
  counters.message_bytes_sent.add(send.size);
  transport_.send(send.to, {effects_.bytes.data() + send.offset, send.size});
}

void Engine::carry_out(const protocol::Resume& resume) {
  ThreadContext& context = threads_.at(resume.waiter);
  context.strand.result = resume.value;
  const std::byte* payload = effects_.bytes.data() + resume.offset;
  context.strand.inbox.assign(payload, payload + resume.size);
  context.resumed.store(1, std::memory_order_seq_cst);
  if (context.sleeping.load(std::memory_order_seq_cst) != 0) transport_.interrupt();
}

// done() is asked again and again; whoever makes it true looks at context.sleeping afterwards.
template <typename Done>
void Engine::wait_until(ThreadContext& context, Done done) {
  std::uint64_t from = platform::now_ns();
  platform::Backoff backoff;
  Patience patience;
  transport_.attend();
  while (!done()) {
    if (transport_.pending() && transport_.poll(*this) > 0) continue;
    if (backoff.pause()) continue;
    transport_.unattend();
    context.sleeping.store(1, std::memory_order_seq_cst);
    if (!done()) transport_.sleep(kSleepNs);
    context.sleeping.store(0, std::memory_order_relaxed);
    if (double seconds = patience.due(); seconds > 0) {
      std::lock_guard hold(mutex_);
      WaitReports::tell(core_, context, seconds);
    }
    transport_.attend();
  }
  if (transport_.unattend()) poll_all();
  context.waited_ns += platform::now_ns() - from;
}

void Engine::poll_all() {
  while (transport_.pending() && transport_.poll(*this) > 0) {
  }
}

void Engine::handle() {
  pthread_setname_np(pthread_self(), "terrane-handler");
  ThreadContext& context = threads_.current();
  while (!stopping_.load()) {
    transport_.sleep(kSleepNs);
    std::uint64_t from = platform::now_ns();
    poll_all();
    run_drops(context);
    if (hlrc_.is_over_limit()) run(context, hlrc_.trim(context.strand));
    look_after_deaths();
    look_after_locks();
    context.counters.handler_ns.add(platform::now_ns() - from);
  }
}

// Freed regions. On a host an operation waits only for threads of its own node that make progress
// by themselves.
void Engine::run_drops(ThreadContext& context) {
  for (;;) {
    protocol::Drop drop;
    {
      std::lock_guard hold(mutex_);
      if (drops_.empty()) return;
      drop = drops_.back();
      drops_.pop_back();
    }
    run(context, hlrc_.drop(context.strand, drop.region, drop.blocks));
    tell(context, protocol::RegionDropped{drop.region, drop.blocks});
  }
}

void Engine::received(NodeId from, transport::Bytes message) {
  ThreadContext& context = threads_.current();
  if (RemotePages::is_ours(message)) {
    if (!remote_.received(from, message, context.counters)) malformed(from);
    return;
  }
  std::lock_guard hold(mutex_);
  step(protocol::Received{from, message}, context.counters);
}

// The launcher sees every death by itself, and ends the job or tells us. Should it do neither, we
// end it.
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

void Engine::look_after_locks() {
  std::uint64_t now = platform::now_ns();
  if (now < locks_due_ns_) return;
  locks_due_ns_ = now + kSleepNs;
  std::lock_guard hold(mutex_);
  reports_.look(core_, threads_);
}

void Engine::look_after_deaths() {
  while (auto news = bootstrap_.take_news()) {
    on_death_(*news);
    std::lock_guard hold(mutex_);
    if (lost_ == news->node) lost_at_ns_ = 0;
  }
  std::lock_guard hold(mutex_);
  if (lost_at_ns_ != 0 && platform::now_ns() - lost_at_ns_ >= kLossGraceNs)
    bootstrap_.fail(loss_, 1);
}

}  // namespace terrane::runtime
