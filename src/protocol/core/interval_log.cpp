#include "protocol/core/interval_log.h"

#include "base/check.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

IntervalLog::IntervalLog(std::uint32_t nodes, std::uint32_t max_ranges)
    : known_(nodes, 0), histories_(nodes), max_ranges_(max_ranges) {}

bool IntervalLog::believable(Bytes notices, NodeId self, std::uint64_t blocks) const {
  if (!wire::valid_notice_set(notices, static_cast<std::uint32_t>(known_.size()), blocks)) {
    return false;
  }
  std::uint32_t top = 0;
  wire::for_each_entry(notices, [&](const wire::NoticeEntry& entry) {
    if (entry.node == self.value && entry.top > top) top = entry.top;
  });
  return top <= known_[self.value];
}

void IntervalLog::push(std::uint32_t node, std::uint32_t interval) {
  History& history = histories_[node];
  history.records.push_back({interval, static_cast<std::uint32_t>(history.ranges.size()), 0});
}

void IntervalLog::append(std::uint32_t node, std::uint32_t interval,
                         const std::vector<BlockRange>& ranges) {
  TERRANE_CHECK(interval == known_[node] + 1, "intervals are closed one after the other");
  push(node, interval);
  History& history = histories_[node];
  history.ranges.insert(history.ranges.end(), ranges.begin(), ranges.end());
  history.records.back().ranges = static_cast<std::uint32_t>(ranges.size());
  ranges_ += ranges.size();
  known_[node] = interval;
  bound();
}

void IntervalLog::learn(Bytes notices) {
  wire::NoticeReader reader(notices);
  wire::NoticeEntry entry;
  wire::NoticeRecord record;
  BlockRange range;
  while (reader.next_entry(entry)) {
    History& history = histories_[entry.node];
    std::uint32_t known = known_[entry.node];
    if (entry.base >
        known) {  // the sender has forgotten the intervals in between: nor can we pass them on
      mark(Mark::kLogHoleLearned);
      forget_history(history, entry.base);
    }
    while (reader.next_record(record)) {
      bool fresh = record.interval > known;
      if (fresh) push(entry.node, record.interval);
      while (reader.next_range(range)) {
        if (!fresh) continue;
        history.ranges.push_back(range);
        ++history.records.back().ranges;
        ++ranges_;
      }
    }
    if (entry.top > known) known_[entry.node] = entry.top;
  }
  bound();
}

void IntervalLog::forget_history(History& history, std::uint32_t floor) {
  if (floor <= history.floor) return;
  history.floor = floor;
  while (history.head < history.records.size() && history.records[history.head].interval <= floor) {
    ranges_ -= history.records[history.head].ranges;
    ++history.head;
  }
  if (history.head == history.records.size()) {
    history.records.clear();
    history.ranges.clear();
    history.head = 0;
  } else if (history.head > history.records.size() / 2) {
    std::uint32_t shift = history.records[history.head].first_range;
    history.ranges.erase(history.ranges.begin(), history.ranges.begin() + shift);
    history.records.erase(history.records.begin(),
                          history.records.begin() + static_cast<std::ptrdiff_t>(history.head));
    for (Record& record : history.records) record.first_range -= shift;
    history.head = 0;
  }
}

void IntervalLog::forget(const VectorTimestamp& floor) {
  for (std::size_t node = 0; node < histories_.size(); ++node)
    forget_history(histories_[node], floor[node] < known_[node] ? floor[node] : known_[node]);
}

// Over the limit: forgets the older half of the intervals of each node.
void IntervalLog::bound() {
  if (ranges_ <= max_ranges_) return;
  mark(Mark::kLogTruncated);
  for (History& history : histories_) {
    std::size_t count = history.records.size() - history.head;
    if (count == 0) continue;
    forget_history(history, history.records[history.head + count / 2].interval);
  }
}

void IntervalLog::write_entry(std::uint32_t node, std::uint32_t since,
                              std::vector<std::byte>& out) const {
  const History& history = histories_[node];
  wire::NoticeWriter writer(out);
  std::uint32_t base = since > history.floor ? since : history.floor;
  writer.entry(node, base, known_[node] > base ? known_[node] : base);
  for (std::size_t i = history.head; i < history.records.size(); ++i) {
    const Record& record = history.records[i];
    if (record.interval <= base) continue;
    writer.record(record.interval);
    for (std::uint32_t r = 0; r < record.ranges; ++r)
      writer.range(history.ranges[record.first_range + r]);
  }
}

void IntervalLog::write_since(const VectorTimestamp& since, std::vector<std::byte>& out) const {
  for (std::uint32_t node = 0; node < known_.size(); ++node)
    if (known_[node] > since[node]) write_entry(node, since[node], out);
}

void IntervalLog::check_invariants() const {
  std::uint64_t total = 0;
  for (std::size_t node = 0; node < histories_.size(); ++node) {
    const History& history = histories_[node];
    TERRANE_CHECK(history.floor <= known_[node], "nothing unknown is forgotten");
    std::uint32_t last = history.floor;
    for (std::size_t i = history.head; i < history.records.size(); ++i) {
      TERRANE_CHECK(history.records[i].interval > last, "intervals of a node rise");
      last = history.records[i].interval;
      total += history.records[i].ranges;
    }
    TERRANE_CHECK(last <= known_[node], "the timestamp covers the log");
  }
  TERRANE_CHECK(total == ranges_, "ranges are counted");
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
