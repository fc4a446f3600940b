#include "runtime/snapshots.h"

#include <pthread.h>

#include <algorithm>
#include <string_view>

#include "base/log.h"
#include "platform/quiet_thread.h"
#include "platform/wait.h"
#include "runtime/report_names.h"

namespace terrane::runtime {
namespace {

using bootstrap::NodeSnapshot;

constexpr std::size_t kMostNames = 4096;  // that are remembered
// To look which pages are homes and which copies may take a fiftieth of the time at most.
constexpr std::uint64_t kMemoryShare = 50;
// What a lock costs beside the waiting, in nanoseconds, about.
constexpr std::uint64_t kAcquireCost = 50, kRemoteCost = 1000;

void add_time(Ongoing::Now now, std::uint64_t ns, NodeSnapshot& to) {
  switch (now.what) {
    case Ongoing::What::kNothing:
      break;
    case Ongoing::What::kFault:
      to.fault_ns += ns;
      break;
    case Ongoing::What::kLock:
      to.lock_ns += ns;
      break;
    case Ongoing::What::kBarrier:
      to.barrier_ns += ns;
      break;
  }
}

void add_events(const Counters& c, NodeSnapshot& to) {
  to.read_faults += c.read_faults.get();
  to.write_faults += c.write_faults.get();
  to.zeros += c.zero_fills.get();
  to.fetched += c.pages_fetched.get();
  to.refreshed += c.pages_refreshed.get();
  to.flushed += c.pages_flushed.get();
  to.flushed_bytes += c.bytes_flushed.get();
  to.evicted += c.pages_evicted.get();
  to.acquires += c.lock_acquires.get();
  to.barriers += c.barriers.get();
  to.sent += c.messages_sent.get();
  to.sent_bytes += c.message_bytes_sent.get();
  to.received += c.messages_received.get();
  to.received_bytes += c.message_bytes_received.get();
}

std::uint64_t cost_of(const bootstrap::LockCounts& counts) {
  return counts.waited_ns + kRemoteCost * counts.remote + kAcquireCost * counts.acquires;
}

}  // namespace

std::vector<bootstrap::LockSnapshot> HotLocks::hottest(const LockCounters& locks,
                                                       std::size_t most) {
  const std::vector<LockCounters::Lock>& all = locks.all();
  seen_.resize(all.size());
  std::vector<std::pair<std::uint64_t, bootstrap::LockSnapshot>> found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::uint64_t id = all[i].id.load();
    if (id == 0) continue;
    Seen& seen = seen_[i];
    bootstrap::LockCounts now{all[i].acquires, all[i].remote, all[i].wait_ns};
    bootstrap::LockCounts recent{now.acquires - seen.counts.acquires,
                                 now.remote - seen.counts.remote,
                                 now.waited_ns - seen.counts.waited_ns};
    seen.heat = seen.heat / 2 + cost_of(recent);
    seen.counts = now;
    if (seen.heat > 0) found.push_back({seen.heat, {id - 1, "", recent, now}});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (found.size() > most) found.resize(most);
  std::vector<bootstrap::LockSnapshot> hot;
  for (auto& one : found) hot.push_back(std::move(one.second));
  return hot;
}

void Snapshots::asked() {
  questions_.fetch_add(1);
  if (thread_.joinable()) return platform::futex_wake_all(questions_);
  begin_counting();
  auto started = platform::without_exceptions([this]() -> base::Result<> {
    thread_ = platform::start_without_signals([this] { run(); });
    return {};
  });
  if (!started) base::log("cannot be watched: {}", started.error().message);
}

void Snapshots::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  questions_.fetch_add(1);
  platform::futex_wake_all(questions_);
  thread_.join();
}

void Snapshots::set_names(ProgramNames names) {
  std::lock_guard hold(naming_);
  names_ = std::move(names);
}

void Snapshots::run() {
  pthread_setname_np(pthread_self(), "terrane-look");
  std::uint32_t answered = 0;
  while (!stopping_) {
    std::uint32_t questions = questions_.load();
    if (questions == answered) {
      platform::futex_wait(questions_, questions, 0);
      continue;
    }
    answered = questions;
    from_.job.answer(bootstrap::encode_snapshot(make()), from_.job.interfaces());
  }
}

void Snapshots::begin_counting() {
  if (pages_ != nullptr) return;
  SiteCounters* sites = from_.sites;
  if (sites == nullptr) {
    own_sites_ = std::make_unique<SiteCounters>(from_.space.mapping().bytes(), from_.space.unit(),
                                                from_.space.nodes());
    sites = own_sites_.get();
  }
  pages_ = &sites->watch_pages();
  if (from_.sites == nullptr) from_.threads.count_sites(sites);
  locks_ = from_.locks;
  if (locks_ != nullptr) return;
  own_locks_ = std::make_unique<LockCounters>();
  locks_ = own_locks_.get();
  from_.count_locks(own_locks_.get());
}

