#include "runtime/statistics.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

#include "runtime/sharing_watch.h"

namespace terrane::runtime {
namespace {

constexpr std::size_t kMostLines = 16;

// Zeros that take no memory until they are written; nullptr: there is none.
void* map_zeros(std::uint64_t bytes) {
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

template <typename Line, typename Cost>
void keep_dearest(std::vector<Line>& lines, Cost cost) {
  std::stable_sort(lines.begin(), lines.end(),
                   [&](const Line& a, const Line& b) { return cost(a) > cost(b); });
  if (lines.size() > kMostLines) lines.resize(kMostLines);
}

void add_threads(const std::vector<ThreadLine>& threads, std::string& text) {
  text +=
      fmt::format("  {:<16}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>13}{:>10} {:>8} {:>6}\n",
                  "seconds of", "compute", "fault", "lock", "barrier", "handler", "overhead",
                  "faults", "fetched", "zeros", "flushed KiB", "refreshed", "scans", "idle");
  for (const ThreadLine& t : threads) {
    double other = t.pages + t.locks + t.barriers + t.serves + t.protocol;
    double compute = t.is_of_program ? std::max(t.lived - other, 0.0) : 0;
    text += fmt::format("  {:<16}{:>9.3f}{:>9.3f}{:>9.3f}{:>9.3f}{:>9.3f}{:>9.3f}", t.name, compute,
                        t.pages, t.locks, t.barriers, t.serves, t.protocol);
    text += fmt::format("{:>9}{:>9}{:>9}{:>13}{:>10} {:>8} {:>6}\n", t.faults, t.fetched, t.zeros,
                        t.flushed_bytes >> 10, t.refreshed, t.scans, t.idle_scans);
  }
}

void add_sites(const std::vector<SiteLine>& sites, std::string& text) {
  if (sites.empty()) return;
  text += fmt::format("  {:<32}{:>10}{:>9}{:>9}{:>9}{:>12}{:>10}\n", "memory", "KiB", "faults",
                      "fetched", "zeros", "flushed KiB", "refreshed");
  for (const SiteLine& s : sites)
    text += fmt::format("  {:<32}{:>10}{:>9}{:>9}{:>9}{:>12}{:>10}\n", s.name, s.bytes >> 10,
                        s.faults, s.fetched, s.zeros, s.flushed_bytes >> 10, s.refreshed);
}

void add_locks(const std::vector<LockLine>& locks, std::string& text) {
  if (locks.empty()) return;
  text += fmt::format("  {:<40}{:>10}{:>9}{:>9}{:>9}{:>10}\n", "lock", "acquires", "remote",
                      "wait s", "dropped", "refreshed");
  for (const LockLine& l : locks)
    text += fmt::format("  {:<40}{:>10}{:>9}{:>9.3f}{:>9}{:>10}\n", l.name, l.acquires, l.remote,
                        l.wait, l.dropped, l.refreshed);
}

}  // namespace

SiteCounters::SiteCounters(std::uint64_t space_bytes, std::uint64_t unit_bytes, std::uint32_t nodes)
    : unit_(unit_bytes),
      count_((space_bytes + kStretch - 1) / kStretch),
      used_((count_ + kGroup - 1) / kGroup),
      writes_((space_bytes + unit_bytes - 1) / unit_bytes),
      moved_(nodes) {
  sites_ = static_cast<Site*>(map_zeros(count_ * sizeof(Site)));
  std::uint64_t blocks = space_bytes / unit_bytes;
  evicted_bytes_ = protocol::BlockSet::words_needed(blocks) * sizeof(protocol::BlockSet::Word);
  evicted_words_ = map_zeros(evicted_bytes_);
  if (evicted_words_ != nullptr)
    evicted_ = protocol::BlockSet(static_cast<protocol::BlockSet::Word*>(evicted_words_), blocks);
}

void SiteCounters::watch_sharing(std::unique_ptr<SharingWatch> watch) {
  sharing_ = std::move(watch);
}

SiteCounters::~SiteCounters() {
  if (sites_ != nullptr) ::munmap(sites_, count_ * sizeof(Site));
  if (evicted_words_ != nullptr) ::munmap(evicted_words_, evicted_bytes_);
}

HotPages& SiteCounters::watch_pages() {
  std::lock_guard hold(watching_);
  if (owned_hot_ == nullptr) owned_hot_ = std::make_unique<HotPages>();
  hot_.store(owned_hot_.get(), std::memory_order_release);
  return *owned_hot_;
}

void SiteCounters::note_fault(std::uint64_t offset, bool zeros, std::uint64_t ns) {
  std::uint64_t block = offset / unit_;
  Site& site = of(block);
  ++site.faults;
  if (zeros) ++site.zeros;
  site.waited_ns += ns;
  if (HotPages* hot = hot_.load(std::memory_order_acquire))
    hot->note_fault(block, offset % unit_, ns);
}

void SiteCounters::note_flushed(std::uint64_t block, std::uint64_t bytes, NodeId to) {
  of(block).flushed += bytes;
  writes_.note_flushed(block);
  moved_[to.value].sent += bytes;
  if (HotPages* hot = hot_.load(std::memory_order_acquire))
    hot->note(block, HotPages::What::kFlushed, bytes);
}

void SiteCounters::note_refreshed(std::uint64_t block) {
  ++of(block).refreshed;
  if (HotPages* hot = hot_.load(std::memory_order_acquire))
    hot->note(block, HotPages::What::kRefreshed);
}

void SiteCounters::note_fetched(protocol::BlockRange blocks, NodeId from) {
  of(blocks.first).fetched += static_cast<std::uint32_t>(blocks.count);
  moved_[from.value].came += blocks.count * unit_;
  if (HotPages* hot = hot_.load(std::memory_order_acquire))
    for (std::uint64_t b = blocks.first; b < blocks.end(); ++b)
      hot->note(b, HotPages::What::kFetched);
  for (std::uint64_t b = blocks.first; evicted_words_ != nullptr && b < blocks.end(); ++b) {
    if (!evicted_.contains(b)) continue;
    evicted_.erase(b);
    refetched_.fetch_add(1, std::memory_order_relaxed);
  }
}

void SiteCounters::for_each(const std::function<void(std::uint64_t, const Site&)>& call) const {
  for (std::uint64_t i = 0; i < count_; ++i) {
    if (!used_[i / kGroup].load(std::memory_order_relaxed)) {
      i += kGroup - 1 - i % kGroup;
      continue;
    }
    const Site& site = sites_[i];
    if (site.faults + site.fetched + site.zeros + site.refreshed + site.flushed > 0)
      call(i * kStretch / unit_, site);
  }
}

LockCounters::Lock& LockCounters::of(LockId id) {
  std::uint64_t wanted = id.value + 1;
  std::size_t at = wanted * 0x9e3779b97f4a7c15u >> 32;
  for (std::size_t i = 0; i < kProbes; ++i) {
    Lock& lock = locks_[(at + i) % kRoom];
    std::uint64_t there = lock.id.load(std::memory_order_relaxed);
    if (there == wanted || (there == 0 && lock.id.compare_exchange_strong(there, wanted)) ||
        there == wanted)
      return lock;
  }
  return others_;
}

std::string statistics_text(const std::string& node, std::vector<ThreadLine> threads,
                            std::vector<SiteLine> sites, std::vector<LockLine> locks) {
  keep_dearest(threads, [](const ThreadLine& t) { return t.is_of_program ? t.lived : -1.0; });
  keep_dearest(sites, [](const SiteLine& s) { return s.fetched + s.faults + s.refreshed; });
  keep_dearest(locks, [](const LockLine& l) { return l.wait; });
  std::string text = fmt::format("terrane: {}\n", node);
  add_threads(threads, text);
  add_sites(sites, text);
  add_locks(locks, text);
  return text;
}

}  // namespace terrane::runtime
