#include "protocol/core/announcements.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <utility>

#include "base/check.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace {

bool is_within(const VectorTimestamp& known, const VectorTimestamp& all) {
  return std::equal(known.begin(), known.end(), all.begin(), std::less_equal<>());
}

void join(VectorTimestamp& into, const VectorTimestamp& from) {
  for (std::size_t n = 0; n < from.size(); ++n) into[n] = std::max(into[n], from[n]);
}

}  // namespace

Announcements::Announcements(NodeId self, std::uint32_t nodes, std::uint64_t blocks,
                             std::size_t most_kept, std::vector<bool> seen, const IntervalLog& log,
                             Outbox& outbox)
    : self_(self),
      nodes_(nodes),
      blocks_(blocks),
      most_kept_(most_kept),
      seen_(std::move(seen)),
      log_(log),
      outbox_(outbox),
      covered_(nodes),
      incomplete_(nodes),
      answers_(nodes),
      see_count_(nodes),
      blind_(nodes - 1),
      counted_(nodes) {}

bool Announcements::covers(const VectorTimestamp& known) const {
  return is_within(known, covered_);
}

// Whether all nodes will have heard what this node knows once the announcements of others that are
// under way are complete.
bool Announcements::others_will_cover() const {
  VectorTimestamp reach = covered_;
  for (const VectorTimestamp& one : incomplete_) join(reach, one);
  return is_within(log_.timestamp(), reach);
}

void Announcements::announce(const Announce& event) {
  if (event.counted) {
    tell_counted();
    return outbox_.resume_plain(event.waiter, 1);
  }
  if (covers(log_.timestamp())) {
    look_quiet();
    return outbox_.resume_plain(event.waiter, 0);
  }
  if (blind_ == 0) return outbox_.resume_plain(event.waiter, kCountFirst);
  waiters_.push_back(event.waiter);
  if (missing_ > 0) return mark(Mark::kFenceWaitsForSibling);
  if (others_will_cover()) return mark(Mark::kFenceWaitsForOther);
  begin();
}

std::vector<std::byte> Announcements::message(const VectorTimestamp& reach, bool counted) const {
  std::vector<std::byte> message;
  wire::put(message, wire::Announce{.counted = static_cast<std::uint8_t>(counted ? 1 : 0)});
  put_bytes(message, std::as_bytes(std::span(reach)));
  log_.write_since(covered_, message);
  return message;
}

void Announcements::send_all(const std::vector<std::byte>& message) {
  for (std::uint32_t n = 0; n < nodes_; ++n) {
    if (n == self_.value) continue;
    put_bytes(outbox_.begin(), message);
    outbox_.send(NodeId{n});
  }
}

// It was counted, so it is sent even if another thread has told the same meanwhile.
void Announcements::tell_counted() {
  mark(Mark::kFenceCounts);
  send_all(message(log_.timestamp(), true));
  join(covered_, log_.timestamp());
}

void Announcements::begin() {
  sent_ = log_.timestamp();
  send_all(message(sent_, false));
  for (std::uint32_t n = 0; n < nodes_; ++n) answers_[n] = n != self_.value;
  missing_ = nodes_ - 1;
  if (!mutant(Mutant::kFenceAnswersEarly)) return;
  join(covered_, sent_);
  resume_all();
}

void Announcements::end() {
  join(covered_, sent_);
  for (std::uint32_t n = 0; n < nodes_ && nodes_ > 2; ++n) {
    if (n == self_.value) continue;
    wire::put(outbox_.begin(), wire::AnnounceEnd{});
    outbox_.send(NodeId{n});
  }
  resume_all();
}

void Announcements::resume_all() {
  for (WaiterId waiter : std::exchange(waiters_, {})) outbox_.resume_plain(waiter, 1);
}

void Announcements::next(const NextAnnounced& event) {
  auto whole = next_whole();
  if (whole == heard_.end() || mutant(Mutant::kFenceForgetsNews))
    return outbox_.resume_plain(event.waiter, 0);
  mark(Mark::kFenceHears);
  put_bytes(outbox_.begin(), whole->notices);
  outbox_.resume(event.waiter, 1);
}

void Announcements::await(const AwaitAnnounced& event) {
  if (have_come(event.node, event.count)) return outbox_.resume_plain(event.waiter, 0);
  mark(Mark::kFenceAwaitsCounted);
  awaited_.push_back(event);
}

void Announcements::count(NodeId from) {
  counted_[from.value].fetch_add(1, std::memory_order_release);
  std::erase_if(awaited_, [&](const AwaitAnnounced& one) {
    bool over = one.node == from && have_come(from, one.count);
    if (over) outbox_.resume_plain(one.waiter, 0);
    return over;
  });
}

