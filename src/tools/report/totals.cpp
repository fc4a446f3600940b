#include "tools/report/totals.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace terrane::tools::report {
namespace {

using runtime::trace::BytesWay;
using runtime::trace::ScopeOrigin;

constexpr std::uint8_t kStates = 4;  // the first: there is no copy

std::size_t step_of(const JobLog& job, std::uint64_t time_ns, std::size_t points) {
  if (job.length_ns == 0) return 0;
  double part = static_cast<double>(time_ns) / static_cast<double>(job.length_ns);
  return std::min(points - 1, static_cast<std::size_t>(part * static_cast<double>(points)));
}

// For how many scopes that opened at once a record counts.
std::uint64_t scopes_at_once(const Record& record) {
  if (record.event == Event::kScope) return record.detail + std::uint64_t{1};
  return record.event == Event::kScopesMore ? record.number : 0;
}

// How long a thread waited for its scope, where the event tells it.
std::optional<std::uint64_t> wait_of(const Record& record) {
  if (scopes_at_once(record) > 0) return 0;
  bool waits = record.event == Event::kScopeOpened || record.event == Event::kScopeRefused;
  return waits ? std::optional(record.value) : std::nullopt;
}

// What a thread waits for: a lock is the wait for its scope; the scopes of barriers and signals are
// within their own events.
std::optional<std::uint64_t> meeting_of(Making making, const Record& record) {
  if (making == Making::kLock) return wait_of(record);
  bool meets = record.event == Event::kBarrier || record.event == Event::kSignal ||
               record.event == Event::kAwaited;
  return meets ? std::optional(record.value) : std::nullopt;
}

bool known(Event event) {
  return event == Event::kNodeDied || (event >= Event::kScopeOpened && event <= Event::kScopesMore);
}

template <typename Of, typename Key>
Of& entry_of(std::vector<Of>& all, std::unordered_map<std::uint64_t, std::size_t>& index, Key key) {
  auto [at, fresh] = index.try_emplace(key, all.size());
  if (fresh) all.push_back({.object = key});
  return all[at->second];
}

class Counter {
 public:
  Counter(const JobLog& job, Totals& out) : job_(job), out_(out) {}

  void run() {
    for (const NodeLog& log : job_.logs) {
      NodeTotals& node = out_.nodes.emplace_back();
      if (log.has_strips) continue;
      for (const Entry& entry : log.entries) add(node, entry.record);
    }
    for (ChunkTotals& chunk : out_.chunks) std::sort(chunk.waits.begin(), chunk.waits.end());
    std::stable_sort(out_.chunks.begin(), out_.chunks.end(),
                     [](const ChunkTotals& a, const ChunkTotals& b) {
                       return a.tally.wait_ns > b.tally.wait_ns;
                     });
    std::stable_sort(
        out_.meetings.begin(), out_.meetings.end(),
        [](const MeetingTotals& a, const MeetingTotals& b) { return a.wait_ns > b.wait_ns; });
  }

 private:
  void add(NodeTotals& node, const Record& record) {
    if (record.event == Event::kNodeDied) return;
    if (!known(record.event)) {
      ++node.others[static_cast<std::uint16_t>(record.event)];
      return;
    }
    Making making = making_of(job_, record.object);
    if (making == Making::kChunk) {
      node.tally.add(record);
      ChunkTotals& chunk = entry_of(out_.chunks, chunk_at_, record.object);
      chunk.tally.add(record);
      auto wait_ns = wait_of(record);
      if (wait_ns && scopes_at_once(record) == 0) chunk.waits.push_back(*wait_ns);
    } else if (auto wait_ns = meeting_of(making, record)) {
      MeetingTotals& meeting = entry_of(out_.meetings, meeting_at_, record.object);
      meeting.making = making;
      std::uint64_t times = std::max<std::uint64_t>(1, scopes_at_once(record));
      meeting.times += times;
      node.meetings += times;
      meeting.wait_ns += *wait_ns;
      node.meeting_ns += *wait_ns;
      meeting.longest_ns = std::max(meeting.longest_ns, *wait_ns);
    } else if (record.event == Event::kBytesSent || record.event == Event::kBytesCame) {
      node.tally.add(record);
    }
  }

