#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
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

// The launcher's side of the local engine: gives each place of the job to the one process that
// claims it, and relays the nodes' cards. Owns the places' sockets, the cards under way, the nodes'
// lifelines and the job's news. Never blocks, and holds a bounded amount for each node; a node that
// sends nonsense loses its own channel only. One thread.
class Relay {
 public:
  static base::Result<std::unique_ptr<Relay>> create(const JobMap& map);

  // The node's end of its place's socket, to be inherited by the node (at descriptor 100 or above,
  // where scripts do not step on it). Once a place.
  base::Result<base::UniqueFd> open_place(NodeId node);

  // Readable whenever serve() has something to do.
  int event_fd() const { return events_.get(); }
  // Does what can be done without blocking; appends who has joined.
  void serve(std::vector<NodeId>& joined);
  // Whether serve() must be called again within a millisecond or so though event_fd() stays silent.
  bool must_retry() const { return must_retry_; }

  const Place& place(NodeId node) const { return seats_[node.value].place; }
  // The place's process has ended: what it said last is read first.
  void set_gone(NodeId node);
  // Our end of a joined node's lifeline, for another process of the launcher to hold; empty when
  // taken already.
  base::UniqueFd take_lifeline(NodeId node) { return std::move(seats_[node.value].lifeline); }
  // Why an exchange that somebody waits in can never end, if that is so.
  std::optional<std::string> obstacle() const;
  // Ends the exchange of everyone who waits in one, with this reason.
  void fail_exchange(std::string_view sentence);
  // Makes every node's news_fd() readable, for good.
  void announce_death() { news_out_.reset(); }

 private:
  struct Seat {
    base::UniqueFd claims;    // our end of the inherited socket
    base::UniqueFd channel;   // to the process that joined
    base::UniqueFd lifeline;  // when its last holder dies, the kernel kills the node
    Card incoming;
    std::vector<CardSender> outgoing;
    std::size_t sent = 0;  // of `outgoing`
    bool wants_room = false;
    Place place;
  };

  explicit Relay(const JobMap& map) : map_(encode_map(map)), seats_(map.nodes()) {}

  void watch(int fd, std::uint32_t node, bool is_channel, std::uint32_t events, int operation);
  void read_claims(std::uint32_t node);
  bool give_place(std::uint32_t node);
  void refuse(int channel, const std::string& sentence);
  void read_channel(std::uint32_t node);
  bool understand(std::uint32_t node);
  void close_channel(std::uint32_t node);
  void relay_when_complete();
  void send_cards(std::uint32_t node);

  std::vector<std::byte> map_;  // as it goes to the nodes
  std::vector<Seat> seats_;
  std::vector<Card> relayed_;                  // of the exchange whose cards are going out
  std::vector<std::vector<int>> relayed_fds_;  // the same descriptors, as senders want them
  std::vector<NodeId>* joined_ = nullptr;      // during serve()
  base::UniqueFd events_;
  base::UniqueFd news_in_, news_out_;
  PacketReader reader_;
  bool must_retry_ = false;
};

}  // namespace terrane::bootstrap
