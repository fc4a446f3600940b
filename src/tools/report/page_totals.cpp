#include "tools/report/page_totals.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <tuple>

#include "runtime/wait_reports.h"

namespace terrane::tools::report {
namespace {

using namespace runtime::trace;

constexpr std::size_t kMostWaits = 20;
// What a log may have at most, so that a damaged one takes no memory.
constexpr std::uint64_t kMostStrips = 4096, kMostRegions = 256;

// Adds a time that ends at end_ns to the steps that it covers, in proportion.
template <typename Add>
void spread(double begin_ns, double end_ns, double step_ns, std::size_t steps, Add add) {
  if (step_ns <= 0 || end_ns <= begin_ns) return;
  begin_ns = std::max(begin_ns, 0.0);
  auto at = static_cast<std::size_t>(begin_ns / step_ns);
  for (; at < steps && static_cast<double>(at) * step_ns < end_ns; ++at) {
    double from = std::max(begin_ns, static_cast<double>(at) * step_ns);
    double to = std::min(end_ns, static_cast<double>(at + 1) * step_ns);
    if (to > from) add(at, to - from);
  }
}

class Counter {
 public:
  Counter(const JobLog& job, std::size_t points, PageTotals& out)
      : job_(job),
        points_(points),
        step_ns_(static_cast<double>(job.length_ns) / static_cast<double>(points)),
        out_(out) {}

  void run() {
    auto nodes = std::min<std::size_t>(job_.nodes, kMostInMatrix);
    out_.moved.assign(nodes, std::vector<std::uint64_t>(nodes));
    for (log_ = 0; log_ < job_.logs.size(); ++log_) {
      const NodeLog& log = job_.logs[log_];
      if (!log.has_strips) continue;
      (log.is_shmem ? out_.has_shmem : out_.has_pages) = true;
      for (const TextEntry& one : log.texts) text(one);
      for (const Entry& entry : log.entries) record(entry.record);
      for (auto& [number, since_ns] : alive_) lived(number, since_ns, job_.length_ns);
      alive_.clear();
      call_at_.clear();
    }
    finish();
  }

 private:
  void text(const TextEntry& one) {
    const Record& record = one.record;
    std::string text = printable(one.text);
    switch (record.event) {
      case Event::kSlow:
        out_.slow.push_back(text);
        return;
      case Event::kStrip: {
        Strip& strip = strip_of(record.object);
        strip.name = text;
        strip.is_program = record.kind != 0;
        return;
      }
      case Event::kNamed:
        out_.names.try_emplace(record.object, record.value, text);
        return;
      case Event::kShared:
        shared(record, one.text);
        return;
      case Event::kCall:
        call_at_[record.object] = text;
        called(by_call_[text], record);
        return;
      case Event::kRegion:
        out_.region_names[record.object] = text;
        regions_[record.object].ns = record.value;
        return;
      default:
        return;
    }
  }

  // Lines: writers, numbers, drawing, remedy.
  void shared(const Record& record, std::string_view text) {
    SharedPages one{.address = record.object, .wait_ns = record.value};
    one.kind = record.kind;
    one.matters = record.detail != 0;
    auto line = [&] {
      std::string_view first = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(first.size() + 1, text.size()));
      return first;
    };
    one.writers = printable(line());
    std::string_view numbers = line();
    for (std::uint64_t* to : {&one.again, &one.differences, &one.pages, &one.scale}) {
      auto [end, bad] = std::from_chars(numbers.data(), numbers.data() + numbers.size(), *to);
      numbers.remove_prefix(static_cast<std::size_t>(end - numbers.data()));
      if (!numbers.empty()) numbers.remove_prefix(1);
    }
    one.drawing = printable(line());
    one.remedy = printable(line());
    out_.shared.push_back(std::move(one));
  }

  void called(CallTotals& call, const Record& record) const {
    call.kind = record.kind;
    call.ns += record.value;
    if (record.value < call.most_ns) return;
    call.most_ns = record.value;
    call.most_pe = job_.logs[log_].node;
  }

