// Chains of <terrane/chunks.h>.
#include <terrane/chunks.h>

#include "frontend/chunks/process.h"

namespace {

using namespace terrane::frontend::chunks;
using terrane::runtime::chunks::Chains;
using terrane::runtime::chunks::ChunkId;

}  // namespace

extern "C" {

int terrane_chain_create(const char* name, uint64_t bytes, size_t piece_bytes,
                         terrane_chunk_coherence coherence, terrane_chain* chain,
                         int* created) noexcept {
  return with_node("terrane_chain_create", [&](ChunkNode&) -> Outcome {
    if (name == nullptr) return null_argument("name");
    if (chain == nullptr) return null_argument("chain");
    Chains::Shape shape{.bytes = bytes, .piece_bytes = piece_bytes};
    if (Outcome good = to_coherence(coherence, shape.coherence); !good.ok()) return good;
    ChunkId id;
    bool existed = false;
    Outcome outcome = chains().create(name, shape, id, existed);
    if (!outcome.ok()) return outcome;
    chain->id = id.value;
    if (created != nullptr) *created = existed ? 0 : 1;
    return {};
  });
}

int terrane_chain_find(const char* name, int64_t timeout_ns, terrane_chain* chain) noexcept {
  return with_node("terrane_chain_find", [&](ChunkNode&) -> Outcome {
    if (name == nullptr) return null_argument("name");
    if (chain == nullptr) return null_argument("chain");
    if (Outcome good = check_timeout(timeout_ns); !good.ok()) return good;
    ChunkId id;
    Outcome outcome = chains().find(name, timeout_ns, id);
    if (outcome.ok()) chain->id = id.value;
    return outcome;
  });
}

int terrane_chain_state_type(terrane_chain chain, const char* name, size_t bytes,
                             size_t alignment) noexcept {
  return with_node("terrane_chain_state_type", [&](ChunkNode&) -> Outcome {
    if (name == nullptr) return null_argument("name");
    return types().state(ChunkId{chain.id}, {name, bytes, alignment});
  });
}

int terrane_chain_look(terrane_chain chain, terrane_chain_shape* shape) noexcept {
  return with_node("terrane_chain_look", [&](ChunkNode&) -> Outcome {
    if (shape == nullptr) return null_argument("shape");
    Chains::Shape now;
    Outcome outcome = chains().shape(ChunkId{chain.id}, now);
    if (outcome.ok())
      *shape = {now.bytes, now.piece_bytes, now.pieces(),
                static_cast<terrane_chunk_coherence>(now.coherence)};
    return outcome;
  });
}

int terrane_chain_piece(terrane_chain chain, size_t index, terrane_chunk* piece) noexcept {
  return with_node("terrane_chain_piece", [&](ChunkNode&) -> Outcome {
    if (piece == nullptr) return null_argument("piece");
    ChunkId id;
    Outcome outcome = chains().piece(ChunkId{chain.id}, index, id);
    if (outcome.ok()) piece->id = id.value;
    return outcome;
  });
}

int terrane_chain_append(terrane_chain chain, uint64_t bytes, size_t* first) noexcept {
  return with_node("terrane_chain_append", [&](ChunkNode&) -> Outcome {
    std::uint64_t index = 0;
    Outcome outcome = chains().append(ChunkId{chain.id}, bytes, index);
    if (outcome.ok() && first != nullptr) *first = index;
    return outcome;
  });
}

}  // extern "C"
