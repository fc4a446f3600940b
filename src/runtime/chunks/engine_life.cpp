// Deaths, and the end of the job.
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "platform/wait.h"
#include "runtime/chunks/engine_reports.h"
#include "runtime/wiring.h"
#include "waiting/constants.h"

namespace terrane::runtime::chunks {
namespace {

constexpr std::uint64_t kPartNs = 5'000'000'000;  // for the other nodes to receive our last message

}  // namespace

void ChunkEngine::handle_frame(NodeId from, const wire::ChunkFrame& frame, transport::Bytes body) {
  switch (frame.kind) {
    case wire::FrameKind::kLeaving:
      leaves_[from.value] = true;
      return look_who_leaves();
    case wire::FrameKind::kParted:
      parted_[from.value] = true;
      return look_who_leaves();
    case wire::FrameKind::kWhoHolds:
      return reports_->tell_holder(from, frame);
    case wire::FrameKind::kHolder:
      return reports_->take_holder(from, frame, body);
    default:
      return fail_malformed(from);
  }
}

// ---- Deaths

// The launcher detects every death by itself. It ends the job or reports the death to this node; if
// it does neither, this node ends the job.
void ChunkEngine::lost(NodeId peer, std::string_view why) {
  std::lock_guard hold(mutex_);
  parted_[peer.value] = true;
  look_who_leaves();
  if (lost_at_ns_ != 0 || leaving_in_order_.load()) return;
  lost_ = peer;
  loss_ = fmt::format("node {} on {} is lost: {}", peer.value, bootstrap_.host_name(peer), why);
  lost_at_ns_ = platform::now_ns();
}

void ChunkEngine::look_after_deaths() {
  std::lock_guard hold(mutex_);
  bool late = lost_at_ns_ != 0 && platform::now_ns() - lost_at_ns_ >= waiting::kLossGraceNs;
  if (late && !leaving_in_order_.load() && view_.has(lost_)) fail(loss_);
}

// In a thread of its own: the other threads may compute or sleep when the launcher sends something.
void ChunkEngine::hear_news() {
  pthread_setname_np(pthread_self(), "terrane-news");
  pollfd ready[] = {{bootstrap_.news_fd(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
  while (!stopping_.load()) {
    if (::poll(ready, 2, -1) <= 0 || ready[0].revents == 0) continue;
    bool any = false;
    while (auto one = bootstrap_.take_news()) {
      any = true;
      take(*one);
    }
    if (!any) return;  // the launcher has gone, or ends the job
  }
}

// The newcomer's first messages may come before other threads here know of it.
void ChunkEngine::welcome(const bootstrap::News& news) {
  auto card = card_of_newcomer(news.card);
  auto admitted = card ? transport_.admit(news.node, std::move(card).value()) : card.error();
  if (!admitted)
    fail(fmt::format("node {} on {} cannot join: {}", news.node.value,
                     bootstrap_.host_name(news.node), admitted.error().message));
  {
    std::lock_guard hold(mutex_);
    members_.add(
        {news.node, MemberChange::Kind::kJoined, std::string(bootstrap_.host_name(news.node))});
    view_ = config_.topology.with(view_, news.node);
    step(machine::ViewChanged{&view_});
    // If the newcomer becomes a server it must know which nodes want to leave.
    if (leaving_ != nullptr && !leaving_in_order_.load())
      send(news.node, {.kind = wire::FrameKind::kLeaving}, {});
  }
  bootstrap_.admitted(news.node);
}

void ChunkEngine::answer_launcher() {
  streams_.begin();
  bootstrap::NodeSnapshot one;
  one.at_ns = platform::now_ns();
  one.age_ns = one.at_ns - started_ns_;
  one.recent_ns = answered_ns_ == 0 ? 0 : one.at_ns - answered_ns_;
  answered_ns_ = one.at_ns;
  one.chunk_sent = counters_.messages_sent;
  one.chunk_sent_bytes = counters_.data_bytes_sent;
  one.chunk_received = counters_.messages_received;
  one.chunk_received_bytes = counters_.data_bytes_received;
  one.versions_written = counters_.versions_written;
  one.versions_taken = counters_.versions_taken;
  one.chunk_waits = counters_.waits;
  one.chunk_wait_ns = counters_.wait_ns;
  auto name = [this](ChunkId chunk) {
    std::lock_guard hold(mutex_);
    if (const auto* copy = machine_.cache().copy(chunk)) return copy->name;
    const auto* stream = machine_.cache().work().stream(chunk);
    return stream == nullptr ? fmt::format("chunk {:#x}", chunk.value) : stream->name;
  };
  one.streams = streams_.busiest(bootstrap::NodeSnapshot::kMostListed, name);
  bootstrap_.answer(bootstrap::encode_snapshot(std::move(one)), bootstrap_.interfaces());
}

void ChunkEngine::take(const bootstrap::News& news) {
  if (news.kind == bootstrap::News::Kind::kJoined) return welcome(news);
  if (news.kind == bootstrap::News::Kind::kAsked) return answer_launcher();
  std::lock_guard hold(mutex_);
  if (news.kind == bootstrap::News::Kind::kClosed) {
    closed_ = true;
    return look_who_leaves();
  }
  if (!view_.has(news.node)) return;
  bool died = news.kind == bootstrap::News::Kind::kDied;
  if (dead_.size() <= news.node.value) dead_.resize(news.node.value + 1);
  dead_[news.node.value] = died;
  members_.add({news.node, died ? MemberChange::Kind::kDied : MemberChange::Kind::kLeft,
                std::string(bootstrap_.host_name(news.node))});
  view_ = config_.topology.without(view_, news.node, died);
  pool_.bury(news.node);
  if (trace_ && news.kind == bootstrap::News::Kind::kDied) trace_->died(news.node);
  if (lost_ == news.node) lost_at_ns_ = 0;
  step(machine::ViewChanged{&view_});
  look_who_leaves();
}

// ---- The end

void ChunkEngine::look_who_leaves() {
  if (leaving_ == nullptr) return;
  const std::vector<bool>& heard = leaving_in_order_.load() ? parted_ : leaves_;
  bool all = std::all_of(view_.members.begin(), view_.members.end(),
                         [&](NodeId node) { return node == config_.self || heard[node.value]; });
  if (!all) return;
  if (closed_ || leaving_in_order_.load()) return finish(*leaving_);
  if (!std::exchange(asked_to_close_, true)) bootstrap_.closing();
}

bool ChunkEngine::serves(NodeId node) const {
  auto names = view_.slots.begin() + view_.name_slots();
  return std::any_of(view_.slots.begin(), names,
                     [node](const View::Slot& slot) { return slot.home == node; }) ||
         (node == config_.self && machine_.home().is_needed());
}

bootstrap::Departure ChunkEngine::leave() {
  // The launcher reports to the other nodes which node has left alone. A node that stays in the job
  // for another front-end reports that itself, as do all nodes that leave together.
  bool alone = !bootstrap_.is_shared() && leave_alone();
  if (!alone) leave_with_all();
  stop();
  // Other nodes discard what this node held as soon as they learn that it has left, so it must hold
  // nothing.
  forget_memory();
  return alone ? bootstrap::Departure::kAlone : bootstrap::Departure::kWithAll;
}

void ChunkEngine::stop() {
  stopping_.store(true);
  ::eventfd_write(stop_.get(), 1);
  handler_.stop();
  if (listener_.joinable()) listener_.join();
}

// A node that knows that all nodes want to leave says so, and leaves when all have said so. Then no
// node waits for anything of this one.
void ChunkEngine::leave_with_all() {
  for (bool parting : {false, true}) {
    Waiter waiter;
    waiter.wants = parting ? Wants::kAnswers : Wants::kDeparture;
    {
      std::lock_guard hold(mutex_);
      leaving_in_order_.store(parting);
      leaving_ = &waiter;
      wire::ChunkFrame frame{.kind =
                                 parting ? wire::FrameKind::kParted : wire::FrameKind::kLeaving};
      for (NodeId node : view_.members)
        if (node != config_.self) send(node, frame, {});
      look_who_leaves();
    }
    wait_for(waiter, parting ? platform::now_ns() + kPartNs : machine::kNever);
    std::lock_guard hold(mutex_);
    leaving_ = nullptr;
  }
}

}  // namespace terrane::runtime::chunks
