#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "stream/dial.h"
#include "stream/secret.h"
#include "transport/one_sided.h"

namespace terrane::transport {

// What a transport hands its messages and news to. Called inside poll(), in the polling thread. The
// bytes are valid only during the call. It may send; it must not poll.
class Receiver {
 public:
  virtual ~Receiver() = default;
  virtual void received(NodeId from, Bytes message) = 0;
  // The peer can no longer be reached; called at most once a peer.
  virtual void lost(NodeId peer, std::string_view why) = 0;
};

// Hears nothing: for the end of a transport.
class Deaf final : public Receiver {
 public:
  void received(NodeId, Bytes) override {}
  void lost(NodeId, std::string_view) override {}
};

// What a node tells the others so that they can reach it: bytes, and descriptors for those on the
// same host. Exchanged once by the bootstrap.
struct Card {
  std::vector<std::byte> bytes;
  std::vector<int> fds;  // owned by the holder of the card
};

// Where the nodes of a job are: which one we are, and the host of each, by an index that counts the
// hosts from 0.
struct Placement {
  NodeId self;
  std::uint32_t nodes = 1;
  std::vector<std::uint32_t> host_of;  // one entry a node
  // Places of nodes that are not there have empty cards; they may come later (Transport::admit).
  bool joins = false;  // the others are there already, and will hear of us: Transport::meet()
  std::vector<std::uint32_t> cluster_of = {};  // one entry a node; empty: all are in one

  static Placement on_one_host(NodeId self, std::uint32_t nodes) {
    return {self, nodes, std::vector<std::uint32_t>(nodes, 0), false};
  }
  bool same_host(NodeId a, NodeId b) const { return host_of[a.value] == host_of[b.value]; }
  bool same_cluster(NodeId a, NodeId b) const {
    return cluster_of.empty() || cluster_of[a.value] == cluster_of[b.value];
  }
  bool one_cluster() const;
  bool one_host() const;
  bool one_node_on_each_host() const;
};

// A region of a node's memory that peers may reach one-sidedly, named by its index in every node's
// list.
struct ExportedRegion {
  int fd = -1;  // a memfd; borrowed until connect() returns
  std::uint64_t bytes = 0;
  // Where this process has it mapped, page-aligned and for as long as the transport lives; it may
  // be sparse and larger than memory, and is not touched here. nullptr: peers may map the region,
  // and those who cannot map it do not get at it.
  std::byte* base = nullptr;
};

// The threads that a message wakes where all of its receiver's threads sleep: them all, or those in
// sleep() alone, which wait for something, and not those in sleep_beside().
enum class Sleepers { kAll, kWaiting };

// Moves messages between the nodes of a job: reliable, whole, in order for each pair (sender,
// receiver), no order across pairs, any size from 0 bytes; and reaches the peers' exported memory
// (one_sided.h), in no order with messages unless quiet() comes between. Every method may be called
// by any thread at any time, except open and connect.
class Transport : public OneSided {
 public:
  virtual std::string_view name() const = 0;
  // Which way it sends and why, for people; part of a line.
  virtual std::string describe() const { return std::string(name()); }

  // Bytes a second that the way to a peer carries at most, by what the system says of it; 0: there
  // is no network between.
  virtual std::uint64_t bandwidth(NodeId) const { return 0; }

  // A node has come whose place was empty; it can be sent to from now on. One thread at a time.
  virtual base::Result<> admit(NodeId, Card) {
    return base::error("{}: nobody can join later; use ucx or mixed", name());
  }
  // Of a node that joins: waits until these, which it was asked to meet, have answered. Before its
  // first message.
  virtual base::Result<> meet(std::span<const NodeId>) { return {}; }

  // Queues a message made of two parts, which arrive joined. Copies them; never waits for the
  // receiver (what does not fit is kept here in order and moves on in later send and poll calls). A
  // message to a lost peer is dropped.
  virtual void send(NodeId to, Bytes head, Bytes tail) = 0;
  void send(NodeId to, Bytes message) { send(to, message, {}); }
  // The same, but a receiver that neither polls nor looks by itself may be woken only by ring(to).
  // For a thread that polls for the answer, and rings when none has come soon: most receivers take
  // the message in the meantime, and to be woken costs them the processor.
  virtual void send_unrung(NodeId to, Bytes message) { send(to, message, {}); }
  // Wakes who has not yet taken what we sent.
  virtual void ring(NodeId, Sleepers) {}

