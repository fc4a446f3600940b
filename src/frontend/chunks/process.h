#pragma once

#include <terrane/chunks.h>

#include <string>
#include <system_error>

#include "runtime/chunks/chains.h"
#include "runtime/chunks/types.h"
#include "runtime/chunks/work_streams.h"

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
runtime::chunks::Types& types();
runtime::chunks::WorkStreams& works();

// The answer to a call whose argument of this name must not be NULL, and is.
Outcome null_argument(const char* name);
// Of a call's timeout: at least -1, which is for ever.
Outcome check_timeout(int64_t timeout_ns);
// kInvalid where the caller gave something else.
// TERRANE_HOME_*, or a node.
Outcome to_home(int32_t given, std::uint32_t& home);
Outcome to_coherence(terrane_chunk_coherence given, runtime::chunks::machine::Coherence& coherence);
terrane_scope to_scope(const runtime::chunks::OpenScope& open);

int fail(Status status, std::string message);
// For a call from a signal handler that has interrupted another call of this thread, which holds
// what this one needs. Allocates nothing.
int fail_in_handler();
const char* last_error();

// While the calling thread is in a call. Taken by every call that uses the node. Its end waits
// until a handler that made the call, and waited in it, may go on.
class InCall {
 public:
  InCall() : outermost_(!is_inside_) { is_inside_ = true; }
  ~InCall() {
    if (!outermost_) return;
    runtime::chunks::Subscriptions::take_turn();  // the call may have waited, of a handler
    is_inside_ = false;
  }
  InCall(const InCall&) = delete;
  // False: a signal handler has interrupted a call.
  bool outermost() const { return outermost_; }

 private:
  static thread_local volatile bool is_inside_;
  bool outermost_;
};

// Calls `function` with the node; an Outcome becomes a status and the thread's last error.
template <typename Function>
int with_node(const char* call, Function function) noexcept {
  InCall in_call;
  if (!in_call.outermost()) return fail_in_handler();
  ChunkNode* node = node_for(call);
  if (node == nullptr) return static_cast<int>(Status::kState);
  try {
    Outcome outcome = function(*node);
    if (outcome.ok()) return 0;
    return fail(outcome.status, std::string(call) + ": " + outcome.message);
  } catch (const std::system_error& error) {  // a subscription's thread
    return fail(Status::kSystem, std::string(call) + ": " + error.what());
  }
}

}  // namespace terrane::frontend::chunks