  Strip& strip_of(std::uint64_t number) {
    number = std::min(number, kMostStrips);
    auto [at, fresh] = strip_at_.try_emplace({log_, number}, out_.strips.size());
    if (fresh) {
      Strip& strip = out_.strips.emplace_back();
      strip.log = log_;
      strip.is_shmem = job_.logs[log_].is_shmem;
      strip.number = number;
      strip.name = fmt::format("thread {}", number);
      strip.steps.resize(points_);
    }
    return out_.strips[at->second];
  }

  void lived(std::uint64_t number, std::uint64_t from_ns, std::uint64_t to_ns) {
    Strip& strip = strip_of(number);
    strip.lived_ns += static_cast<double>(to_ns - from_ns);
    spread(static_cast<double>(from_ns), static_cast<double>(to_ns), step_ns_, points_,
           [&](std::size_t at, double ns) { strip.steps[at].lived_ns += ns; });
  }

  // What has lasted longer than its step began before it.
  void time(const Record& record) {
    if (record.kind >= kTimeKinds) return;
    Strip& strip = strip_of(record.object);
    auto ns = static_cast<double>(record.value), end = static_cast<double>(record.time_ns);
    double step_ns = std::max(record.number * 1e3, 1.0), share = std::min(ns / step_ns, 1.0);
    strip.all[record.kind] += ns;
    spread(end - std::max(ns, step_ns), end, step_ns_, points_,
           [&](std::size_t at, double part) { strip.steps[at].ns[record.kind] += part * share; });
  }

  void wait(const Record& record) {
    if (record.kind == static_cast<std::uint8_t>(TimeKind::kRegion)) {
      if (record.object >= kMostRegions) return;
      auto end = static_cast<double>(record.time_ns);
      auto& steps = region_ns_[record.object];
      steps.resize(points_);
      spread(end - static_cast<double>(record.value), end, step_ns_, points_,
             [&](std::size_t at, double ns) { steps[at] += ns; });
      return;
    }
    if (job_.logs[log_].is_shmem) {
      PlaceTotals& place = places_[record.object];
      ++place.waits;
      place.ns += record.value;
      place.longest_ns = std::max(place.longest_ns, record.value);
    } else if (record.kind == static_cast<std::uint8_t>(TimeKind::kLock))
      longest_[record.object] = std::max(longest_[record.object], record.value);
    out_.waits.push_back({log_, record});
  }

  void record(const Record& record) {
    std::uint32_t node = job_.logs[log_].node;
    switch (record.event) {
      case Event::kLives:
        if (record.kind != 0) {
          alive_.try_emplace(record.object, record.time_ns);
        } else if (auto at = alive_.find(record.object); at != alive_.end()) {
          lived(record.object, at->second, record.time_ns);
          alive_.erase(at);
        }
        return;
      case Event::kTime:
        return time(record);
      case Event::kWait:
        return wait(record);
      case Event::kWaitsLeftOut:
        out_.waits_without_record += record.number;
        return;
      case Event::kLock:
        locks_[record.object].wait_ns += record.value;
        locks_[record.object].times += record.number;
        return;
      case Event::kLockTravels:
        locks_[record.object].travels += record.number;
        return;
      case Event::kMemory:
        if (record.kind < kMemoryCounts) memory_[record.object][record.kind] += record.value;
        return;
      case Event::kMoved:
        if (record.number != node && std::max(record.number, node) < out_.moved.size()) {
          bool sent = record.kind == static_cast<std::uint8_t>(Moved::kSent);
          out_.moved[sent ? node : record.number][sent ? record.number : node] += record.value;
        }
        return;
      case Event::kHomes:
        homes_[record.object].bytes = std::max(homes_[record.object].bytes, record.value);
        homes_[record.object].pages[node] += record.number;
        return;
      case Event::kCalls:
        if (auto at = call_at_.find(record.object); at != call_at_.end())
          by_call_[at->second].calls += record.value;
        return;
      case Event::kRegionCount:
        if (record.kind < kRegionCounts) regions_[record.object].counts[record.kind] = record.value;
        return;
      default:
        return;
    }
  }

