#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "routing/frame.h"
#include "routing/inbound.h"
#include "routing/outbound.h"
#include "stream/connection.h"
#include "transport/spin_lock.h"

namespace terrane::transport::routed {

// An end of the network that gateways form: its connections (ways), what it sends over them, and
// what comes in. Owns the connections. send() may be called by any thread at any time; what says so
// below by one thread at a time, the taking thread.
class End {
 public:
  // Called inside take_in(), by the taking thread, without a lock: it may send.
  class Receiver {
   public:
    virtual ~Receiver() = default;
    virtual void message(routing::Address from, std::uint16_t tag, routing::Bytes message) = 0;
    // No way leads to the peer any more; at most once a peer.
    virtual void lost(routing::Address peer, const std::string& why) = 0;
  };

  End(routing::Address self, std::uint64_t window, std::uint32_t ways);

  base::Result<> open();
  // An open connection whose two ends have exchanged their hellos. Before the first take_in().
  base::Result<> add_way(std::unique_ptr<stream::Connection> connection);
  // Readable while there is something to take in or room for what waits.
  int poll_fd() const { return poll_.get(); }

  void send(routing::Address to, std::uint16_t tag, routing::Bytes head, routing::Bytes tail);
  void bye();
  bool is_idle();
  bool reaches(routing::Address peer);
  // More waits for the peer than may be on its way: a caller that can wait does.
  bool is_full(routing::Address peer);
  // It was reached before, and no way leads there any more.
  bool is_lost(routing::Address peer);
  // Some connection is open.
  bool is_connected() const { return open_ways_.load() != 0; }
  // Of the way that was lost last.
  std::string why();

  // By the taking thread: reads what has come, and moves on what waits. Returns how much has
  // happened.
  std::size_t take_in(Receiver& receiver);

 private:
  struct Way {
    std::unique_ptr<stream::Connection> connection;  // guarded by lock_, but for its receiving half
    bool watches_room = false;                       // guarded by lock_
    std::string name;
  };

  class Incoming;

  std::size_t read(std::uint32_t number, Incoming& incoming);
  bool take(std::uint32_t number, const routing::FrameHeader& header, routing::Bytes payload,
            Incoming& incoming);
  void expect_ticks();
  void take_ticks();
  void close(std::uint32_t number, const std::string& why);
  void pump();
  void pump(std::uint32_t number);

  routing::Address self_;
  std::uint64_t window_;
  base::UniqueFd poll_;
  base::UniqueFd timer_;  // while a peer may have been lost
  int ticks_ = 0;         // of the taking thread: that are still due
  SpinLock lock_;         // guards what is sent
  routing::Outbound outbound_;
  std::string why_;
  std::vector<Way> ways_;
  std::atomic<std::uint32_t> open_ways_{0};
  routing::Inbound inbound_;  // of the taking thread
};

}  // namespace terrane::transport::routed
