#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "protocol/push/news_tree.h"
#include "protocol/push/promises.h"
#include "protocol/push/sent_news.h"
#include "protocol/serve/served.h"
#include "protocol/steps/effects.h"
#include "runtime/page_space.h"
#include "runtime/thread_context.h"
#include "transport/transport.h"

namespace terrane::runtime {

// Pages of homes whose memory cannot be reached: asks them by messages for what PageSpace does with
// memory that can, and answers such messages for our own pages. Never waits: the engine does, until
// the thread's Exchange is over. Owns the differences that are collected for each home until they
// are sent together. Asking is for the thread that performs the step (posting: under the
// consistency lock), received() for the thread that polls.
class RemotePages {
 public:
  RemotePages(PageSpace& space, transport::Transport& transport, ThreadRegistry& threads,
              protocol::Promises& promises);

  // Sends what kFetch, kAskAtomic, kLoadOwner or kClaimOwner needs; the exchange that is returned,
  // one of the context's, ends with the step's result. What was posted of a kFetch is not sent
  // again.
  Exchange& ask(const protocol::Step& step, ThreadContext& context);
  // kPostFetch.
  void post_fetch(const protocol::Step& step, ThreadContext& context);
  // kPostDiff: the block's difference joins what is collected for its home. Returns the
  // difference's size in bytes; 0 when there is none.
  std::uint64_t post(const protocol::Step& step, ThreadContext& context);
  // Sends all that is collected.
  void send_posted(ThreadContext& context);

  // kSendNews: they join what is collected for the readers.
  void send_news(const protocol::Step& step, ThreadContext& context);
  // Sends all that is collected, a message a reader.
  void send_collected_news(ThreadContext& context);
  // kTakeNews, once they are here: then true, and the step's result. Otherwise the thread is
  // interrupted in its sleep when some come.
  bool take_news(const protocol::Step& step, ThreadContext& context, std::uint64_t& result);
  void forget_news(std::uint32_t departure);
  // kEndPromise.
  void end_promise(const protocol::Step& step, ThreadContext& context);
  // kTakeGranted.
  void take_granted(const protocol::Step& step, ThreadContext& context);

  // Appends to a grant for `to` what it wants of our blocks (wire::GrantedBlock), or to an arrival
  // what it was promised. One thread at a time.
  void add_granted(NodeId to, std::span<const std::uint64_t> blocks, std::vector<std::byte>& grant);

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
  template <typename Request>
  void begin(const Request& request, wire::Kind answer, const protocol::Step& step,
             Exchange& exchange, ThreadContext& context);
  void begin_fetch(const protocol::Step& step, Exchange& exchange, ThreadContext& context);
  Exchange* waiting(std::uint32_t waiter, NodeId from, protocol::BlockRange blocks,
                    wire::Kind answer);
  void finish(std::uint32_t waiter, Exchange& exchange, std::uint64_t result);
  // The first blocks of a run that a home has; of none, the node to ask.
  struct Collected {
    std::uint64_t count = 0;
    std::uint32_t tracked = 0;  // a bit for each
    bool own = false;           // the reader's from now on
    NodeId ask;
  };
  template <typename Answer>
  Collected collect(protocol::BlockRange blocks, std::byte* out, Answer answer_to);
  std::uint8_t moved_together(std::uint64_t block, std::uint8_t blocks, NodeId home);
  bool apply(wire::Flush& flush, const wire::FlushedBlock& block, transport::Bytes diff,
             Counters& counters);
  bool in_space(std::uint64_t block, std::uint32_t blocks) const;

  bool serve_fetch(NodeId from, transport::Bytes message, Counters& counters);
  bool serve_flush(NodeId from, transport::Bytes message, Counters& counters);
  bool serve_atomic(NodeId from, transport::Bytes message, Counters& counters);
  bool accept_atomic(NodeId from, transport::Bytes message);
  bool serve_owner(NodeId from, transport::Bytes message, Counters& counters);
  bool accept_page(NodeId from, transport::Bytes message);
  bool accept_owner(NodeId from, transport::Bytes message);
  bool accept_news(transport::Bytes message, Counters& counters);
  bool accept_promise_end(NodeId from, transport::Bytes message);
  void forget_sent(protocol::BlockRange run);
  bool keep_news(const protocol::NewsPart& part);
  bool is_sound(const protocol::NewsPart& part) const;
  void spread_news(const protocol::NewsPart& part, NewsOut& out, Counters& counters);
  void send_collected(NewsOut& out, Counters& counters);
  bool accept_flushed(NodeId from, transport::Bytes message);

  PageSpace& space_;
  transport::Transport& transport_;
  ThreadRegistry& threads_;
  protocol::Promises& promises_;
  std::mutex news_mutex_;  // guards news_ and news_taker_
  protocol::NewsBox news_;
  ThreadContext* news_taker_ = nullptr;  // who waits for some
  NewsOut passed_;                       // on; of the polling thread
  std::mutex sent_mutex_;                // guards sent_news_
  protocol::SentNews sent_news_;
  std::vector<std::vector<std::byte>> batches_;         // by home
  std::vector<std::atomic<std::uint32_t>> unanswered_;  // flushes, by home
  std::vector<NodeId> open_;                            // homes with something collected
  std::vector<Line> pages_;                             // on their way out; of the polling thread
  std::vector<Line> granted_;                           // one, on its way with a grant
};

}  // namespace terrane::runtime