  void finish() {
    for (const Strip& strip : out_.strips) is_program_.push_back(strip.is_program);
    std::stable_sort(out_.strips.begin(), out_.strips.end(), [](const Strip& a, const Strip& b) {
      return std::tuple(a.log, !a.is_program, a.number) <
             std::tuple(b.log, !b.is_program, b.number);
    });
    for (auto& [token, lock] : locks_) {
      lock.name = out_.name_of_lock(token);
      lock.longest_ns = longest_[token];
      out_.locks.push_back(std::move(lock));
    }
    std::map<std::string, MemoryTotals> by_name;
    for (const auto& [address, counts] : memory_) {
      MemoryTotals& sum = by_name[out_.name_of(address)];
      for (std::size_t kind = 0; kind < kMemoryCounts; ++kind) sum.counts[kind] += counts[kind];
    }
    for (auto& [name, sum] : by_name) out_.memory.push_back({name, sum.counts});
    for (auto& [number, region] : regions_) {
      region.place = out_.region_names[number];
      out_.regions.push_back(std::move(region));
    }
    for (auto& [address, part] : homes_) {
      part.address = address;
      out_.homes.push_back(std::move(part));
    }
    std::map<std::string, PlaceTotals> by_place;
    for (auto& [object, place] : places_) {
      const std::string* name = out_.find_name(object);
      PlaceTotals& sum = by_place[name != nullptr ? *name : "places without a name"];
      sum.waits += place.waits;
      sum.ns += place.ns;
      sum.longest_ns = std::max(sum.longest_ns, place.longest_ns);
    }
    for (auto& [name, place] : by_place) {
      place.name = name;
      out_.places.push_back(std::move(place));
    }
    for (auto& [name, call] : by_call_) {
      call.name = name;
      out_.calls.push_back(std::move(call));
    }
    sort();
    choose_regions();
  }

  void sort() {
    auto longest_first = [](auto& all, auto ns_of) {
      std::stable_sort(all.begin(), all.end(),
                       [&](const auto& a, const auto& b) { return ns_of(a) > ns_of(b); });
    };
    longest_first(out_.locks, [](const LockTotals& one) { return one.wait_ns; });
    longest_first(out_.memory, [](const MemoryTotals& one) {
      return std::pair(one.counts[static_cast<std::size_t>(MemoryCount::kWaitedNs)],
                       one.counts[static_cast<std::size_t>(MemoryCount::kFetched)]);
    });
    longest_first(out_.regions, [](const RegionTotals& one) { return one.ns; });
    longest_first(out_.calls, [](const CallTotals& one) { return one.ns; });
    longest_first(out_.places, [](const PlaceTotals& one) { return one.ns; });
    longest_first(out_.shared, [](const SharedPages& one) { return one.wait_ns; });
    std::erase_if(out_.waits, [this](const Wait& one) {
      auto strip = strip_at_.find({one.log, one.record.number});
      return strip != strip_at_.end() && !is_program_[strip->second];
    });
    longest_first(out_.waits, [](const Wait& one) { return one.record.value; });
    if (out_.waits.size() > kMostWaits) out_.waits.resize(kMostWaits);
  }

  // In each step the region that took most of it.
  void choose_regions() {
    if (region_ns_.empty()) return;
    out_.region_at.resize(points_);
    for (std::size_t at = 0; at < points_; ++at) {
      double most = 0;
      for (const auto& [number, steps] : region_ns_)
        if (steps[at] > most) {
          most = steps[at];
          out_.region_at[at] = number + 1;
        }
    }
  }

