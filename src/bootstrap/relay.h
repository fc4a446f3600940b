#pragma once

#include <sys/types.h>

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "bootstrap/card.h"
#include "bootstrap/job_map.h"
#include "bootstrap/packet.h"

namespace terrane::bootstrap {

// What the launcher knows of one place of the job.
struct Place {
  enum class Presence { kAbsent, kJoined, kLeft };
  Presence presence = Presence::kAbsent;
  pid_t pid = 0;        // of the process that joined
  bool gone = false;    // the place's process has ended
  bool failed = false;  // it said why it ends the job:
  std::string sentence;
  int code = 0;
};

// The launcher's side on one host: gives each place of the host to the one process that claims it,
// and relays the nodes' cards. Owns the places' sockets, the cards under way, the nodes' lifelines
// and the nodes' news. Never blocks, and holds a bounded amount for each node; a node that sends
// nonsense loses its own channel only. One thread.
//
// An exchange, where all nodes of the job are on this host: once all_wait(), send_cards(). With
// other hosts: once all_wait(), card() of every node here goes to the other hosts; their nodes'
// cards come in by add_foreign(); when all are here, send_cards(). The only node of a job never
// waits.
class Relay {
 public:
  // What serve() and set_gone() report: place() tells the rest.
  enum class What {
    kJoined,
    kWaits,
    kWantsIn,
    kInside,
    kAdmitted,
    kClosing,
    kLeft,
    kLeftAlone,
    kFailed,
    kEnding,
    kAnswered
  };
  struct Change {
    NodeId node;
    What what;
    NodeId about{};  // kAdmitted: which guest
    bool operator==(const Change&) const = default;
  };

  // `host`: the one whose nodes it serves.
  static base::Result<std::unique_ptr<Relay>> create(const JobMap& map, std::uint32_t host);

  // The node's end of its place's socket, to be inherited by the node (at descriptor 100 or above,
  // where scripts do not step on it). Once a place, for nodes of this host alone.
  base::Result<base::UniqueFd> open_place(NodeId node);

  // Readable whenever serve() has something to do.
  int event_fd() const { return events_.get(); }
  // Does what can be done without blocking; appends what has changed.
  void serve(std::vector<Change>& changes);
  // Whether serve() must be called again within a millisecond or so though event_fd() stays silent.
  bool must_retry() const { return must_retry_; }

  const Place& place(NodeId node) const { return seats_[node.value].place; }
  // The place's process has ended: what it said last is read first.
  void set_gone(NodeId node, std::vector<Change>& changes);
  // Our end of a joined node's lifeline, for another process of the launcher to hold; empty when
  // taken already.
  base::UniqueFd take_lifeline(NodeId node) { return std::move(seats_[node.value].lifeline); }

  // Whether every node of this host waits in an exchange whose cards are not sent yet.
  bool all_wait() const;
  // The bytes of the card of a node of this host that waits.
  std::span<const std::byte> card(NodeId node) const { return seats_[node.value].incoming.bytes; }
  // The card of a node of another host, for the exchange that all nodes here wait in.
  void add_foreign(NodeId node, std::vector<std::byte> bytes);
  // Sends to each node here the cards of all others, and thereby ends the exchange.
  void send_cards();
  // Ends the exchange of everyone who waits in one, with this reason.
  void fail_exchange(std::string_view sentence);

  // Makes every node's news_fd() readable, for good.
  void announce_end();
  // Tells every other node here that `dead` has died, or that `gone` has left, while the job goes
  // on. In the order of the calls; kept for a node that does not read, as long as it has not left.
  void tell_death(NodeId dead, std::string_view why);
  void tell_gone(NodeId gone);
  // That a guest joins, with the name of its host and its card; that nobody will any more.
  void tell_newcomer(NodeId guest, std::string_view host, std::span<const std::byte> card);
  void tell_closed();
  // Asks every node here that is in the job for a snapshot; take_answers() has what comes. Result:
  // the nodes that are not. A node that owes an answer is asked more and more seldom.
  std::vector<NodeId> ask();
  struct Answer {
    NodeId node;
    std::uint32_t of = 1;  // how many interfaces of the node's process answer, this one among them
    std::vector<std::byte> snapshot;
  };
  std::vector<Answer> take_answers() { return std::exchange(answers_, {}); }
  // To a guest of this host: all others know it.
  void let_in(NodeId guest, std::span<const std::byte> history);

 private:
  // Of one place; those of nodes of other hosts stay empty.
  struct Seat {
    base::UniqueFd claims;    // our end of the inherited socket
    base::UniqueFd channel;   // to the process that joined
    base::UniqueFd lifeline;  // when its last holder dies, the kernel kills the node
    base::UniqueFd news;      // to the process that joined
    base::UniqueFd its_news;  // the other end of that, until the process has got it
    int welcome_fds[1];       // the same, as the sender of the welcome wants it
    std::deque<std::pair<MessageHeader, std::string>> unsent_news;
    Card incoming;
    std::vector<CardSender> outgoing;
    std::size_t sent = 0;  // of `outgoing`
    bool wants_room = false;
    std::uint32_t asked = 0;  // questions since its last answer
    bool hears = true;  // news: a guest from when it is let in; what was before is its history
    Place place;
  };

  Relay(const JobMap& map, std::uint32_t host);

  void watch(int fd, std::uint32_t node, bool is_channel, std::uint32_t events, int operation);
  void read_claims(std::uint32_t node);
  bool give_place(std::uint32_t node);
  void refuse(int channel, const std::string& sentence);
  void read_channel(std::uint32_t node);
  bool understand(std::uint32_t node);
  void begin_exchange(std::uint32_t node);
  void close_channel(std::uint32_t node);
  void report(std::uint32_t node, What what, NodeId about = {}) {
    changes_->push_back({NodeId{node}, what, about});
  }
  // relay_cards.cpp
  void send_some(std::uint32_t node);
  // relay_news.cpp
  void tell_news(const MessageHeader& header, std::string_view text);
  void send_news(std::uint32_t node);
  void set_wants_room(std::uint32_t node, bool wants_room);

  std::vector<std::byte> map_;                 // as it goes to the nodes
  std::vector<std::uint32_t> here_;            // the nodes of this host
  std::vector<Seat> seats_;                    // by node
  std::vector<Card> relayed_;                  // by node: of the exchange whose cards are going out
  std::vector<std::vector<int>> relayed_fds_;  // the same descriptors, as senders want them
  std::vector<std::vector<std::byte>> foreign_;  // by node: came in for the exchange under way
  std::vector<Change>* changes_ = nullptr;       // during serve() and set_gone()
  std::vector<Answer> answers_;
  base::UniqueFd events_;
  PacketReader reader_;
  bool must_retry_ = false;
};

}  // namespace terrane::bootstrap
