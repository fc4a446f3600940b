// The report of a node that `--stats` asks for: where its threads' time went (ViSMI, section 5),
// and which memory and which locks cost most.
#include <unistd.h>

#include <map>
#include <string>

#include "runtime/memory_statistics.h"
#include "runtime/node.h"
#include "runtime/sharing_watch.h"
#include "runtime/slow_report.h"
#include "runtime/statistics.h"
#include "runtime/wait_reports.h"

namespace terrane::runtime {
namespace {

constexpr std::uint64_t kLeastBarriers = 10;  // fewer are of the start and the end of the job
constexpr std::uint64_t kLeastTravels = 10;   // of a lock that is said to travel

double seconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

ThreadLine line_of(const ThreadContext& context, std::uint64_t now_ns) {
  const Counters& c = context.counters;
  std::uint64_t lived_ns = context.lived_ns.get();
  if (std::uint64_t since_ns = context.since_ns; since_ns != 0) lived_ns += now_ns - since_ns;
  const char* role = context.role;
  ThreadLine line;
  line.name = role != nullptr ? role : fmt::format("thread {}", context.thread.load());
  line.is_of_program = role == nullptr;
  line.lived = seconds(lived_ns);
  line.pages = seconds(c.fetch_ns.get());
  line.locks = seconds(c.lock_ns.get());
  line.barriers = seconds(c.barrier_ns.get());
  line.serves = seconds(c.handler_ns.get());
  line.protocol = seconds(c.overhead_ns.get());
  line.faults = c.read_faults.get() + c.write_faults.get();
  line.fetched = c.pages_fetched.get();
  line.zeros = c.zero_fills.get();
  line.flushed_bytes = c.bytes_flushed.get();
  line.refreshed = c.pages_refreshed.get();
  line.scans = c.scans.get();
  line.idle_scans = c.idle_scans.get();
  return line;
}

std::vector<SiteLine> site_lines(const SiteCounters& sites, const protocol::Core& core,
                                 std::uint64_t unit) {
  std::map<std::string, SiteLine> by_name;
  const protocol::Region* last = nullptr;
  sites.for_each([&](std::uint64_t block, const SiteCounters::Site& counts) {
    const protocol::Region* region = nullptr;
    for (std::uint64_t b = block; region == nullptr && b < block + SiteCounters::kStretch / unit;
         ++b)
      region = core.region_of(b);
    std::string name = region == nullptr ? "(freed)" : region->name;
    if (name.empty()) name = "(without a name)";
    SiteLine& line = by_name[name];
    line.name = name;
    if (region != nullptr && region != last) line.bytes += region->bytes;
    last = region;
    line.faults += counts.faults;
    line.fetched += counts.fetched;
    line.zeros += counts.zeros;
    line.refreshed += counts.refreshed;
    line.flushed_bytes += counts.flushed;
  });
  std::vector<SiteLine> lines;
  for (auto& [name, line] : by_name) lines.push_back(std::move(line));
  return lines;
}

LockLine line_of(std::string name, const LockCounters::Lock& lock) {
  return {std::move(name), lock.acquires,  lock.remote,
          lock.dropped,    lock.refreshed, seconds(lock.wait_ns)};
}

void add_kept(PageSpace& space, const protocol::Hlrc& hlrc, const protocol::Core& core,
              MemoryLine& line) {
  const protocol::Region* region = nullptr;
  for (auto run = KeptPages::next(space, 0); run.count > 0;
       run = KeptPages::next(space, run.end())) {
    for (std::uint64_t b = run.first; b < run.end(); ++b) {
      if (hlrc.state().cached.contains(b)) line.copies += space.unit();
      if (hlrc.entry(b).state() != protocol::BlockState::kHome) continue;
      if (region == nullptr || b < region->blocks.first || b >= region->blocks.end())
        region = core.region_of(b);
      if (region == nullptr) continue;
      line.homes[static_cast<std::size_t>(program_memory_of(region->name))] += space.unit();
    }
  }
}

void add(const Counters& c, Work& work) {
  work.faults += c.read_faults.get() + c.write_faults.get();
  work.fetched += c.pages_fetched.get();
  work.refreshed += c.pages_refreshed.get();
  work.unused += c.refreshed_unused.get();
  work.flushed += c.pages_flushed.get();
  work.flushed_bytes += c.bytes_flushed.get();
  work.messages += c.messages_sent.get();
  work.waited_ns += c.fetch_ns.get() + c.lock_ns.get() + c.barrier_ns.get() + c.overhead_ns.get();
}

}  // namespace

Work Node::work(bool with_own_threads) {
  Work work;
  add(threads_.current().counters, work);
  std::uint64_t waited_ns = work.waited_ns;
  if (with_own_threads)
    threads_.for_each([&](const ThreadContext& context) {
      if (context.role != nullptr) add(context.counters, work);
    });
  work.waited_ns = waited_ns;
  return work;
}

NodeTimes times_of(const ThreadRegistry& threads, const SiteCounters& sites,
                   const LockCounters& locks, std::uint64_t elapsed_ns) {
  NodeTimes times{.elapsed_ns = elapsed_ns};
  std::uint64_t barriers = 0;
  std::uint64_t now_ns = platform::now_ns();
  threads.for_each([&](const ThreadContext& context) {
    if (context.role != nullptr) return;
    const Counters& c = context.counters;
    std::uint64_t since_ns = context.since_ns;
    times.lived_ns += context.lived_ns.get() + (since_ns == 0 ? 0 : now_ns - since_ns);
    times.fetch_ns += c.fetch_ns.get();
    times.lock_ns += c.lock_ns.get();
    times.barrier_ns += c.barrier_ns.get();
    barriers += c.barriers.get();
  });
  if (barriers < kLeastBarriers) times.barrier_ns = 0;
  if (sites.sharing() != nullptr) times.first_ns = sites.sharing()->first_ns();
  for (const LockCounters::Lock& lock : locks.all()) {
    if (lock.remote < kLeastTravels || lock.wait_ns <= times.lock_wait_ns) continue;
    times.lock = lock.id - 1;
    times.lock_wait_ns = lock.wait_ns;
    times.acquires = lock.acquires;
    times.remote = lock.remote;
  }
  return times;
}

void Node::report() const {
  std::uint64_t now_ns = platform::now_ns();
  std::vector<ThreadLine> threads;
  threads_.for_each([&](const ThreadContext& context) {
    ThreadLine line = line_of(context, now_ns);
    // Skips threads that have done nothing; a thread of the program has, because its stack is
    // shared memory.
    bool has_counts = line.faults + line.scans + line.fetched > 0 || line.locks + line.barriers > 0;
    if (line.lived > 0 && (has_counts || line.serves > 0)) threads.push_back(std::move(line));
  });
  std::vector<LockLine> locks;
  for (const LockCounters::Lock& lock : locks_->all())
    if (lock.id != 0) locks.push_back(line_of(name_of_token(LockId{lock.id - 1}), lock));
  if (locks_->others().wait_ns != 0) locks.push_back(line_of("(others)", locks_->others()));
  std::string text = statistics_text(fmt::format("node {} ({}), {:.3f} s", self().value,
                                                 bootstrap_->host(), seconds(now_ns - joined_ns_)),
                                     std::move(threads),
                                     site_lines(*sites_, *core_, space_->unit()), std::move(locks));
  MemoryLine memory{.limit = memory_[self().value].limit_bytes,
                    .given = core_->rooms().given(),
                    .refetched = sites_->refetched()};
  add_kept(*space_, *hlrc_, *core_, memory);
  threads_.for_each([&](const ThreadContext& context) {
    memory.evicted += context.counters.pages_evicted.get();
    memory.taken += context.counters.pages_adopted.get();
  });
  text += memory_text(memory);
  std::uint64_t link_messages = 0, link_bytes = 0;
  threads_.for_each([&](const ThreadContext& context) {
    link_messages += context.counters.link_messages.get();
    link_bytes += context.counters.link_bytes.get();
  });
  if (bootstrap_->clusters().size() > 0 && link_messages > 0)
    text += fmt::format("  to other clusters: {} messages, {} bytes\n", link_messages, link_bytes);
  for (std::size_t done = 0; done < text.size();) {
    ssize_t written = ::write(STDERR_FILENO, text.data() + done, text.size() - done);
    if (written <= 0) return;
    done += static_cast<std::size_t>(written);
  }
}

}  // namespace terrane::runtime
