#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "bootstrap/bootstrap.h"
#include "protocol/core/core.h"
#include "protocol/hlrc/hlrc.h"
#include "protocol/sc/pages.h"
#include "runtime/ordered_recalls.h"
#include "runtime/page_space.h"
#include "runtime/remote_pages.h"
#include "runtime/thread_context.h"
#include "runtime/wait_reports.h"
#include "transport/transport.h"
#include "waiting/handler_thread.h"

namespace terrane::runtime {

// Drives the protocol on real threads, pages and messages: performs the steps of operations in the
// calling thread, passes events to the core under one mutex, and delivers messages. A waiting
// thread makes progress by polling. While no thread waits, the handler thread sleeps on the
// transport and serves the other nodes.
class Engine final : private transport::Receiver {
 public:
  // Called by the handler thread when the launcher has news: a node has died and the job goes on,
  // or it asks for a snapshot.
  using NewsHandler = std::function<void(const bootstrap::News&)>;

  Engine(PageSpace& space, transport::Transport& transport, bootstrap::Bootstrap& bootstrap,
         ThreadRegistry& threads, protocol::Core& core, protocol::Hlrc& hlrc,
         protocol::sc::Pages& sc, NewsHandler on_news);
  ~Engine();

  // Runs an operation of the calling thread to its end. Returns its value.
  template <typename T>
  T run(ThreadContext& context, protocol::Task<T> task) {
    return run(context, context.strand, std::move(task));
  }

  // The same for an operation that ends with a wait for other nodes. The calling thread polls from
  // the start, so messages of other hosts wake no other thread.
  template <typename T>
  T run_expecting(ThreadContext& context, protocol::Task<T> task) {
    let_go(context);
    if (!space_.reaches_all()) attend(context);
    if constexpr (std::is_void_v<T>) {
      run(context, std::move(task));
      unattend(context);
    } else {
      T value = run(context, std::move(task));
      unattend(context);
      return value;
    }
  }

  // Delivers messages and serves other nodes before the calling thread starts its next operation. A
  // lock that it takes again and again costs no message, so it would never poll otherwise; and the
  // handler thread may have to wait for a processor.
  void look(ThreadContext& context);
  // The calling thread may lose its latest pages (LatestPages): the instructions that needed them
  // are done.
  void let_go(ThreadContext& context);

  // Gives the core an event, and waits until the core resumes the calling thread. Returns the value
  // of the answer; its bytes are Strand::take_answer().
  std::uint64_t call(ThreadContext& context, const protocol::Event& event);
  // A lock of the program that the calling thread holds, if any.
  std::optional<LockId> held_by(const ThreadContext& context);
  // As Synchronisation::await_fence.
  void await_fence(ThreadContext& context, std::uint64_t until_ns);
  // The allocation that contains the block, as far as this node knows. A region without blocks:
  // none does.
  protocol::Region allocation_of(std::uint64_t block);
  // Ends the handler thread and the dropper thread. No operation may be under way.
  void stop();

 private:
  template <typename T>
  T run(ThreadContext& context, protocol::Strand& strand, protocol::Task<T> task) {
    bool attended = context.attends;  // set if an outer operation, which waits, polls already
    strand.start(task);
    while (!task.done()) {
      perform(context, strand);
      strand.move_on();
    }
    if (!attended) unattend(context);
    return task.value();
  }
  // Work for the dropper thread.
  struct Chore {
    std::variant<protocol::Drop, protocol::Expire, protocol::Adopt> what;
    std::vector<std::byte> ranges;  // of an Expire
  };

