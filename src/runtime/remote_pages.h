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

// Pages of homes whose memory cannot be reached: asks them by messages for what PageSpace does with
// memory that can, and runs the protocol's Server for such messages to us. Never waits: the engine
// does, until the thread's Exchange is over. Owns the differences that are collected for each home
// until they are sent together. Asking is for the thread that performs the step (posting: under the
// consistency lock), received() for the thread that polls.
class RemotePages {
 public:
  RemotePages(PageSpace& space, transport::Transport& transport, ThreadRegistry& threads,
              protocol::Server& server);

  // By node, whether it is in another cluster, for the counters of what is sent; before the first
  // message. Without: none is.
  void count_far(std::vector<bool> far) { far_ = std::move(far); }

  // Sends what the step needs; the exchange that is returned, one of the context's, ends with the
  // step's result. What was posted of a fetch is not sent again.
  Exchange& ask(const protocol::Fetch& step, ThreadContext& context);
  Exchange& ask(const protocol::AskAtomic& step, ThreadContext& context);
  Exchange& ask(const protocol::LoadOwner& step, ThreadContext& context);
  Exchange& ask(const protocol::ClaimOwner& step, ThreadContext& context);
  void post_fetch(const protocol::PostFetch& step, ThreadContext& context);
  // The block's difference joins what is collected for its home. Returns the difference's size in
  // bytes; 0 when there is none.
  std::uint64_t post(const protocol::PostDiff& step, ThreadContext& context);
  // Sends all that is collected.
  void send_posted(ThreadContext& context);

  // What a strand has for steps that send: room for pages, and pushes that are collected.
  struct Out {
    std::vector<Line>& pages;
    PushesOut& pushes;
    Counters& counters;
  };
  // A step that sends, or one of PageSpace.
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

  // Once they are here: then true, and the step's result. Otherwise the thread is interrupted in
  // its sleep when some come.
  bool take_push(protocol::TakePush& step, ThreadContext& context);
  void forget_pushes(std::uint32_t departure);
  void end_subscription(const protocol::EndSubscription& step, ThreadContext& context);
  void take_granted(const protocol::TakeGranted& step, ThreadContext& context);

  // Appends to a grant for `to` what it wants of our blocks (wire::GrantedBlock), or to an arrival
  // what it was promised. One thread at a time.
  void add_granted(NodeId to, std::span<const std::uint64_t> blocks, std::vector<std::byte>& grant,
                   Counters& counters);

  // Whether a message is one of these.
  static bool is_ours(transport::Bytes message);
  // Serves or ends an exchange; false when the message is malformed. `counters`: the polling
  // thread's.
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
  std::mutex pushes_mutex_;  // guards news_ and push_taker_
  protocol::PushBox pushes_;
  ThreadContext* push_taker_ = nullptr;  // who waits for some
  // Of the polling thread, and of the one that adds to a grant.
  protocol::Strand serving_{protocol::kNobody};
  protocol::Strand granting_{protocol::kNobody};
  PushesOut passed_;                                    // pushes
  std::vector<std::vector<std::byte>> batches_;         // by home
  std::vector<std::atomic<std::uint32_t>> unanswered_;  // flushes, by home
  std::vector<NodeId> open_;                            // homes with something collected
  std::vector<Line> pages_;                             // on their way out; of the polling thread
  std::vector<Line> granted_;                           // one, on its way with a grant
};

}  // namespace terrane::runtime
