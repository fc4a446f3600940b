// Chunks by name, and where their homes are.
#include "platform/wait.h"
#include "runtime/chunks/chunk_node.h"
#include "runtime/chunks/names.h"

namespace terrane::runtime::chunks {

Outcome ChunkNode::check_home(std::string_view name, machine::Coherence coherence,
                              std::uint32_t home) const {
  if (home == machine::kHomeByName) return {};
  if (home == machine::kHomeAtFirst && coherence == machine::Coherence::kInvalidate)
    return {
        Status::kInvalid,
        fmt::format("chunk '{}' with its home at the first subscriber has coherence invalidate, "
                    "to which nobody can subscribe; name a node, or give update or stream",
                    name)};
  if (home == machine::kHomeAtFirst || home < most_nodes()) return {};
  return {Status::kInvalid, fmt::format("chunk '{}' with its home at node {}; the job has nodes 0 "
                                        "to {}",
                                        name, home, most_nodes() - 1)};
}

Outcome ChunkNode::create(std::string_view name, std::uint64_t bytes, machine::Coherence coherence,
                          ChunkId& chunk, bool& existed, std::uint32_t home) {
  if (Outcome good = check_name(name); !good.ok()) return good;
  if (bytes == 0) return {Status::kInvalid, fmt::format("chunk '{}' of 0 bytes", name)};
  if (bytes > machine::kMaxChunkBytes)
    return {Status::kInvalid, fmt::format("chunk '{}' of {} bytes; at most {}, make several of it",
                                          name, bytes, machine::kMaxChunkBytes)};
  if (Outcome good = check_home(name, coherence, home); !good.ok()) return good;
  return create({.name = name, .bytes = bytes, .coherence = coherence, .home = home}, chunk,
                existed);
}

Outcome ChunkNode::create(const machine::Create& event, ChunkId& chunk, bool& existed) {
  std::string_view name = event.name;
  ChunkEngine::Answer answer = engine_->create(event);
  switch (answer.status) {
    case machine::Status::kMismatch: {
      ChunkId other;
      Outcome found = find(name, 0, other);
      ChunkEngine::Facts there = found.ok() ? facts(other) : ChunkEngine::Facts{};
      return {
          Status::kMismatch,
          fmt::format("chunk '{}' exists with {} bytes and coherence {}; asked for were {} bytes "
                      "and {}",
                      name, there.bytes, name_of(there.coherence), event.bytes,
                      name_of(event.coherence))};
    }
    case machine::Status::kNoMemory:
      return {Status::kNoMemory,
              fmt::format("chunk '{}' of {} bytes does not fit the memory for chunks of its home; "
                          "raise --memory, or use more servers (--servers)",
                          name, event.bytes)};
    case machine::Status::kUnknown:
      return {Status::kInvalid,
              fmt::format("chunk '{}' with its home at a node that is not in the job (now); name "
                          "another one",
                          name)};
    case machine::Status::kTimedOut:
      return {Status::kTimedOut, fmt::format("chunk '{}' has no home: no node has subscribed in "
                                             "time",
                                             name)};
    case machine::Status::kUnplaced:
      chunk = unplaced_.number_of({std::string(name), event.bytes, event.coherence});
      existed = true;
      return {};
    default:
      chunk = answer.chunk;
      existed = answer.status == machine::Status::kExisted;
      return {};
  }
}

Outcome ChunkNode::find(std::string_view name, std::int64_t timeout_ns, ChunkId& chunk) {
  if (Outcome good = check_name(name); !good.ok()) return good;
  ChunkEngine::Answer answer = engine_->find(name, timeout_ns != 0, deadline(timeout_ns));
  if (answer.status == machine::Status::kUnknown)
    return {Status::kUnknown, fmt::format("there is no chunk '{}'", name)};
  if (answer.status == machine::Status::kTimedOut)
    return {Status::kTimedOut, fmt::format("nobody created a chunk '{}' within {:.3f} s", name,
                                           static_cast<double>(timeout_ns) * 1e-9)};
  chunk = answer.chunk;
  if (answer.status == machine::Status::kUnplaced)
    chunk = unplaced_.number_of(
        {std::string(name), answer.changed.bytes, static_cast<machine::Coherence>(answer.version)});
  return {};
}

ChunkEngine::Facts ChunkNode::facts(ChunkId chunk) const {
  auto unplaced = unplaced_.look(chunk);
  if (!unplaced) return engine_->facts(chunk);
  if (unplaced->placed != machine::kNoChunk) return engine_->facts(unplaced->placed);
  return {unplaced->name, unplaced->bytes, unplaced->coherence, kNoNode};
}

ChunkId ChunkNode::placed(ChunkId chunk) const {
  auto unplaced = unplaced_.look(chunk);
  return unplaced && unplaced->placed != machine::kNoChunk ? unplaced->placed : chunk;
}

Outcome ChunkNode::ask_home(ChunkId& chunk, machine::Create::Unplaced how,
                            std::uint64_t deadline_ns) {
  auto unplaced = unplaced_.look(chunk);
  if (!unplaced) return {};
  ChunkId home = unplaced->placed;
  bool existed = false;
  if (home == machine::kNoChunk) {
    Outcome outcome = create({.name = unplaced->name,
                              .bytes = unplaced->bytes,
                              .coherence = unplaced->coherence,
                              .home = machine::kHomeAtFirst,
                              .unplaced = how,
                              .deadline_ns = deadline_ns},
                             home, existed);
    if (!outcome.ok()) return outcome;
    if (Unplaced::is_number(home))
      return {Status::kBusy,
              fmt::format("chunk '{}' has no home yet: no node has subscribed", unplaced->name)};
    unplaced_.place(chunk, home);
  }
  chunk = home;
  return {};
}

Outcome ChunkNode::await_home(ChunkId& chunk, std::int64_t timeout_ns) {
  using How = machine::Create::Unplaced;
  return ask_home(chunk, timeout_ns == 0 ? How::kTell : How::kWait, deadline(timeout_ns));
}

Outcome ChunkNode::become_home(ChunkId& chunk) {
  return ask_home(chunk, machine::Create::Unplaced::kHere, machine::kNever);
}

}  // namespace terrane::runtime::chunks