  struct Steps;
  void perform(ThreadContext& context, protocol::Strand& strand);
  std::uint64_t ask_core(ThreadContext& context, const protocol::Event& event);
  void tell(ThreadContext& context, const protocol::Event& event);
  void step(const protocol::Event& event, Counters& counters);
  void decide(const protocol::Event& event);
  void carry_out(const protocol::Event& event, Counters& counters,
                 std::vector<Unrung>* unrung = nullptr);
  void carry_out(const protocol::Send& send, Counters& counters, std::vector<Unrung>* unrung);
  void carry_out(const protocol::Resume& resume);
  void count_notices(ThreadContext& context, const protocol::Event& event);
  void place(const protocol::Place& place, const protocol::Event& event, Counters& counters);
  template <typename Done>
  void wait_until(ThreadContext& context, Done done, WaitLimit limit = {}, bool alone = false);
  void run_handlers(ThreadContext& context);
  void attend(ThreadContext& context);
  void unattend(ThreadContext& context);
  bool poll_once(ThreadContext& context);
  void poll_now_and_then(ThreadContext& context);
  void ring(ThreadContext& context);
  void poll_all();
  waiting::HandlerTurn turn();
  void leave_to_dropper(Chore chore);
  void run_chores();
  std::uint64_t serve(ThreadContext& context, bool waits);
  void serve_offers(ThreadContext& context);
  void extend_turn(LockId lock, bool waits);
  std::uint64_t watch_turns();
  void end_turns(ThreadContext& context, bool all);
  void serve_releases(ThreadContext& context);
  void make_releases(ThreadContext& context);
  bool next_release(protocol::ReleaseKept& out);
  std::uint64_t serve_recalls(ThreadContext& context, bool waits);
  bool next_recall(bool waits, protocol::Recall& out);
  std::uint64_t kept_until_ns(std::uint64_t block) const;
  void look_after_deaths();
  void look_after_locks();
  [[noreturn]] void malformed(NodeId from);

  void received(NodeId from, transport::Bytes message) override;
  void lost(NodeId peer, std::string_view why) override;

  PageSpace& space_;
  transport::Transport& transport_;
  bootstrap::Bootstrap& bootstrap_;
  ThreadRegistry& threads_;
  RemotePages remote_;
  protocol::Core& core_;
  protocol::Hlrc& hlrc_;
  protocol::sc::Pages& sc_;
  std::mutex mutex_;  // of core_, effects_, chores_ and the members that say so
  protocol::Effects effects_;
  std::deque<Chore> chores_;
  // Pages that homes have recalled and that this node has not given up yet. recalls_ is under the
  // mutex. The atomics are its size, and the time when the first recall is due (0: look again).
  struct Recalled {
    protocol::Recall recall;
    bool busy = false;  // a thread here uses the page: for the handler thread, which may wait
    bool told = false;  // the handler thread was notified
  };
  std::vector<Recalled> recalls_;
  OrderedRecalls ordered_;
  std::atomic<std::uint32_t> recall_count_{0};
  std::atomic<std::uint64_t> recalls_due_ns_{0};
  // Kept releases: the release must be made before the token leaves the node. Made by a thread that
  // holds neither the consistency lock nor a block, or by the handler thread. releases_ is under
  // the mutex. The atomics are its size, and whether the handler thread was notified.
  std::deque<protocol::ReleaseKept> releases_;
  std::atomic<std::uint32_t> release_count_{0};
  std::atomic<bool> releases_told_{false};
  // Extended turns: tokens that stay here although other nodes wait for them, and since when.
  // turns_ is under the mutex. turn_count_ is its size, turns_ever_ counts all extensions so far.
  struct ExtendedTurn {
    LockId lock;
    std::uint64_t since_ns;
  };
  std::vector<ExtendedTurn> turns_;
  std::atomic<std::uint32_t> turn_count_{0};
  std::atomic<std::uint32_t> waiting_{0};  // threads that are in wait_until()

  std::atomic<std::uint64_t> turns_ever_{0};
  std::uint64_t turns_seen_ = 0;            // turns_ever_ as the handler thread saw it last
  std::atomic<bool> turns_watched_{false};  // the handler thread wakes often to look at turns_
  std::deque<protocol::Offer> offers_;      // homes that this node must offer; under the mutex
  std::atomic<std::uint32_t> offer_count_{0};
  std::vector<Line> page_;          // a page that is sent behind a message; under the mutex
  std::vector<std::byte> grant_;    // a grant or arrival with blocks appended; under the mutex
  WaitReports reports_;             // under the mutex
  std::uint64_t locks_due_ns_ = 0;  // next time to report held locks; of the handler thread
  NewsHandler on_news_;
  // The first peer that was lost, when, and the error message. Under the mutex.
  std::uint64_t lost_at_ns_ = 0;
  NodeId lost_;
  std::string loss_;
  std::uint64_t tidy_due_ns_ = 0;  // next time for Hlrc::tidy(); of the handler thread
  waiting::HandlerThread handler_;
  std::atomic<std::uint32_t> chores_told_{0};
  std::uint32_t chores_seen_ = 0;   // chores_told_ as the dropper thread saw it last
  waiting::HandlerThread dropper_;  // drops copies that expired, and the blocks of freed regions
};

}  // namespace terrane::runtime
