#pragma once

#include <array>
#include <utility>
#include <vector>

#include "platform/ticks.h"
#include "protocol/chunks/mesi_chunk.h"
#include "runtime/trace/event_log.h"

namespace terrane::runtime::chunks {

// Records what happens to chunks on a node, in its event log. A null pointer in place of a
// ChunkTrace: nothing is recorded. `stepped`, `look`, `sent`, `came` and `closed` are called under
// the engine's mutex, the other methods by any thread. Times are platform::ticks().
//
// Of the scopes that open at once, only some have a record, with the number of scopes that it
// counts for. Every other event has its own record.
class ChunkTrace {
 public:
  using ChunkId = protocol::chunks::ChunkId;
  using Mode = protocol::chunks::Mode;
  using Copy = protocol::chunks::ChunkCache::Copy;

  // The most that a record's counter permits.
  static constexpr std::uint32_t kMostEvery = 128;

  // One of `every` scopes that open at once has a record, on average; 1: each.
  ChunkTrace(trace::EventLog& log, std::uint32_t every);
  // Records how many scopes followed the last record of each chunk.
  ~ChunkTrace();
  ChunkTrace(const ChunkTrace&) = delete;

  // Called after a step of the machine, before its effects are performed: records the states that
  // have changed. Chunks for which a waiting thread is answered are looked at with the answer.
  void stepped(const protocol::chunks::Event& event, const protocol::chunks::Effects& effects,
               const protocol::chunks::ChunkCache& cache) {
    bool quiet = std::holds_alternative<protocol::chunks::Open>(event) ||
                 std::holds_alternative<protocol::chunks::Close>(event);
    const auto& list = effects.list;
    if (quiet && list.empty()) return;
    if (quiet && list.size() == 1 && std::holds_alternative<protocol::chunks::Resume>(list[0]))
      return;
    look_around(event, effects, cache);
  }
  void look(ChunkId chunk, const Copy& copy) {
    auto now = static_cast<std::uint8_t>(state_of(copy));
    if (copy.ordinal < noted_.size() && noted_[copy.ordinal].state == now) return;
    note_state(chunk, copy, now);
  }
  void sent(ChunkId chunk, NodeId to, std::uint64_t bytes, trace::BytesWay way);
  void came(ChunkId chunk, std::uint64_t bytes, trace::BytesWay way);

  // A call that opens a scope has been answered.
  struct Answered {
    ChunkId chunk;
    Mode mode;
    trace::ScopeOrigin origin;
    protocol::chunks::Status status;
    std::uint64_t version, missed;
    std::uint64_t time, waited;
  };
  void answered(const Answered& call);
  // A scope has been closed. noted: its opening has a record; otherwise one record describes both.
  struct Closed {
    const Copy& copy;
    ChunkId chunk;
    Mode mode;
    std::uint64_t version, since;
    bool noted;
  };
  void closed(const Closed& scope) {
    if (scope.noted) return note_closed(scope, trace::Event::kScopeClosed, 0);
    Gap& gap = noted_[scope.copy.ordinal].gaps[static_cast<std::size_t>(scope.mode)];
    if (gap.left == 0) return note_sample(scope, gap);
    --gap.left;
  }
  // A scope of a pushed chunk has written a version, and was closed at `time`.
  void published(ChunkId chunk, std::uint64_t version, std::uint64_t bytes, std::uint64_t time);
  void handler_ran(ChunkId chunk, std::uint64_t version, std::uint64_t begin);
  // A thread has waited at a barrier, or for signals.
  void met(trace::Event event, ChunkId chunk, std::uint64_t begin, std::uint64_t number);
  void died(NodeId node);

 private:
  // Between two records: scopes of one chunk and mode that opened at once and have no record.
  struct Gap {
    std::uint8_t size = 0, left = 0;
  };
  // What was recorded of a chunk. Small, because each scope reads it.
  struct Noted {
    std::uint8_t state = kUnknown;  // the last one recorded
    std::array<Gap, 3> gaps{};      // by mode
  };
  static constexpr std::uint8_t kUnknown = 0xff;  // nothing was recorded

  // The state of a copy. Of a pushed chunk, exclusive means the right to write, and shared that a
  // version is here.
  static protocol::chunks::State state_of(const Copy& copy) {
    using enum protocol::chunks::State;
    if (!copy.pushed() || copy.state != kInvalid) return copy.state;
    return copy.held.empty() ? kInvalid : kShared;
  }
  void look_around(const protocol::chunks::Event& event, const protocol::chunks::Effects& effects,
                   const protocol::chunks::ChunkCache& cache);
  void note_state(ChunkId chunk, const Copy& copy, std::uint8_t now);
  void learn(ChunkId chunk, const Copy& copy);
  void lost(const protocol::chunks::Lost& lost);
  void note_closed(const Closed& scope, trace::Event event, std::uint8_t detail);
  void note_sample(const Closed& scope, Gap& gap);

  trace::EventLog& log_;
  const std::uint32_t every_;
  std::uint64_t random_;
  // By the copy's ordinal: what was recorded, and the chunk. A cache removes no copy.
  std::vector<Noted> noted_;
  std::vector<std::pair<ChunkId, const Copy*>> known_;
};

}  // namespace terrane::runtime::chunks
