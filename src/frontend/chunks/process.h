#pragma once

#include <terrane/chunks.h>

#include <string>

#include "runtime/chunks/chains.h"

namespace terrane::frontend::chunks {

using runtime::Outcome;
using runtime::Status;
using runtime::chunks::ChunkNode;

// The one ChunkNode of this process, behind the C interface.
int join();
int leave();
// nullptr: outside of a job; the thread's last error says so of `call`.
ChunkNode* node_for(const char* call);
// Of the node that there is.
runtime::chunks::Meetings& meetings();
runtime::chunks::Chains& chains();

// kInvalid where the caller gave something else.
Outcome to_coherence(terrane_chunk_coherence given, runtime::chunks::machine::Coherence& coherence);
terrane_scope to_scope(const runtime::chunks::OpenScope& open);

int fail(Status status, std::string message);
const char* last_error();

// Calls `function` with the node; an Outcome becomes a status and the thread's last error.
template <typename Function>
int with_node(const char* call, Function function) noexcept {
  ChunkNode* node = node_for(call);
  if (node == nullptr) return static_cast<int>(Status::kState);
  Outcome outcome = function(*node);
  if (outcome.ok()) return 0;
  return fail(outcome.status, std::string(call) + ": " + outcome.message);
}

}  // namespace terrane::frontend::chunks
