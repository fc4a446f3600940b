// The part of a job that lets guests in: nodes that join it while it runs.

#include <algorithm>

#include "tools/launch/hub/job.h"

namespace terrane::tools {

void Job::guest_came(std::uint32_t host) {
  if (host_running_[host]) return;
  host_running_[host] = true;
  ++hosts_running_;
}

std::string Job::objection() const {
  if (closing_ || is_ending() || all_started_have_ended())
    return fmt::format("the job on {} is ending: nobody can join it any more", place_);
  return "";
}

bool Job::all_started_have_ended() const {
  return std::all_of(nodes_.begin(), nodes_.begin() + plan_.program.map.started(),
                     [](const Node& node) { return node.ended; });
}

// Its exchange ends with the cards of all members: it then sees whether it fits, and connects.
void Job::next_guest() {
  if (entering_ || !together_ || is_ending() || waiting_guests_.empty()) return;
  std::uint32_t guest = waiting_guests_.front();
  waiting_guests_.pop_front();
  std::uint32_t host = plan_.program.map.host_of[guest];
  if (closing_) {
    outlet_.tell(host, command::FailExchange{objection()});
    return next_guest();
  }
  entering_ = guest;
  entry_ = Entry::kCompares;
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    if (nodes_[node].member) outlet_.tell(host, command::Card{NodeId{node}, *nodes_[node].card});
  }
  outlet_.tell(host, command::SendCards{});
}

void Job::guest_wants_in(std::uint32_t guest) {
  if (entering_ != guest || entry_ != Entry::kCompares) return;
  entry_ = Entry::kIntroduced;
  const bootstrap::JobMap& map = plan_.program.map;
  unknowing_.clear();
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    if (nodes_[node].member) unknowing_.push_back(node);
  }
  nodes_[guest].member = true;
  history_.push_back({bootstrap::Change::Kind::kCame, NodeId{guest}});
  tell_all(command::Newcomer{NodeId{guest}, map.name_of(guest), *nodes_[guest].card});
  if (plan_.verbose)
    outlet_.say(fmt::format("node {} on {} joins the job", guest, map.name_of(guest)));
  let_guest_in();
}

void Job::node_admits(std::uint32_t node, std::uint32_t guest) {
  if (entering_ != guest) return;
  std::erase(unknowing_, node);
  let_guest_in();
}

void Job::let_guest_in() {
  if (!entering_ || entry_ != Entry::kIntroduced || !unknowing_.empty()) return;
  entry_ = Entry::kLetIn;
  if (plan_.verbose) outlet_.say(fmt::format("all nodes know node {}", *entering_));
  outlet_.tell(plan_.program.map.host_of[*entering_],
               command::LetIn{NodeId{*entering_}, bootstrap::encode_history(history_)});
}

void Job::guest_is_inside(std::uint32_t guest) {
  if (entering_ == guest && entry_ == Entry::kLetIn) after_guest();
}

void Job::after_guest() {
  entering_.reset();
  if (closing_) tell_closed();
  next_guest();
}

// Nobody waits for it.
void Job::member_gone(std::uint32_t node) {
  nodes_[node].member = false;
  std::erase(unknowing_, node);
  let_guest_in();
}

void Job::note_gone(std::uint32_t node) {
  if (nodes_[node].member) history_.push_back({bootstrap::Change::Kind::kWent, NodeId{node}});
  member_gone(node);
}

void Job::tell_gone(std::uint32_t node) {
  tell_all(command::TellGone{NodeId{node}});
  note_gone(node);
}

// It has ended, or never came in: that is no death of the job's.
void Job::guest_gives_up(std::uint32_t guest) {
  std::erase(waiting_guests_, guest);
  if (entering_ != guest) return;
  entering_.reset();
  if (nodes_[guest].member) tell_gone(guest);
  after_guest();
}

// What its process does from now on is no business of the job's.
void Job::guest_goes(std::uint32_t host, std::uint32_t guest) {
  node_ended(guest);
  host_ended(host);
}

// A guest on its way in comes in; those behind do not.
void Job::close_to_guests() {
  closing_ = true;
  next_guest();
  if (!entering_) tell_closed();
}

void Job::tell_closed() {
  if (!std::exchange(closed_, true)) tell_all(command::Closed{});
}

}  // namespace terrane::tools