  const JobLog& job_;
  std::size_t points_;
  double step_ns_;
  PageTotals& out_;
  std::size_t log_ = 0;
  std::map<std::pair<std::size_t, std::uint64_t>, std::size_t> strip_at_;
  std::vector<bool> is_program_;                  // of strips, as in strip_at_
  std::map<std::uint64_t, std::uint64_t> alive_;  // strips of this log: since when
  std::map<std::uint64_t, LockTotals> locks_;
  std::map<std::uint64_t, std::uint64_t> longest_;
  std::map<std::uint64_t, std::array<std::uint64_t, kMemoryCounts>> memory_;
  std::map<std::uint64_t, HomesPart> homes_;
  std::map<std::uint64_t, RegionTotals> regions_;
  std::map<std::uint64_t, std::vector<double>> region_ns_;
  std::map<std::uint64_t, std::string> call_at_;  // of this log
  std::map<std::string, CallTotals> by_call_;
  std::map<std::uint64_t, PlaceTotals> places_;
};

}  // namespace

double Strip::computing() const {
  double rest = lived_ns;
  for (double ns : all) rest -= ns;
  return std::max(rest, 0.0);
}

const std::string* PageTotals::find_name(std::uint64_t object) const {
  auto behind = names.upper_bound(object);
  if (behind == names.begin()) return nullptr;
  const auto& [begin, named] = *std::prev(behind);
  return object == begin || object - begin < named.first ? &named.second : nullptr;
}

std::string PageTotals::name_of(std::uint64_t address) const {
  const std::string* name = find_name(address);
  return name != nullptr ? *name : fmt::format("{:#x}", address);
}

std::string PageTotals::name_of_lock(std::uint64_t token) const {
  const std::string* name = find_name(token);
  return name != nullptr ? *name : runtime::name_of_token(LockId{token});
}

PageTotals count_pages(const JobLog& job, std::size_t points) {
  PageTotals totals;
  Counter(job, points, totals).run();
  return totals;
}

std::vector<Strip> strips_of_nodes(const std::vector<Strip>& strips) {
  std::vector<Strip> all;
  for (const Strip& strip : strips) {
    if (!strip.is_program) continue;
    if (all.empty() || all.back().log != strip.log) {
      all.push_back(strip);
      continue;
    }
    Strip& sum = all.back();
    ++sum.threads;
    sum.lived_ns += strip.lived_ns;
    for (std::size_t kind = 0; kind < sum.all.size(); ++kind) sum.all[kind] += strip.all[kind];
    for (std::size_t at = 0; at < sum.steps.size(); ++at) {
      sum.steps[at].lived_ns += strip.steps[at].lived_ns;
      for (std::size_t kind = 0; kind < sum.all.size(); ++kind)
        sum.steps[at].ns[kind] += strip.steps[at].ns[kind];
    }
  }
  return all;
}

std::string_view name_of_kind(bool is_shmem, std::size_t kind) {
  constexpr std::string_view kNames[kTimeKinds] = {"fault", "lock", "barrier", "handler",
                                                   "protocol"};
  constexpr std::string_view kOfShmem[] = {"transfer", "wait", "collective"};
  if (is_shmem && kind < std::size(kOfShmem)) return kOfShmem[kind];
  return kind < kTimeKinds ? kNames[kind] : "?";
}

std::string name_of_wait(const PageTotals& totals, bool is_shmem, const Record& record) {
  constexpr std::uint64_t kFirstOfTerrane = 0xffff'fff0, kNumbers = std::uint64_t{1} << 32;
  constexpr std::string_view kCounts[] = {"lock", "counter", "flag", "semaphore", "condition"};
  std::uint64_t kind = record.object / kNumbers;
  if (is_shmem) {
    const std::string* name = totals.find_name(record.object);
    return name != nullptr ? *name : "a place without a name";
  }
  switch (static_cast<TimeKind>(record.kind)) {
    case TimeKind::kBarrier:
      if (kind > 0) return totals.name_of_lock(record.object);
      if (record.object >= kFirstOfTerrane) return "the begin or the end of the job";
      return fmt::format("barrier {}", record.object);
    case TimeKind::kLock:
      if (record.object == 0) return "others";
      if (kind > 0 && kind < std::size(kCounts))
        return fmt::format("{} {}", kCounts[kind], record.object % kNumbers);
      return totals.name_of_lock(record.object);
    default:
      return totals.name_of(record.object);
  }
}

}  // namespace terrane::tools::report