NodeSnapshot Snapshots::make() {
  NodeSnapshot one;
  add_threads(one);
  add_memory(one);
  add_pages(one);
  add_locks(one);
  return one;
}

// A thread's counts come with the time of its reading, so that all times are of one moment.
void Snapshots::add_threads(NodeSnapshot& to) {
  scale_.mark();
  to.at_ns = platform::now_ns();
  to.age_ns = to.at_ns - from_.joined_ns;
  to.recent_ns = before_ns_ == 0 ? 0 : to.at_ns - before_ns_;
  before_ns_ = to.at_ns;
  from_.threads.for_each([&](const ThreadContext& context) {
    const Counters& c = context.counters;
    add_events(c, to);
    const char* role = context.role;
    to.handler_ns += c.handler_ns.get();
    if (role != nullptr) return;
    std::uint64_t since_ns = context.since_ns;
    if (since_ns != 0) ++to.threads;
    to.lived_ns += context.lived_ns.get() + (since_ns == 0 ? 0 : to.at_ns - since_ns);
    to.fault_ns += c.fetch_ns.get();
    to.lock_ns += c.lock_ns.get();
    to.barrier_ns += c.barrier_ns.get();
    to.protocol_ns += c.overhead_ns.get();
    Ongoing::Now now = context.ongoing.now();
    std::uint64_t ticks = platform::ticks();
    if (ticks > now.since) add_time(now, scale_.duration_ns(ticks - now.since), to);
  });
}

void Snapshots::add_memory(NodeSnapshot& to) {
  PageSpace& space = from_.space;
  to.kept_bytes = space.kept_bytes(space.self());
  to.limit_bytes = KeptPages::limit_bytes(space);
  std::uint64_t from_ns = platform::now_ns();
  if (from_ns >= memory_due_ns_) {
    const protocol::BlockSet& cached = from_.hlrc.state().cached;
    std::uint64_t kept = 0, copies = from_.sc.copies();
    for (auto run = KeptPages::next(space, 0); run.count > 0;
         run = KeptPages::next(space, run.end())) {
      kept += run.count;
      for (auto part = cached.next_run(run.first, run.end()); part.count > 0;
           part = cached.next_run(part.end(), run.end()))
        copies += part.count;
    }
    copies_ = copies * space.unit();
    homes_ = (kept - std::min(kept, copies)) * space.unit();
    std::uint64_t now_ns = platform::now_ns();
    memory_due_ns_ = now_ns + kMemoryShare * (now_ns - from_ns);
  }
  to.copy_bytes = copies_;
  to.home_bytes = homes_;
}

void Snapshots::add_pages(NodeSnapshot& to) {
  for (const HotPages::Page& page : pages_->hottest(NodeSnapshot::kMostListed)) {
    auto address = reinterpret_cast<std::uintptr_t>(from_.space.address_of(page.block));
    to.pages.push_back({page.block, address, name_of_page(page), page.recent, page.total});
  }
}

void Snapshots::add_locks(NodeSnapshot& to) {
  to.locks = hot_locks_.hottest(*locks_, NodeSnapshot::kMostListed);
  std::lock_guard hold(naming_);
  for (bootstrap::LockSnapshot& lock : to.locks) {
    if (known_locks_.size() > kMostNames) known_locks_.clear();
    auto [known, is_new] = known_locks_.try_emplace(lock.token);
    if (is_new) known->second = name_of_lock(lock.token, names_);
    lock.name = known->second;
  }
}

// Variables stay where they are; what lies in an allocation may be another one the next time.
std::string Snapshots::name_of_page(const HotPages::Page& page) {
  std::lock_guard hold(naming_);
  if (known_pages_.size() > kMostNames) known_pages_.clear();
  std::uint64_t unit = from_.space.unit();
  auto found = known_pages_.find(page.block);
  if (found != known_pages_.end()) return found->second;
  auto address = reinterpret_cast<std::uintptr_t>(from_.space.address_of(page.block));
  if (names_.variables) {
    std::string name = names_.variables(address, unit);
    if (!name.empty()) return known_pages_[page.block] = name;
  }
  NamedVariable at = variable_of(page.block * unit + page.offset, from_.space, from_.engine, {});
  return at.offset < unit ? at.name : fmt::format("{}+{:#x}", at.name, at.offset / unit * unit);
}

}  // namespace terrane::runtime
