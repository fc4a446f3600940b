#include "runtime/node_report.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "runtime/page_trace.h"
#include "runtime/recording.h"
#include "runtime/report_names.h"
#include "runtime/sharing_reporter.h"
#include "runtime/sharing_watch.h"
#include "runtime/slow_report.h"
#include "runtime/statistics.h"
#include "runtime/wait_reports.h"

namespace terrane::runtime {
namespace {

using trace::Event;

constexpr std::size_t kMostLocks = 64, kMostSites = 256;           // of a node's records
constexpr std::size_t kMostHomes = 2048, kMostHomesOfAll = 65536;  // of a node, and of all of them

// What node 0 is to name: tokens of locks, and offsets in shared memory. Sent as it is.
struct Asked {
  std::uint64_t locks = 0;  // how many come first
  std::vector<std::uint64_t> all;
};

std::uint64_t address_at(const PageSpace& space, std::uint64_t offset) {
  return reinterpret_cast<std::uintptr_t>(space.address_of(offset / space.unit())) +
         offset % space.unit();
}

void log_locks(trace::EventLog& log, const LockCounters& locks, Asked& asked) {
  std::vector<const LockCounters::Lock*> all;
  for (const LockCounters::Lock& lock : locks.all())
    if (lock.id != 0) all.push_back(&lock);
  std::stable_sort(all.begin(), all.end(), [](const auto* a, const auto* b) {
    return a->wait_ns.load() > b->wait_ns.load();
  });
  if (all.size() > kMostLocks) all.resize(kMostLocks);
  for (const LockCounters::Lock* lock : all) {
    std::uint64_t token = lock->id - 1;
    log.note(Event::kLock, {.object = token,
                            .value = lock->wait_ns,
                            .number = static_cast<std::uint32_t>(lock->acquires)});
    log.note(Event::kLockTravels,
             {.object = token, .number = static_cast<std::uint32_t>(lock->remote)});
    asked.all.push_back(token);
  }
  asked.locks = asked.all.size();
}

void log_sites(trace::EventLog& log, const SiteCounters& sites, const PageSpace& space,
               Asked& asked) {
  struct One {
    std::uint64_t offset;
    std::uint64_t counts[trace::kMemoryCounts];
  };
  std::vector<One> all;
  sites.for_each([&](std::uint64_t block, const SiteCounters::Site& site) {
    all.push_back({block * space.unit(),
                   {site.faults, site.fetched, site.refreshed, site.flushed, site.waited_ns}});
  });
  auto cost = [](const One& one) {  // what was waited for, then what came
    return std::pair(one.counts[4], one.counts[1] + one.counts[2]);
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const One& a, const One& b) { return cost(a) > cost(b); });
  if (all.size() > kMostSites) all.resize(kMostSites);
  for (const One& one : all) {
    for (std::size_t kind = 0; kind < trace::kMemoryCounts; ++kind)
      if (one.counts[kind] > 0)
        log.note(Event::kMemory, {.object = address_at(space, one.offset),
                                  .value = one.counts[kind],
                                  .kind = static_cast<std::uint8_t>(kind)});
    asked.all.push_back(one.offset);
  }
}

void log_moved(trace::EventLog& log, const SiteCounters& sites) {
  for (std::uint32_t n = 0; n < sites.moved().size(); ++n)
    for (auto [kind, bytes] : {std::pair{trace::Moved::kSent, sites.moved()[n].sent.load()},
                               std::pair{trace::Moved::kCame, sites.moved()[n].came.load()}})
      if (bytes > 0)
        log.note(Event::kMoved,
                 {.value = bytes, .kind = static_cast<std::uint8_t>(kind), .number = n});
}

// How many pages have their home here, by parts of shared memory that are as small as the most
// records permit.
void log_homes(trace::EventLog& log, PageSpace& space, const protocol::Hlrc& hlrc, Asked& asked) {
  std::uint64_t part_blocks = std::max<std::uint64_t>(1, SiteCounters::kStretch / space.unit());
  std::vector<std::pair<std::uint64_t, std::uint32_t>> parts;  // number, pages
  for (auto run = KeptPages::next(space, 0); run.count > 0; run = KeptPages::next(space, run.end()))
    for (std::uint64_t b = run.first; b < run.end(); ++b) {
      if (hlrc.entry(b).state() != protocol::BlockState::kHome) continue;
      if (parts.empty() || parts.back().first != b / part_blocks)
        parts.emplace_back(b / part_blocks, 0);
      ++parts.back().second;
    }
  std::size_t most = std::clamp<std::size_t>(kMostHomesOfAll / space.nodes(), 64, kMostHomes);
  while (parts.size() > most) {
    part_blocks *= 2;
    std::size_t to = 0;
    for (std::size_t from = 0; from < parts.size(); ++from) {
      auto [number, pages] = parts[from];
      if (to == 0 || parts[to - 1].first != number / 2) parts[to++] = {number / 2, 0};
      parts[to - 1].second += pages;
    }
    parts.resize(to);
  }
  for (const auto& [number, pages] : parts) {
    std::uint64_t offset = number * part_blocks * space.unit();
    log.note(Event::kHomes, {.object = address_at(space, offset),
                             .value = part_blocks * space.unit(),
                             .number = pages});
    asked.all.push_back(offset);
  }
}

std::vector<std::byte> bytes_of(const Asked& asked) {
  std::vector<std::byte> bytes(sizeof asked.locks + asked.all.size() * sizeof asked.all[0]);
  std::memcpy(bytes.data(), &asked.locks, sizeof asked.locks);
  if (!asked.all.empty())
    std::memcpy(bytes.data() + sizeof asked.locks, asked.all.data(),
                bytes.size() - sizeof asked.locks);
  return bytes;
}

Asked asked_in(std::span<const std::byte> bytes) {
  Asked asked;
  if (bytes.size() < sizeof asked.locks) return asked;
  std::memcpy(&asked.locks, bytes.data(), sizeof asked.locks);
  bytes = bytes.subspan(sizeof asked.locks);
  asked.all.resize(bytes.size() / sizeof asked.all[0]);
  if (!asked.all.empty())
    std::memcpy(asked.all.data(), bytes.data(), asked.all.size() * sizeof asked.all[0]);
  asked.locks = std::min<std::uint64_t>(asked.locks, asked.all.size());
  return asked;
}

// Node 0's names for what any node has asked for, each once.
class Namer {
 public:
  Namer(trace::EventLog& log, const PageSpace& space, Engine& engine, const ProgramNames& names)
      : log_(log), space_(space), engine_(engine), names_(names) {}

