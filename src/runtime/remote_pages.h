#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "base/check.h"
#include "protocol/push/push_tree.h"
#include "protocol/push/subscribers.h"
#include "protocol/serve/server.h"
#include "protocol/steps/strand.h"
#include "runtime/page_space.h"
#include "runtime/page_steps.h"
#include "runtime/thread_context.h"
#include "transport/transport.h"

namespace terrane::runtime {

// Access to pages of homes whose memory cannot be reached: sends messages for what PageSpace does
// directly, and runs the protocol's Server for such messages of other nodes. Never waits: the
// engine waits until the thread's Exchange is done. Owns the differences that are collected for
// each home until they are sent together. ask() is called by the thread that performs the step
// (post(): under the consistency lock), received() by the polling thread.
class RemotePages {
 public:
  RemotePages(PageSpace& space, transport::Transport& transport, ThreadRegistry& threads,
              protocol::Server& server);

  // far: for each node, whether it is in another cluster; for the counters of messages. Called
  // before the first message, or never: then no node is.
  void count_far(std::vector<bool> far) { far_ = std::move(far); }

  // Sends the request of the step. The returned exchange, one of the context's, ends with the
  // step's result. A fetch that was posted before is not sent again.
  Exchange& ask(const protocol::Fetch& step, ThreadContext& context);
  Exchange& ask(const protocol::AskAtomic& step, ThreadContext& context);
  Exchange& ask(const protocol::LoadOwner& step, ThreadContext& context);
  Exchange& ask(const protocol::ClaimOwner& step, ThreadContext& context);
  void post_fetch(const protocol::PostFetch& step, ThreadContext& context);
  // Adds the block's difference to those collected for its home. Returns its size in bytes; 0:
  // there is no difference.
  std::uint64_t post(const protocol::PostDiff& step, ThreadContext& context);
  // Sends all collected differences.
  void send_posted(ThreadContext& context);

  // A strand's buffers for steps that send: pages, and collected pushes.
  struct Out {
    std::vector<Line>& pages;
    PushesOut& pushes;
    Counters& counters;
  };
  // Performs a step that sends, or one of PageSteps.
  template <typename Kind>
  void perform(Kind& step, const Out& out) {
    if constexpr (requires { perform_here(step, out); }) {
      perform_here(step, out);
    } else if constexpr (requires(PageSteps on_pages) { on_pages.perform(step); }) {
      PageSteps(space_, out.counters).perform(step);
    } else {
      TERRANE_CHECK(false, "a step that the engine performs itself");
    }
  }

  // If the pushes have come: true, and the step has its result. Otherwise false, and a push that
  // comes interrupts the thread's sleep.
  bool take_push(protocol::TakePush& step, ThreadContext& context);
  void forget_pushes(std::uint32_t barrier_exit);
  void end_subscription(const protocol::EndSubscription& step, ThreadContext& context);
  void take_granted(const protocol::TakeGranted& step, ThreadContext& context);

  // Appends our blocks (wire::GrantedBlock) to a grant for `to` that wants them, or to an arrival
  // whose receiver has subscribed to them. One thread at a time.
  void add_granted(NodeId to, std::span<const std::uint64_t> blocks, std::vector<std::byte>& grant,
                   Counters& counters);

  // Whether received() handles the message.
  static bool is_ours(transport::Bytes message);
  // Serves a request, or ends an exchange; false if the message is malformed. `counters`: of the
  // polling thread.
  bool received(NodeId from, transport::Bytes message, Counters& counters);

 private:
  template <typename T>
  static transport::Bytes bytes_of(const T& value) {
    return std::as_bytes(std::span(&value, 1));
  }
  void send_batch(NodeId to, ThreadContext& context);
  void send(NodeId to, transport::Bytes head, transport::Bytes tail, Counters& counters);
  template <typename Kind>
  Exchange& begin(const Kind& step, protocol::BlockRange blocks, wire::Kind answer,
                  Exchange& exchange, ThreadContext& context);
  Exchange* waiting(std::uint32_t waiter, NodeId from, protocol::BlockRange blocks,
                    wire::Kind answer);
  void finish(std::uint32_t waiter, Exchange& exchange);
  template <typename T>
  T run(protocol::Strand& strand, protocol::Task<T> task, const Out& out);
  void perform_here(const protocol::Pause& step, const Out& out);
  void perform_here(const protocol::Wait& step, const Out& out);
  void perform_here(const protocol::Wake& step, const Out& out);
  void perform_here(protocol::SendBuffer& step, const Out& out);
  void perform_here(protocol::SendMessage& step, const Out& out);
  void perform_here(const protocol::SendPush& step, const Out& out);
  void perform_here(const protocol::SendPushes& step, const Out& out);
  void perform_here(protocol::KeepPush& step, const Out& out);
  bool accept_atomic(NodeId from, transport::Bytes message);
  bool accept_page(NodeId from, transport::Bytes message);
  bool accept_owner(NodeId from, transport::Bytes message);
  bool accept_flushed(NodeId from, transport::Bytes message);

  std::vector<bool> far_;
  PageSpace& space_;
  transport::Transport& transport_;
  ThreadRegistry& threads_;
  protocol::Server& server_;
  std::mutex pushes_mutex_;  // guards pushes_ and push_taker_
  protocol::PushBox pushes_;
  ThreadContext* push_taker_ = nullptr;  // the thread that waits for pushes, or nullptr
  // serving_ is for the polling thread, granting_ for the thread that adds to a grant.
  protocol::Strand serving_{protocol::kNobody};
  protocol::Strand granting_{protocol::kNobody};
  PushesOut passed_;                                    // pushes that this node passes on
  std::vector<std::vector<std::byte>> batches_;         // collected differences, by home
  std::vector<std::atomic<std::uint32_t>> unanswered_;  // flushes, by home
  std::vector<NodeId> open_;                            // homes whose batch is not empty
  std::vector<Line> pages_;                             // pages to send; of the polling thread
  std::vector<Line> granted_;                           // buffer for one block of a grant
};

}  // namespace terrane::runtime
