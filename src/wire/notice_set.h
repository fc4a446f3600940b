#pragma once

#include <cstdint>
#include <vector>

#include "wire/message.h"

namespace terrane::wire {

// Blocks first .. first + count - 1 (40 + 24 bits on the wire).
struct BlockRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  std::uint64_t end() const { return first + count; }
  bool operator==(const BlockRange&) const = default;
};
inline constexpr std::uint64_t kMaxRangeBlocks = (1u << 24) - 1;

// The part of a notice set about one node: its intervals (base, top]. Each interval that changed
// something has a NoticeRecord, followed by the ranges of blocks that it changed.
struct NoticeEntry {
  std::uint32_t node = 0;
  std::uint32_t base = 0;
  std::uint32_t top = 0;
  std::uint32_t records = 0;
};
struct NoticeRecord {
  std::uint32_t interval = 0;
  std::uint32_t ranges = 0;
};
static_assert(sizeof(NoticeEntry) == 16 && sizeof(NoticeRecord) == 8);

// Appends a notice set to a byte buffer: each entry, its records, the ranges of each record. The
// counts are updated in the bytes that were written before.
class NoticeWriter {
 public:
  explicit NoticeWriter(std::vector<std::byte>& out) : out_(out) {}

  void entry(std::uint32_t node, std::uint32_t base, std::uint32_t top) {
    entry_at_ = out_.size();
    put(out_, NoticeEntry{node, base, top, 0});
  }
  void record(std::uint32_t interval) {
    record_at_ = out_.size();
    put(out_, NoticeRecord{interval, 0});
    count_one(entry_at_ + offsetof(NoticeEntry, records));
  }
  void range(BlockRange range) {
    while (range.count > 0) {
      std::uint64_t count = range.count < kMaxRangeBlocks ? range.count : kMaxRangeBlocks;
      put(out_, range.first << 24 | count);
      range = {range.first + count, range.count - count};
      count_one(record_at_ + offsetof(NoticeRecord, ranges));
    }
  }

 private:
  // Increments a count in `out_`; it need not be aligned.
  void count_one(std::size_t offset) {
    std::uint32_t number;
    std::memcpy(&number, out_.data() + offset, sizeof number);
    ++number;
    std::memcpy(out_.data() + offset, &number, sizeof number);
  }

  std::vector<std::byte>& out_;
  std::size_t entry_at_ = 0;
  std::size_t record_at_ = 0;
};

// Reads a notice set part by part. Each call returns false at the end and for malformed bytes;
// bad() says which of the two it was.
class NoticeReader {
 public:
  explicit NoticeReader(Bytes bytes) : bytes_(bytes) {}

  bool next_entry(NoticeEntry& entry) {
    if (bad_ || bytes_.empty()) return false;
    if (!take(bytes_, entry)) return fail();
    records_left_ = entry.records;
    return true;
  }
  bool next_record(NoticeRecord& record) {
    if (bad_ || records_left_ == 0) return false;
    if (!take(bytes_, record)) return fail();
    --records_left_;
    ranges_left_ = record.ranges;
    return true;
  }
  bool next_range(BlockRange& range) {
    std::uint64_t packed = 0;
    if (bad_ || ranges_left_ == 0) return false;
    if (!take(bytes_, packed)) return fail();
    --ranges_left_;
    range = {packed >> 24, packed & kMaxRangeBlocks};
    return true;
  }
  bool bad() const { return bad_; }

 private:
  bool fail() {
    bad_ = true;
    return false;
  }

  Bytes bytes_;
  std::uint32_t records_left_ = 0;
  std::uint32_t ranges_left_ = 0;
  bool bad_ = false;
};

// Visits the entries of a valid notice set, without their records.
template <typename Visit>
void for_each_entry(Bytes notices, Visit visit) {
  NoticeReader reader(notices);
  NoticeEntry entry;
  NoticeRecord record;
  BlockRange range;
  while (reader.next_entry(entry)) {
    visit(entry);
    while (reader.next_record(record)) {
      while (reader.next_range(range)) {
      }
    }
  }
}

// True when the bytes are a whole notice set whose nodes, intervals and blocks lie within the job's
// bounds.
bool valid_notice_set(Bytes bytes, std::uint32_t nodes, std::uint64_t blocks);

}  // namespace terrane::wire