  void name(const Asked& asked) {
    for (std::size_t i = 0; i < asked.all.size(); ++i) {
      if (i < asked.locks) {
        name_lock(asked.all[i]);
      } else {
        name_memory(asked.all[i]);
      }
    }
  }

 private:
  void name_lock(std::uint64_t token) {
    if (locks_.insert(token).second)
      log_.note_text(Event::kNamed, {.object = token}, name_of_lock(token, names_));
  }

  // An allocation has one name. Of static data each part of 64 KiB has that of its variables.
  void name_memory(std::uint64_t offset) {
    protocol::Region region = engine_.allocation_of(offset / space_.unit());
    if (region.blocks.count == 0) return;
    std::string_view own = region.name;
    if (own == "static data" || own == "data of libraries") return name_variables(offset, own);
    if (!regions_.insert(region.blocks.first).second) return;
    log_.note_text(Event::kNamed,
                   {.object = address_at(space_, region.blocks.first * space_.unit()),
                    .value = region.blocks.count * space_.unit()},
                   name_of(own));
  }

  // The same text is asked for again and again, and takes some milliseconds.
  std::string name_of(std::string_view own) {
    constexpr std::size_t kMostLines = 32;
    auto [at, fresh] = texts_.try_emplace(std::string(own), own);
    if (fresh && names_.allocation && texts_.size() <= kMostLines)
      at->second = names_.allocation(at->second);
    return at->second.empty() ? "memory without a name" : at->second;
  }

  void name_variables(std::uint64_t offset, std::string_view own) {
    constexpr std::size_t kMostParts = 64, kMostShown = 3;
    offset -= offset % SiteCounters::kStretch;
    if (!parts_.insert(offset).second || parts_.size() > kMostParts) return;
    std::vector<std::string> found;
    for (std::uint64_t at = 0; at < SiteCounters::kStretch; at += space_.unit())
      for (std::uint64_t inside : {std::uint64_t{0}, space_.unit() / 2}) {
        if (!names_.variable || found.size() > kMostShown) continue;
        std::string name = names_.variable(address_at(space_, offset + at) + inside).name;
        if (!name.empty() && std::find(found.begin(), found.end(), name) == found.end())
          found.push_back(name);
      }
    std::string text = found.empty() ? std::string(own) : "";
    for (std::size_t i = 0; i < std::min(found.size(), kMostShown); ++i)
      text += (i == 0 ? "" : ", ") + found[i];
    if (found.size() > kMostShown) text += ", ...";
    log_.note_text(Event::kNamed,
                   {.object = address_at(space_, offset), .value = SiteCounters::kStretch}, text);
  }

