#include "protocol/push/link_runs.h"

#include <algorithm>
#include <span>

#include "protocol/push/push_tree.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace {

// How many of the first runs share blocks, each with one of those before it.
std::size_t count_overlapping(std::span<const Subscribed> due) {
  std::uint64_t end = due[0].run.end();
  std::size_t count = 1;
  while (count < due.size() && due[count].run.first < end)
    end = std::max(end, due[count++].run.end());
  return count;
}

bool is_one_run(std::span<const Subscribed> due) {
  return std::all_of(due.begin(), due.end(), [&](const Subscribed& one) {
    return one.run.first == due[0].run.first && one.run.count == due[0].run.count;
  });
}

std::vector<NodeId> readers_of(std::span<const Subscribed> due) {
  std::vector<NodeId> readers;
  for (const Subscribed& one : due) readers.push_back(one.reader);
  auto by_number = [](NodeId a, NodeId b) { return a.value < b.value; };
  std::sort(readers.begin(), readers.end(), by_number);
  readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
  return readers;
}

// Appends the parts of runs that share blocks. Between two places at which a run begins or ends,
// there is one part for each reader.
void append_parts(std::span<const Subscribed> due, std::vector<Subscribed>& parts) {
  std::vector<std::uint64_t> places;
  for (const Subscribed& one : due) {
    places.push_back(one.run.first);
    places.push_back(one.run.end());
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::vector<Subscribed> open;
  std::size_t next = 0;
  for (std::size_t i = 0; i + 1 < places.size(); ++i) {
    BlockRange part{places[i], places[i + 1] - places[i]};
    std::erase_if(open, [&](const Subscribed& one) { return one.run.end() <= part.first; });
    if (mutant(Mutant::kCutForgetsReader) && open.size() > 1) open.pop_back();
    while (next < due.size() && due[next].run.first == part.first) open.push_back(due[next++]);
    for (NodeId reader : readers_of(open)) parts.push_back({part, reader});
  }
}

}  // namespace

void cut_for_links(const Clusters& clusters, NodeId self, std::vector<Subscribed>& due) {
  if (clusters.count() == 1) return;
  std::vector<Subscribed> parts;
  for (std::span<const Subscribed> left = due; !left.empty();) {
    std::span<const Subscribed> together = left.first(count_overlapping(left));
    left = left.subspan(together.size());
    bool cut = !is_one_run(together) && share_a_link(clusters, self, readers_of(together));
    if (cut) {
      mark(Mark::kExitCutsRuns);
      append_parts(together, parts);
    } else {
      parts.insert(parts.end(), together.begin(), together.end());
    }
  }
  due = std::move(parts);
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
