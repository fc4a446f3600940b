// What a node's runtime does for its machine.
#include <cstring>
#include <span>

#include "base/overloaded.h"
#include "sim/chunks/chunk_history.h"

namespace terrane::sim {

namespace {

using Ids = std::span<const chunks::ChunkId>;

// The chunks whose bytes a node keeps because it has reported them to a home, a bit each.
std::uint32_t kept_for_homes(const chunks::ChunkCache& cache, Ids ids) {
  std::uint32_t kept = 0;
  for (std::uint32_t c = 0; c < ids.size(); ++c) {
    const chunks::ChunkCache::Copy* copy = cache.copy(ids[c]);
    bool there = copy && !copy->gone && !copy->pushed() && copy->has_bytes;
    if (there && cache.copies().awaits_home(ids[c])) kept |= 1u << c;
  }
  return kept;
}

// The chunks that have become pushed, a bit each. Their home asked for that, and only a home that
// has the bytes does.
std::uint32_t gone_over(const chunks::ChunkCache& cache, Ids ids) {
  std::uint32_t over = 0;
  for (std::uint32_t c = 0; c < ids.size(); ++c) {
    const chunks::ChunkCache::Copy* copy = cache.copy(ids[c]);
    if (copy && copy->pushed()) over |= 1u << c;
  }
  return over;
}

// The bytes of a Send or a Forward, with its data. Valid until the next call.
template <typename Message>
const std::vector<std::byte>& message_of(const chunks::Effects& effects, const Message& message,
                                         protocol::Bytes data) {
  static thread_local std::vector<std::byte> bytes;
  auto head = std::span(effects.bytes).subspan(message.offset, message.size);
  bytes.assign(head.begin(), head.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

}  // namespace

void ChunkHistory::step(std::uint32_t n, const chunks::Event& event) {
  effects_.clear();
  bool own_will = careful_ && deaths_ > 0 && nodes_[n].alive &&
                  !std::holds_alternative<chunks::Received>(event) &&
                  !std::holds_alternative<chunks::ViewChanged>(event);
  const chunks::ChunkCache& cache = nodes_[n].machine->cache();
  Ids ids = Ids(ids_).first(program_->all.size());
  std::uint32_t kept = own_will ? kept_for_homes(cache, ids) : 0;
  nodes_[n].machine->step(event, effects_);
  if (own_will && (kept & ~kept_for_homes(cache, ids) & ~gone_over(cache, ids)) != 0)
    violated(Fault::kInvariant, "node {} gives up a copy that a new home may ask for", n);
  if (!nodes_[n].acts) note_coherence(n);
  perform(n, effects_);
  if (careful_) {
    nodes_[n].machine->check_invariants();
    check_across();
  }
  auto clock = static_cast<ActorId>(kFirstClock + n);
  if (nodes_[n].machine->next_deadline_ns() == chunks::kNever) {
    schedule_.park(clock);
  } else {
    schedule_.ready(clock);
  }
}

// The coherence that the home has chosen is valid from then on, even if it dies before another node
// hears of it.
void ChunkHistory::note_coherence(std::uint32_t n) {
  for (std::uint32_t c = 0; c < program_->all.size(); ++c) {
    if (!program_->all[c].changes) continue;
    const chunks::ChunkHome& home = nodes_[n].machine->home();
    const chunks::ChunkHome::Entry* entry = home.entry(ids_[c]);
    if (entry && !home.rebuilding(ids_[c])) checker_.keeps_to(c, entry->coherence);
  }
}

void ChunkHistory::perform(std::uint32_t n, const chunks::Effects& effects) {
  NodeMemory& memory = nodes_[n].memory;
  for (const auto& effect : effects.list) {
    std::visit(
        base::Overloaded{
            [&](const chunks::Send& e) {
              protocol::Bytes data;
              if (e.with_data) data = std::as_bytes(words(n, e.chunk, e.place));
              put(n, e.to, message_of(effects, e, data));
            },
            [&](const chunks::Forward& e) { put(n, e.to, message_of(effects, e, e.data)); },
            [&](const chunks::Resume& e) { resume(n, e); }, [&](const chunks::Notify&) {},
            [&](const chunks::Lost& e) { lost(n, e); }, [&](const chunks::NotifyWritable&) {},
            [&](const chunks::WorkReturned&) {},
            [&](const chunks::Provide& e) { memory.provide(e.chunk, e.place); },
            [&](const chunks::Install& e) {
              std::uint32_t chunk = index_of(e.chunk);
              if (e.bytes.size() != 8 * program_->all[chunk].words)
                violated(Fault::kBadStep, "node {} is given bytes that do not fit", n);
              std::memcpy(memory.words(e.chunk, e.place).data(), e.bytes.data(), e.bytes.size());
            },
            [&](const chunks::CopyBytes& e) {
              memory.words(e.chunk, e.to) = memory.words(e.chunk, e.from);
            },
            [&](const chunks::Discard& e) { memory.discard(e.chunk, e.place); },
            [&](const chunks::Malformed& e) {
              violated(Fault::kMalformed, "node {} refuses a message of node {}", n, e.from.value);
            }},
        effect);
  }
}

void ChunkHistory::put(std::uint32_t from, NodeId to, const std::vector<std::byte>& message) {
  std::uint32_t channel = network_.channel(from, to.value);
  network_.push(channel, message);
  schedule_.ready(static_cast<ActorId>(kFirstChannel + channel));
}

// The chunk of the program with this number. A home has its chunk before another node hears of it.
std::uint32_t ChunkHistory::index_of(chunks::ChunkId id) {
  for (const auto& [number, chunk] : numbers_)
    if (number == id) return chunk;
  for (const Node& node : nodes_) {
    const chunks::ChunkHome::Entry* entry = node.machine->home().entry(id);
    for (std::uint32_t c = 0; entry && c < program_->all.size(); ++c) {
      if (program_->all[c].name != entry->name) continue;
      numbers_.emplace_back(id, c);
      if (node.undead && ids_[c] != chunks::kNoChunk) {
        unheard_.push_back(id);
      } else {
        holds_from_now_on(id, c);
      }
      return c;
    }
  }
  violated(Fault::kBadStep, "nobody knows chunk {:x}", id.value);
}

void ChunkHistory::holds_from_now_on(chunks::ChunkId id, std::uint32_t c) {
  if (ids_[c] != chunks::kNoChunk) {
    check_told(c);
    checker_.remade(c);
    for (Thread& thread : threads_) thread.stale[c] = thread.open[c];
  }
  ids_[c] = id;
}

}  // namespace terrane::sim
