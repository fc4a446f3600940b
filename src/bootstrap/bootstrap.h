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
#include "bootstrap/history.h"
#include "bootstrap/job_map.h"

namespace terrane::bootstrap {

// What one node contributed to an exchange. Owns the descriptors.
struct Contribution {
  std::vector<std::byte> bytes;
  std::vector<int> fds;
};

// What became of another node while the job goes on. All nodes hear it in the same order.
struct News {
  enum class Kind {
    kDied,    // `terrane run --on-death survive`
    kLeft,    // alone (Departure)
    kJoined,  // a guest: admitted() is to be called once it can be spoken to
    kClosed,  // no node: nobody joins any more
    kAsked,   // no node: the launcher asks for a snapshot (answer())
  };
  Kind kind = Kind::kDied;
  NodeId node;
  std::string why;              // kDied: one sentence
  std::vector<std::byte> card;  // kJoined: what it contributes
};

// How a node leaves its job.
enum class Departure {
  kWithAll,  // all nodes do
  kAlone,    // the others go on, and hear of it
};

// Tells a process who it is in its job and lets the nodes exchange their cards at start. Local
// engine: over a socket inherited from `terrane run` (TERRANE_BOOTSTRAP_FD and friends, removed
// from the environment once read). Without a launcher: a job of one.
class Bootstrap {
 public:
  virtual ~Bootstrap() = default;

  static base::Result<std::unique_ptr<Bootstrap>> connect();

  virtual NodeId self() const = 0;
  // All places of the job, also those of guests.
  virtual std::uint32_t nodes() const = 0;
  // The last so many nodes are places for those who join the running job; each is a host of its
  // own. Until they come their contributions are empty, and so are those of nodes that had gone
  // before this one joined.
  virtual std::uint32_t guests() const { return 0; }
  std::uint32_t started() const { return nodes() - guests(); }
  bool is_guest() const { return self().value >= started(); }
  // The host of each node, as an index; hosts are numbered from 0 in the order of their first
  // nodes. Valid as long as this object.
  virtual std::span<const std::uint32_t> hosts() const = 0;
  // The cluster of each node, as an index; numbered from 0 in the order of their first nodes.
  // Empty: all are in one. Valid as long as this object.
  virtual std::span<const std::uint32_t> clusters() const { return {}; }
  // How this node reaches those of other clusters where gateways join them; nullptr: directly.
  virtual const GatewayRoutes* routes() const { return nullptr; }
  std::uint32_t cluster_of(NodeId node) const {
    return node.value < clusters().size() ? clusters()[node.value] : 0;
  }
  // It is in another cluster than this one.
  bool is_far(NodeId node) const { return cluster_of(node) != cluster_of(self()); }
  // The name of the host that `node` runs on.
  virtual std::string_view host_name(NodeId node) const = 0;
  // How many nodes of the job run on this host (for choosing how to wait).
  virtual std::uint32_t nodes_on_host() const = 0;
  std::string_view host() const { return host_name(self()); }

  // Collective: everyone's contribution, indexed by node; those of nodes on other hosts have no
  // descriptors. Blocks until all have come, or fails and names the missing nodes.
  virtual base::Result<std::vector<Contribution>> exchange(std::span<const std::byte> bytes,
                                                           std::span<const int> fds) = 0;
  // Of a guest, after its exchange and once it is ready to hear from all others: waits until they
  // know it. Returns all that happened up to then, its own coming among it; what comes later
  // comes as news.
  virtual base::Result<History> enter() { return base::error("this job takes no guests"); }
  // Whether other front-ends of this process are in the job as well (membership/membership.h).
  virtual bool is_shared() const { return false; }
  // How many front-ends of this process are in the job, with this one.
  virtual std::uint32_t interfaces() const { return 1; }
  // Tells the launcher that this node can speak to a guest that was announced.
  virtual void admitted(NodeId) {}
  // Asks for an end of joining; it comes as news (kClosed).
  virtual void closing() {}
  // Tells the launcher what this front-end has counted (node_snapshot.h), after kAsked; `of`: how
  // many front-ends answer, interfaces(). From any thread; never blocks. Lost where the launcher
  // has no room for it at the moment.
  virtual void answer(std::span<const std::byte> /*snapshot*/, std::uint32_t /*of*/) {}
  // Tells the launcher that this node has left the job in order (terrane_finalize): its exit with 0
  // is then no failure. A node that joined and exits without it has failed, whatever its exit code.
  // A node that comes to another exchange has returned.
  virtual void leaving(Departure departure) = 0;
  // Tells the launcher that the whole job ends now, in order, with `code` (its lowest byte): it
  // ends the others without a complaint, and expects this process to exit soon. From any thread.
  virtual void ending(int code) = 0;
  // Tells the launcher, in one sentence, why this node is about to end the job, then ends this
  // process with `code` (by _exit). From any thread; safe in a signal handler. The launcher prints
  // the sentence with the node, its process and its host, so the sentence need not name them.
  [[noreturn]] virtual void fail(std::string_view sentence, int code) = 0;
  // Readable once the launcher has gone or ends the job (then for good), or while there is news to
  // take; -1 without a launcher.
  virtual int news_fd() const = 0;
  // The next news; nullopt: none is known. Never blocks; one thread at a time.
  virtual std::optional<News> take_news() = 0;
};

}  // namespace terrane::bootstrap