  trace::EventLog& log_;
  const PageSpace& space_;
  Engine& engine_;
  const ProgramNames& names_;
  std::set<std::uint64_t> locks_, regions_, parts_;
  std::map<std::string, std::string> texts_;
};

// nullptr: nothing is counted.
std::unique_ptr<SiteCounters> make_sites(const Options& options, const PageSpace& space) {
  bool has_report = !options.report.empty();
  if (!options.stats && !options.check_sharing && !has_report) return nullptr;
  auto sites = std::make_unique<SiteCounters>(space.mapping().bytes(), space.unit(), space.nodes());
  using Looks = SharingWatch::Looks;
  if (options.check_sharing || (has_report && !options.sequential))
    sites->watch_sharing(std::make_unique<SharingWatch>(
        space.nodes(), space.unit(), options.check_sharing ? Looks::kAll : Looks::kSome));
  return sites;
}

}  // namespace

base::Result<> NodeReport::begin(Node& node, const Options& options) {
  node.sharing_ = std::make_unique<SharingReporter>(options);
  node.has_stats_ = options.stats;
  node.sites_ = make_sites(options, *node.space_);
  if (node.sites_ != nullptr) node.locks_ = std::make_unique<LockCounters>();
  node.threads_.count_sites(node.sites_.get());
  if (options.report.empty()) return {};
  auto log = trace::EventLog::create({.folder = options.report,
                                      .node = node.self(),
                                      .nodes = node.nodes(),
                                      .host = std::string(node.bootstrap_->host()),
                                      .front_end = ".pages"});
  if (!log) return base::error("--report: {}", log.error().message);
  const PageSpace& space = *node.space_;
  log.value()->note(Event::kPages,
                    {.object = reinterpret_cast<std::uintptr_t>(space.mapping().app()),
                     .value = space.mapping().bytes(),
                     .number = static_cast<std::uint32_t>(space.unit())});
  node.trace_ = std::make_unique<PageTrace>(std::move(log).value(), node.threads_);
  return {};
}

base::Result<> NodeReport::begin_recording(Node& node, const Options& options) {
  if (options.record.empty()) return {};
  auto made =
      Recording::create(options.record, *node.space_, options.fault_source, options.record_pages);
  if (!made) return made.error();
  node.recording_ = std::move(made).value();
  if (options.record_pages) RecordedPages::set(*node.space_, node.recording_.get());
  node.recording_->pause(node.threads_.current());
  node.recording_->go_on(node.threads_.current());
  return {};
}

unsigned NodeReport::wanted(const Node& node) {
  return (node.has_stats_ ? kPrinted : 0u) | (node.trace_ != nullptr ? kLogged : 0u);
}

PageTrace* NodeReport::trace(const Node& node) { return node.trace_.get(); }

void NodeReport::end(Node& node, const ProgramNames& names) {
  if (node.trace_ != nullptr) node.trace_->stop();
  if (node.sites_ == nullptr) return;
  NodeTimes times =
      times_of(node.threads_, *node.sites_, *node.locks_, platform::now_ns() - node.joined_ns_);
  trace::EventLog* log = node.trace_ == nullptr ? nullptr : &node.trace_->log();
  node.sharing_->report(*node.bootstrap_, *node.space_, *node.engine_, names, times,
                        node.sites_->sharing(), log);
  if (log != nullptr) write(node, *log, names);
}

void NodeReport::write(Node& node, trace::EventLog& log, const ProgramNames& names) {
  Asked asked;
  log_locks(log, *node.locks_, asked);
  log_sites(log, *node.sites_, *node.space_, asked);
  log_moved(log, *node.sites_);
  log_homes(log, *node.space_, *node.hlrc_, asked);
  std::vector<std::byte> mine = bytes_of(asked);
  Namer namer(log, *node.space_, *node.engine_, names);
  if (node.nodes() == 1) {
    namer.name(asked);
  } else if (auto all = node.bootstrap_->exchange(mine, {}); !all) {
    base::log("what the report cannot name: {}", all.error().message);
  } else if (node.self() == NodeId{0}) {
    for (const bootstrap::Contribution& one : all.value()) namer.name(asked_in(one.bytes));
  } else {
    namer.name(asked);  // allocations that node 0 does not know any more
  }
  node.trace_->close();
}

}  // namespace terrane::runtime
