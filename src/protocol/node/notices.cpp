#include "protocol/node/notices.h"

#include <algorithm>

#include "protocol/steps/runs.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Adds the block as the next one of the last range, unless it is its last one, or as its own range.
void Notices::add_block(std::vector<BlockRange>& to, std::uint64_t block) {
  if (!to.empty()) {
    BlockRange& last = to.back();
    if (block + 1 == last.end() && last.count > 0) return;
    if (block == last.end()) {
      ++last.count;
      return;
    }
  }
  to.push_back({block, 1});
}

void Notices::notice(std::uint64_t block) {
  node_.dirty_count.fetch_add(1, std::memory_order_release);
  if (node_.entries[block].eager()) {
    add_block(eager_, block);
    if (!node_.config.check_races) return;  // a change belongs to an interval that is closed
  }
  if (notices_.size() >= most_notices_) {
    mark(Mark::kNoticesJoined);
    join(notices_);
    most_notices_ = std::max(node_.config.tunables.most_notices, 2 * notices_.size());
  }
  add_block(notices_, block);
}

Task<> Notices::compare_home(Strand& s, std::uint64_t block) {
  co_await s.perform(CompareHome{BlockId{block}, node_.core.timestamp()});
  notice(block);
}

bool Notices::is_named(Bytes notices, NodeId home, BlockRange run) {
  if (mutant(Mutant::kArrivalOverOwn)) return false;
  wire::NoticeReader reader(notices);
  wire::NoticeEntry entry;
  wire::NoticeRecord record;
  BlockRange range;
  while (reader.next_entry(entry))
    while (reader.next_record(record))
      while (reader.next_range(range))
        if (NodeId{entry.node} != home && range.first < run.end() && run.first < range.end())
          return true;
  return false;
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
