#include "frontend/chunks/process.h"

#include <pthread.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "base/thread_text.h"
#include "platform/quiet_thread.h"

namespace terrane::frontend::chunks {
namespace {

struct Process {
  std::mutex mutex;  // of join and leave
  std::unique_ptr<ChunkNode> owned;
  std::unique_ptr<runtime::chunks::Meetings> meetings;
  std::unique_ptr<runtime::chunks::Chains> chains;
  std::unique_ptr<runtime::chunks::Types> types;
  std::unique_ptr<runtime::chunks::WorkStreams> works;
  std::atomic<ChunkNode*> node{nullptr};
  bool left = false;
  bool is_child = false;  // a child of the process that joined; it has no node
};
Process& process() {
  static auto* one = new Process();  // never destroyed: threads may run on while the process exits
  return *one;
}

std::string& error_text() { return base::thread_text<Process>(); }

// The error that goes before error_text(); nullptr: none does.
thread_local const char* fixed_error = nullptr;

// Neither shared memory nor the node's threads are in a child. Takes no lock: another thread of the
// parent may have held it.
void leave_in_child() {
  Process& self = process();
  self.is_child = self.is_child || self.node.load(std::memory_order_relaxed) != nullptr;
  self.node.store(nullptr, std::memory_order_relaxed);
}

int fail_in_child(const char* call) {
  return fail(Status::kState,
              fmt::format("{} in a child of the process that joined the job: that one alone has "
                          "chunks",
                          call));
}

}  // namespace

thread_local volatile bool InCall::is_inside_ = false;

int fail(Status status, std::string message) {
  error_text() = std::move(message);
  fixed_error = nullptr;
  return static_cast<int>(status);
}

int fail_in_handler() {
  fixed_error =
      "a signal handler has interrupted a call of <terrane/chunks.h> and made another: that one "
      "cannot be served; note the signal, and make the call when the first one has returned";
  return static_cast<int>(Status::kState);
}

const char* last_error() { return fixed_error ? fixed_error : error_text().c_str(); }

ChunkNode* node_for(const char* call) {
  Process& self = process();
  ChunkNode* node = self.node.load(std::memory_order_acquire);
  if (node != nullptr) return node;
  if (self.is_child) {
    fail_in_child(call);
  } else {
    fail(Status::kState,
         fmt::format("{} {}", call,
                     self.left ? "after terrane_chunks_finalize" : "before terrane_chunks_init"));
  }
  return nullptr;
}

runtime::chunks::Meetings& meetings() { return *process().meetings; }

runtime::chunks::Chains& chains() { return *process().chains; }

runtime::chunks::Types& types() { return *process().types; }

runtime::chunks::WorkStreams& works() { return *process().works; }

int join() {
  Process& self = process();
  if (self.is_child) return fail_in_child("terrane_chunks_init");
  std::lock_guard hold(self.mutex);
  if (self.owned != nullptr || self.left)
    return fail(Status::kState, self.left ? "terrane_chunks_init after terrane_chunks_finalize"
                                          : "terrane_chunks_init twice");
  auto node = platform::without_exceptions([] { return ChunkNode::join(); });
  if (!node) return fail(Status::kSystem, node.error().message);
  self.owned = std::move(node).value();
  self.meetings = std::make_unique<runtime::chunks::Meetings>(*self.owned);
  self.chains = std::make_unique<runtime::chunks::Chains>(*self.owned, *self.meetings);
  self.types = std::make_unique<runtime::chunks::Types>(*self.owned);
  self.works = std::make_unique<runtime::chunks::WorkStreams>(*self.owned);
  pthread_atfork(nullptr, nullptr, leave_in_child);
  self.node.store(self.owned.get(), std::memory_order_release);
  return 0;
}

int leave() {
  Process& self = process();
  if (self.is_child) return fail_in_child("terrane_chunks_finalize");
  std::lock_guard hold(self.mutex);
  return with_node("terrane_chunks_finalize", [&](ChunkNode& node) {
    Outcome outcome = node.leave();
    if (!outcome.ok()) return outcome;
    self.left = true;
    self.node.store(nullptr, std::memory_order_release);
    self.chains.reset();
    self.meetings.reset();
    self.owned.reset();
    return outcome;
  });
}

}  // namespace terrane::frontend::chunks