  // Delivers what has arrived and moves on what is queued. One thread delivers at a time; others
  // return 0 at once. Returns the number of messages delivered.
  virtual std::size_t poll(Receiver& receiver) = 0;

  // Returns once the peers that live have what was sent, or after some 2 s; what comes meanwhile is
  // dropped. For the end of a process that does not take the transport down: what the system still
  // holds of its messages when it ends may be lost. Once; nobody polls afterwards.
  virtual void finish() {}

  // True when poll() would have something to do. Cheap beside a poll; may be wrong for a moment,
  // never for good. While a thread attends it may always be true: a thread that polls anyway asks
  // by polling.
  virtual bool pending() const = 0;
  // Grows whenever something has come from another host or moved on toward it, be it a message or a
  // part of a one-sided call: more is likely to follow soon. Stays 0 where nothing has to be moved.
  virtual std::uint64_t moves() const { return 0; }
  // Sleeps until there may be something to poll, or timeout_ns has passed, or interrupt() was
  // called. While nobody sleeps, senders pay no system call to wake anyone.
  virtual void sleep(std::uint64_t timeout_ns) = 0;
  // The same for a thread that takes in what nobody else does. patience_ns: what arrives does not
  // wake it, but is left to threads that attend, until it looks by itself so much later. 0: it
  // does.
  virtual void sleep_beside(std::uint64_t timeout_ns, std::uint64_t /*patience_ns*/) {
    sleep(timeout_ns);
  }
  // Between attend() and unattend() the calling thread polls: senders wake nobody of this process.
  // unattend() returns true when something may have come that nobody was woken for: the thread that
  // gets that polls once more.
  virtual void attend() = 0;
  virtual bool unattend() = 0;
  // Ends the sleep of every thread of this process, now or the next one. Async-signal-safe.
  virtual void interrupt() = 0;
};

// How a node reaches the nodes of other clusters where gateways join them.
struct Routes {
  std::vector<stream::Door> gateways;     // of its own cluster; none: the job has no gateways
  std::optional<stream::Secret> secret;   // that this node and its gateways know
  std::uint64_t window = 1u << 20;        // bytes from one node to another that may be on their way
  std::vector<std::uint64_t> bandwidths;  // bytes a second to each cluster; 0, or none: not known
  bool encrypt = false;                   // also between the node and its gateways
};

struct TransportOptions {
  // The network interfaces for messages to other hosts, separated by commas; "auto": by where they
  // lead.
  std::string net = "auto";
  // For tests: messages between hosts (or, on one host, between nodes) take so much longer.
  std::uint64_t extra_latency_ns = 0;
  Routes routes = {};
};

// A transport in two steps: open() makes this node's side and its card; connect() takes everyone's
// cards (index: node; our own included). `self` serves a job of one; `shm` the nodes of one host.
class TransportFactory {
 public:
  virtual ~TransportFactory() = default;
  virtual std::string_view name() const = 0;
  virtual base::Result<Card> open(const Placement& placement,
                                  std::span<const ExportedRegion> regions) = 0;
  virtual base::Result<std::unique_ptr<Transport>> connect(std::vector<Card> cards) = 0;
};

// By name; an unknown name gives an error that lists the names there are. "auto" chooses by where
// the nodes are: self for one node, shm where all are on one host, ucx where each has a
// host of its own, else mixed: shm within a host, ucx between hosts, routed between clusters that
// gateways join.
base::Result<std::unique_ptr<TransportFactory>> make_transport(
    std::string_view name, const Placement& placement, const TransportOptions& options = {});
std::vector<std::string_view> transport_names();

// The interfaces that a job on several hosts would use from here, and why; part of a line.
base::Result<std::string> describe_network(const TransportOptions& options = {});

}  // namespace terrane::transport