void Announcements::log_grew() {
  std::erase_if(heard_, [&](const Heard& one) {
    bool known = is_within(one.reach, log_.timestamp());
    if (known) kept_ -= one.notices.size();
    return known;
  });
  quiet_.store(false, std::memory_order_release);
}

bool Announcements::received(NodeId from, Bytes message) {
  if (from == self_) return false;
  switch (static_cast<wire::Kind>(message[0])) {
    case wire::Kind::kAnnounce:
      return received_announcement(from, message);
    case wire::Kind::kAnnounceAnswer:
      return received_answer(from, message);
    default:
      return received_end(from, message);
  }
}

bool Announcements::received_announcement(NodeId from, Bytes message) {
  wire::Announce head;
  Heard heard{VectorTimestamp(nodes_), {}};
  std::size_t bytes = nodes_ * sizeof(std::uint32_t);
  if (!wire::take(message, head) || message.size() < bytes) return false;
  std::memcpy(heard.reach.data(), message.data(), bytes);
  message = message.subspan(bytes);
  bool believed = heard.reach[self_.value] <= log_.timestamp()[self_.value] &&
                  log_.believable(message, self_, blocks_);
  bool counted = head.counted != 0;
  if (counted && !seen_[from.value]) return false;
  if (!believed || !incomplete_[from.value].empty()) return false;
  heard.notices.assign(message.begin(), message.end());
  // Of two nodes each has heard what the other one tells.
  bool complete = counted || nodes_ == 2 || mutant(Mutant::kFenceTrustsIncomplete);
  if (complete) join(covered_, heard.reach);
  if (nodes_ > 2 && !counted) incomplete_[from.value] = heard.reach;
  if (!is_within(heard.reach, log_.timestamp())) keep(std::move(heard));
  quiet_.store(false, std::memory_order_release);
  if (counted) {
    count(from);
    return true;
  }
  wire::put(
      outbox_.begin(),
      wire::AnnounceAnswer{.sees_count = static_cast<std::uint8_t>(seen_[from.value] ? 1 : 0)});
  outbox_.send(from);
  return true;
}

// Whether the notices bring this node up to the reach.
bool Announcements::is_whole(const Heard& heard) const {
  VectorTimestamp reached = log_.timestamp();
  wire::for_each_entry(heard.notices, [&](const wire::NoticeEntry& entry) {
    reached[entry.node] = std::max(reached[entry.node], entry.top);
  });
  return is_within(heard.reach, reached);
}

// The first that this node can learn. An announcement leaves out what a third node has counted, and
// what that node told may come later; a fence that must have learned it waits for that one as well.
Announcements::Kept::const_iterator Announcements::next_whole() const {
  return std::find_if(heard_.begin(), heard_.end(),
                      [&](const Heard& one) { return is_whole(one); });
}

void Announcements::keep(Heard heard) {
  kept_ += heard.notices.size();
  heard_.push_back(std::move(heard));
  if (kept_ > most_kept_) keep_names_alone();
}

// One announcement in place of all. It begins after what this node knows, as if its sender had
// forgotten the intervals.
void Announcements::keep_names_alone() {
  mark(Mark::kFenceKeepsNamesAlone);
  Heard all{VectorTimestamp(nodes_), {}};
  for (const Heard& one : heard_) join(all.reach, one.reach);
  for (std::uint32_t n = 0; n < nodes_; ++n) {
    if (all.reach[n] == 0 || n == self_.value) continue;
    wire::put(all.notices, wire::NoticeEntry{.node = n, .base = all.reach[n], .top = all.reach[n]});
  }
  kept_ = all.notices.size();
  heard_.clear();
  heard_.push_back(std::move(all));
}

bool Announcements::received_answer(NodeId from, Bytes message) {
  wire::AnnounceAnswer head;
  if (!wire::take(message, head) || !message.empty() || !answers_[from.value]) return false;
  answers_[from.value] = false;
  if (head.sees_count != 0 && !see_count_[from.value]) {
    see_count_[from.value] = true;
    --blind_;
  }
  if (--missing_ == 0) end();
  return true;
}

bool Announcements::received_end(NodeId from, Bytes message) {
  wire::AnnounceEnd head;
  if (!wire::take(message, head) || !message.empty() || incomplete_[from.value].empty())
    return false;
  join(covered_, std::exchange(incomplete_[from.value], {}));
  resume_all();
  return true;
}

void Announcements::look_quiet() {
  bool quiet = next_whole() == heard_.end() && covers(log_.timestamp());
  quiet_.store(quiet, std::memory_order_release);
}

void Announcements::check_invariants() const {
  TERRANE_CHECK(
      missing_ == static_cast<std::uint32_t>(std::count(answers_.begin(), answers_.end(), true)),
      "the answers that are missing are counted");
  for (const Heard& one : heard_)
    TERRANE_CHECK(!is_within(one.reach, log_.timestamp()) || &one != &heard_.front(),
                  "what this node knows is not kept");
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
