#include "wire/notice_set.h"

namespace terrane::wire {

bool valid_notice_set(Bytes bytes, std::uint32_t nodes, std::uint64_t blocks) {
  NoticeReader reader(bytes);
  NoticeEntry entry;
  NoticeRecord record;
  BlockRange range;
  while (reader.next_entry(entry)) {
    if (entry.node >= nodes || entry.base > entry.top) return false;
    std::uint32_t last = entry.base;
    while (reader.next_record(record)) {
      if (record.interval <= last || record.interval > entry.top) return false;
      last = record.interval;
      while (reader.next_range(range)) {
        if (range.count == 0 || range.first >= blocks || range.count > blocks - range.first)
          return false;
      }
    }
  }
  return !reader.bad();
}

}  // namespace terrane::wire
