#include "runtime/chunks/chunk_engine.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "platform/quiet_thread.h"
#include "platform/wait.h"
#include "runtime/chunks/engine_reports.h"
#include "runtime/chunks/subscriptions.h"
#include "waiting/backoff.h"

namespace terrane::runtime::chunks {
namespace {

constexpr std::uint64_t kSweepNs = 50'000'000;
constexpr std::uint64_t kRelayShare = 4;  // of a server's memory, a quarter for what it relays

// nullptr: there is one cluster, or nodes may die or join.
std::unique_ptr<const protocol::Clusters> clusters_of(const EngineConfig& config,
                                                      const bootstrap::Bootstrap& bootstrap) {
  bool fixed = !config.survives && bootstrap.guests() == 0 && !bootstrap.is_guest();
  if (!config.clusters || !fixed || bootstrap.clusters().empty()) return nullptr;
  return std::make_unique<protocol::Clusters>(bootstrap.nodes(), bootstrap.hosts().data(),
                                              bootstrap.clusters().data());
}

}  // namespace

ChunkEngine::ChunkEngine(const EngineConfig& config, BufferPool& pool,
                         transport::Transport& transport, bootstrap::Bootstrap& bootstrap,
                         Readiness& readiness, Members& members)
    : config_(config),
      trace_(config.log != nullptr ? std::make_unique<ChunkTrace>(*config.log, config.log_every)
                                   : nullptr),
      transport_(transport),
      bootstrap_(bootstrap),
      pool_(pool),
      readiness_(readiness),
      members_(members),
      clusters_(clusters_of(config, bootstrap)),
      machine_({.self = config.self,
                .budget_bytes = config.budget_bytes,
                .home_bytes = config.home_bytes,
                .relay_bytes = config.home_bytes / kRelayShare,
                .clusters = clusters_.get()}),
      memory_(pool),
      view_(config.view),
      leaves_(bootstrap.nodes()),
      parted_(bootstrap.nodes()),
      closed_(bootstrap.guests() == 0),
      reports_(std::make_unique<EngineReports>(*this)) {
  for (std::uint32_t n = 0; n < bootstrap.nodes(); ++n) {
    NodeId node{n};
    bool near = bootstrap.hosts()[n] == bootstrap.hosts()[config.self.value];
    shares_.push_back(config.shares && near && node != config.self &&
                      transport.reach(node, 0) != nullptr);
  }
  step(machine::ViewChanged{&view_});
  handler_.start({[this](std::uint64_t timeout_ns, std::uint64_t) { transport_.sleep(timeout_ns); },
                  [this] { transport_.interrupt(); }, [this] { return turn(); }});
  stop_.reset(::eventfd(0, EFD_CLOEXEC));
  if (bootstrap_.news_fd() >= 0 && stop_) start_listener();
}

void ChunkEngine::start_listener() try {
  listener_ = platform::start_without_signals([this] { hear_news(); });
} catch (const std::system_error&) {
  stop();
  throw;
}

ChunkEngine::~ChunkEngine() {
  stop();
  forget_memory();
}

void ChunkEngine::forget_memory() {
  std::lock_guard hold(mutex_);
  scopes_.clear();
  memory_.clear();
}

// ---- Calls

template <typename MakeEvent>
ChunkEngine::Answer ChunkEngine::call_for_scope(Waiter& waiter, ChunkId chunk,
                                                trace::ScopeOrigin origin,
                                                std::uint64_t deadline_ns, MakeEvent make) {
  Answer answer = call(waiter, deadline_ns, make);
  if (origin == trace::ScopeOrigin::kTake && answer.status == machine::Status::kOk)
    streams_.taken(chunk, waiter.waited_ns);
  bool noted_when_over = answer.at_once && origin == trace::ScopeOrigin::kOpen;
  if (trace_ && !noted_when_over) {
    bool at_once = waiter.since == 0 && answer.status == machine::Status::kOk;
    std::uint64_t now = at_once ? answer.opened : platform::ticks();
    std::uint64_t waited = waiter.since == 0 ? 0 : now - waiter.since;
    trace_->answered({.chunk = chunk,
                      .mode = waiter.mode,
                      .origin = origin,
                      .status = answer.status,
                      .version = answer.version,
                      .missed = answer.missed,
                      .time = now,
                      .waited = waited});
  }
  return answer;
}

ChunkEngine::Answer ChunkEngine::create(machine::Create event) {
  Waiter waiter;
  waiter.wants =
      event.unplaced == machine::Create::Unplaced::kWait ? Wants::kPlace : Wants::kCreation;
  waiter.name = event.name;
  return call(waiter, event.deadline_ns, [&](protocol::WaiterId id) {
    event.waiter = id;
    return event;
  });
}

ChunkEngine::Answer ChunkEngine::find(std::string_view name, bool wait, std::uint64_t deadline_ns) {
  Waiter waiter;
  waiter.wants = wait ? Wants::kName : Wants::kAnswers;
  waiter.name = name;
  return call(waiter, deadline_ns, [&](protocol::WaiterId id) {
    return machine::Find{name, wait, deadline_ns, id};
  });
}

ChunkEngine::Answer ChunkEngine::open(ChunkId chunk, Mode mode, machine::Range range, Wait wait,
                                      std::uint64_t deadline_ns) {
  Waiter waiter;
  waiter.wants = Wants::kScope;
  waiter.mode = mode;
  waiter.chunk = chunk;
  waiter.range = range;
  return call_for_scope(waiter, chunk, trace::ScopeOrigin::kOpen, deadline_ns,
                        [&](protocol::WaiterId id) {
                          return machine::Open{chunk, mode, wait, deadline_ns, id};
                        });
}

ChunkEngine::Answer ChunkEngine::take(ChunkId chunk, Wait wait, std::uint64_t deadline_ns,
                                      bool reports) {
  Waiter waiter;
  waiter.wants = Wants::kVersion;
  waiter.reports = reports;
  waiter.chunk = chunk;
  return call_for_scope(waiter, chunk, trace::ScopeOrigin::kTake, deadline_ns,
                        [&](protocol::WaiterId id) {
                          return machine::Take{chunk, wait, deadline_ns, id};
                        });
}

ChunkEngine::Answer ChunkEngine::subscribe(ChunkId chunk, machine::Range range,
                                           machine::Policy policy, std::uint32_t window,
                                           Notice notice) {
  Waiter waiter;
  waiter.wants = Wants::kSubscription;
  waiter.chunk = chunk;
  return call(waiter, machine::kNever, [&](protocol::WaiterId id) {
    notices_.try_emplace(chunk.value, std::move(notice));
    return machine::Subscribe{chunk, policy, window, id, range};
  });
}

void ChunkEngine::unsubscribe(ChunkId chunk) {
  std::lock_guard hold(mutex_);
  notices_.erase(chunk.value);
  step(machine::Unsubscribe{chunk});
}

ChunkEngine::Answer ChunkEngine::hint(ChunkId chunk, machine::Coherence coherence,
                                      std::uint64_t deadline_ns) {
  Waiter waiter;
  waiter.wants = Wants::kCoherence;
  waiter.chunk = chunk;
  return call(waiter, deadline_ns, [&](protocol::WaiterId id) {
    return machine::Hint{chunk, coherence, deadline_ns, id};
  });
}

// A client gives back what it has, and leaves. False: it is a server, or has become one.
bool ChunkEngine::leave_alone() {
  {
    std::lock_guard hold(mutex_);
    if (serves(config_.self) || machine_.work_home().is_needed()) return false;
  }
  Waiter waiter;
  waiter.wants = Wants::kServers;
  call(waiter, machine::kNever, [](protocol::WaiterId id) { return machine::Leave{id}; });
  std::lock_guard hold(mutex_);
  leaving_in_order_.store(!serves(config_.self));
  return leaving_in_order_.load();
}

void ChunkEngine::drop(ChunkId chunk) {
  std::lock_guard hold(mutex_);
  step(machine::Drop{chunk});
}

bool ChunkEngine::close(ScopeId id) {
  std::lock_guard hold(mutex_);
  auto at = scopes_.find(id.value);
  if (at == scopes_.end()) return false;
  Scope scope = std::move(at->second);
  scopes_.erase(at);
  scope.buffer.reset();
  if (scope.mode != Mode::kRead) streams_.written(scope.chunk, scope.range.bytes);
  if (scope.works) {
    step(machine::WorkRelease{scope.chunk, scope.place});
    return true;
  }
  if (trace_)
    trace_->closed({*scope.copy, scope.chunk, scope.mode, scope.version, scope.since, scope.noted});
  std::uint64_t now = trace_ ? platform::ticks() : 0;  // before the version is taken
  step(machine::Close{scope.chunk, scope.mode, scope.place, scope.range});
  bool wrote = scope.mode != Mode::kRead && scope.copy->pushed() && !scope.copy->gone;
  if (trace_ && wrote) trace_->published(scope.chunk, scope.copy->version, scope.copy->bytes, now);
  return true;
}

ChunkEngine::Facts ChunkEngine::facts(ChunkId chunk) const {
  std::lock_guard hold(mutex_);
  const machine::ChunkCache::Copy* copy = machine_.cache().copy(chunk);
  if (copy == nullptr) return {};
  return {copy->name, copy->bytes, copy->coherence, machine::home_of(chunk, view_)};
}

// ---- Waiting

void ChunkEngine::finish(Waiter& waiter) {
  waiter.done.store(1, std::memory_order_seq_cst);
  if (waiter.sleeping.load(std::memory_order_seq_cst) != 0) transport_.interrupt();
}

// At the deadline the machine gets the current time. Then it answers the waits that it knows of;
// any other wait ends here.
void ChunkEngine::wait_for(Waiter& waiter, std::uint64_t deadline_ns) {
  waiting::Backoff backoff(~0ull, waiting::kVersionCrowdedNs);
  bool reports = waiter.wants != Wants::kAnswers && waiter.reports && config_.patience_ms != 0;
  std::uint64_t report_ns =
      reports ? platform::now_ns() + config_.patience_ms * 1'000'000 : machine::kNever;
  std::uint32_t looks = 0;  // a wait that never sleeps reads the clock from time to time
  transport_.attend();
  while (waiter.done.load() == 0) {
    if (transport_.pending() && transport_.poll(*this) > 0) continue;
    std::uint64_t now = deadline_ns == machine::kNever ? 0 : platform::now_ns();
    if (now >= deadline_ns) {
      std::lock_guard hold(mutex_);
      step(machine::Elapsed{now});
      break;
    }
    if (!backoff.is_short()) Subscriptions::give_turn();  // it may never sleep
    bool asks_time = reports && ++looks % waiting::kLooksAtClock == 0;
    if (backoff.pause() && !(asks_time && platform::now_ns() >= report_ns)) continue;
    transport_.unattend();
    now = platform::now_ns();
    if (now >= report_ns) {
      report_ns = machine::kNever;
      reports_->report(waiter, deadline_ns);
      now = platform::now_ns();
    }
    waiter.sleeping.store(1, std::memory_order_seq_cst);
    std::uint64_t until = std::min(deadline_ns, report_ns);
    if (waiter.done.load() == 0 && until > now)
      transport_.sleep(std::min(waiting::kSleepNs, until - now));
    waiter.sleeping.store(0, std::memory_order_relaxed);
    transport_.attend();
  }
  if (transport_.unattend()) poll_all();
}

void ChunkEngine::poll_all() {
  while (transport_.pending() && transport_.poll(*this) > 0) {
  }
}

waiting::HandlerTurn ChunkEngine::turn() {
  poll_all();
  look_after_deaths();
  std::uint64_t now = platform::now_ns();
  if (now - swept_ns_ < kSweepNs) return {};
  swept_ns_ = now;
  std::lock_guard hold(mutex_);
  pool_.sweep();
  return {};
}

}  // namespace terrane::runtime::chunks
