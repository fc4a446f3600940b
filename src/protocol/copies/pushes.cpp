#include "protocol/copies/pushes.h"

#include <algorithm>

#include "protocol/node/notices.h"
#include "protocol/push/link_runs.h"
#include "protocol/push/push_tree.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

std::vector<std::uint64_t> Pushes::choose_for_arrival() {
  std::vector<std::uint64_t> with_arrival;
  if (node_.config.nodes != 2 || node_.config.tunables.unused_pushes == 0) return with_arrival;
  NodeId other{1 - node_.config.self.value};
  if (node_.reaches(other)) return with_arrival;
  for (const auto& [run, reader] : subscribers_.due_next()) {
    if (reader != other || with_arrival.size() + run.count > wire::kMostWithArrival) continue;
    if (!node_.predictor.sends_with_arrival(run)) continue;
    for (std::uint64_t b = run.first; b < run.end(); ++b) with_arrival.push_back(b);
  }
  return with_arrival;
}

bool Pushes::is_any_sent(const std::vector<std::uint64_t>& with_arrival, BlockRange run) {
  return std::any_of(with_arrival.begin(), with_arrival.end(),
                     [&](std::uint64_t b) { return run.first <= b && b < run.end(); });
}

// Whether the barrier exit carried the run to its reader, and no notice of another node names it.
bool Pushes::was_sent(const std::vector<std::uint64_t>& with_arrival, Bytes notices,
                      BlockRange run) const {
  for (std::uint64_t b = run.first; b < run.end(); ++b)
    if (std::find(with_arrival.begin(), with_arrival.end(), b) == with_arrival.end()) return false;
  return !Notices::is_named(notices, node_.config.self, run);
}

// The first run, and the readers to which one push of it goes.
BlockRange Pushes::take_readers(std::span<const Subscribed> due,
                                std::vector<NodeId>& readers) const {
  BlockRange run = due[0].run;
  readers.clear();
  for (const Subscribed& one : due) {
    if (one.run.first != run.first || one.run.count != run.count) break;
    readers.push_back(one.reader);
  }
  const Clusters& clusters = node_.core.clusters();
  NodeId self = node_.config.self;
  bool crosses = clusters.count() > 1 && share_a_link(clusters, self, readers);
  if (readers.size() > 1 && !crosses && !node_.predictor.pushes_by_tree(readers.size()))
    readers.resize(1);
  sort_by_cluster(clusters, self, readers);
  if (readers.size() > 1) mark(Mark::kExitPushesByTree);
  return run;
}

Task<> Pushes::send_pushes(Strand& s, std::uint32_t barrier_exit,
                           const std::vector<std::uint64_t>& with_arrival, bool stands,
                           Bytes notices) {
  if (node_.config.tunables.unused_pushes == 0) co_return;
  subscribers_.begin_exit(barrier_exit);
  std::vector<Subscribed> due;
  for (std::size_t i = 0; i < subscribers_.slots(); ++i) {
    if (!subscribers_.may_be_due(i, barrier_exit)) continue;
    co_await s.pause();
    if (auto one = subscribers_.due_at(i, barrier_exit)) due.push_back(*one);
  }
  Subscribers::sort(due);
  if (node_.config.nodes > 2) cut_for_links(node_.core.clusters(), node_.config.self, due);
  std::vector<NodeId> readers;
  for (std::size_t at = 0; at < due.size(); at += readers.size()) {
    BlockRange run = take_readers(std::span(due).subspan(at), readers);
    if (stands && was_sent(with_arrival, notices, run)) continue;
    bool whole = is_any_sent(with_arrival, run) || !node_.predictor.pushes_versions();
    co_await server_.push(s, run, readers, barrier_exit, whole);
  }
  co_await s.perform(SendPushes{});
  co_await s.pause();
  subscribers_.keep();
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
