#include "protocol/hlrc/pushes.h"

#include <algorithm>

#include "protocol/hlrc/notices.h"
#include "protocol/push/news_tree.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

std::vector<std::uint64_t> Pushes::select_along() {
  std::vector<std::uint64_t> along;
  if (node_.config.nodes != 2 || node_.config.tunables.promised == 0) return along;
  NodeId other{1 - node_.config.self.value};
  if (node_.reaches(other)) return along;
  for (const auto& [run, reader] : promises_.due_next()) {
    if (reader != other || along.size() + run.count > wire::kMostAlong) continue;
    if (!node_.predictor.sends_with_arrival(run)) continue;
    for (std::uint64_t b = run.first; b < run.end(); ++b) along.push_back(b);
  }
  return along;
}

bool Pushes::any_along(const std::vector<std::uint64_t>& along, BlockRange run) {
  return std::any_of(along.begin(), along.end(),
                     [&](std::uint64_t b) { return run.first <= b && b < run.end(); });
}

// Whether the departure brought the run to its reader.
bool Pushes::went_along(const std::vector<std::uint64_t>& along, Bytes notices,
                        BlockRange run) const {
  for (std::uint64_t b = run.first; b < run.end(); ++b)
    if (std::find(along.begin(), along.end(), b) == along.end()) return false;
  return !Notices::is_named(notices, node_.config.self, run);
}

// The first run, and the readers that are sent it together.
BlockRange Pushes::take_readers(std::span<const Promised> due, std::vector<NodeId>& readers) const {
  BlockRange run = due[0].run;
  readers.clear();
  for (const Promised& one : due) {
    if (one.run.first != run.first || one.run.count != run.count) break;
    readers.push_back(one.reader);
  }
  if (readers.size() > 1 && !node_.predictor.pushes_along_tree(readers.size())) readers.resize(1);
  if (readers.size() > 1) mark(Mark::kDepartureSpreadsNews);
  return run;
}

Task<> Pushes::send_news(Strand& s, std::uint32_t departure,
                         const std::vector<std::uint64_t>& along, bool stands) {
  if (node_.config.tunables.promised == 0) co_return;
  promises_.depart(departure);
  co_await s.pause();
  std::vector<Promised> due = promises_.due(departure);
  std::vector<NodeId> readers;
  for (std::size_t at = 0; at < due.size(); at += readers.size()) {
    BlockRange run = take_readers(std::span(due).subspan(at), readers);
    if (stands && went_along(along, s.inbox, run)) continue;
    bool whole = any_along(along, run) || !node_.predictor.pushes_versions();
    co_await server_.push(s, run, readers, departure, whole);
  }
  co_await s.perform(SendPushes{});
  co_await s.pause();
  promises_.keep();
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