  const JobLog& job_;
  Totals& out_;
  std::unordered_map<std::uint64_t, std::size_t> chunk_at_, meeting_at_;
};

}  // namespace

void Tally::add(const Record& record) {
  auto bytes_to = [&](std::uint64_t& shared, std::uint64_t& copied) {
    (record.kind == static_cast<std::uint8_t>(BytesWay::kShared) ? shared : copied) += record.value;
  };
  switch (record.event) {
    case Event::kScopeOpened:
      if (record.detail == static_cast<std::uint8_t>(ScopeOrigin::kTake)) {
        ++taken;
      } else {
        ++opened[record.kind < 3 ? record.kind : 0];
      }
      [[fallthrough]];
    case Event::kScopeRefused:
      refused += record.event == Event::kScopeRefused;
      wait_ns += record.value;
      longest_wait_ns = std::max(longest_wait_ns, record.value);
      return;
    case Event::kScope:
    case Event::kScopesMore:
      return add_at_once(record);
    case Event::kScopeClosed:
      closed_ns_ += record.value;
      return;
    case Event::kState:
      ++states;
      return;
    case Event::kBytesSent:
      return bytes_to(sent_shared, sent_copied);
    case Event::kBytesCame:
      return bytes_to(came_shared, came_copied);
    case Event::kPublished:
      ++published;
      return;
    case Event::kMissed:
      missed += record.value;
      return;
    case Event::kHandlerRan:
      ++handlers;
      handler_ns += record.value;
      return;
    case Event::kLost:
      ++lost;
      return;
    default:
      return;
  }
}

void Tally::add_at_once(const Record& record) {
  std::uint64_t times = scopes_at_once(record);
  opened[record.kind < 3 ? record.kind : 0] += times;
  at_once += times;
  if (record.event != Event::kScope) return;
  at_once_timed_ += times;
  at_once_ns_ += times * record.value;
}

std::uint64_t Tally::held_ns() const {
  if (at_once_timed_ == 0) return closed_ns_;
  double part = static_cast<double>(at_once) / static_cast<double>(at_once_timed_);
  return closed_ns_ + static_cast<std::uint64_t>(part * static_cast<double>(at_once_ns_));
}

std::uint64_t ChunkTotals::wait_ns(unsigned percent) const {
  if (calls() == 0) return 0;
  std::uint64_t at = (calls() - 1) * percent / 100;
  return at < tally.at_once ? 0 : waits[at - tally.at_once];
}

Totals count(const JobLog& job) {
  Totals totals;
  Counter(job, totals).run();
  return totals;
}

StatesInTime states_in_time(const JobLog& job, const NodeLog& log, std::size_t points) {
  StatesInTime all(points);
  std::array<std::uint32_t, kStates> now{};
  std::unordered_map<std::uint64_t, std::uint8_t> state_of;
  std::size_t done = 0;
  auto fill_to = [&](std::size_t step) {
    for (; done < step; ++done) all[done] = {now[1], now[2], now[3]};
  };
  for (const Entry& entry : log.entries) {
    const Record& record = entry.record;
    if (record.event != Event::kState || making_of(job, record.object) != Making::kChunk) continue;
    fill_to(step_of(job, record.time_ns, points));
    std::uint8_t& state = state_of[record.object];
    if (state > 0) --now[state];
    state = record.kind % kStates;
    if (state > 0) ++now[state];
  }
  fill_to(points);
  return all;
}

std::vector<std::uint8_t> states_of_chunk(const JobLog& job, const NodeLog& log,
                                          std::uint64_t object, std::size_t points) {
  std::vector<std::uint8_t> all(points);
  std::uint8_t now = 0;
  std::size_t done = 0;
  for (const Entry& entry : log.entries) {
    const Record& record = entry.record;
    if (record.event != Event::kState || record.object != object) continue;
    std::size_t step = step_of(job, record.time_ns, points);
    for (; done < step; ++done) all[done] = std::max(all[done], now);
    all[step] = std::max(all[step], now);
    now = record.kind % kStates;
    all[step] = std::max(all[step], now);
  }
  for (; done < points; ++done) all[done] = std::max(all[done], now);
  return all;
}

}  // namespace terrane::tools::report
