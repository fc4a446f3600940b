#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "bootstrap/job_map.h"
#include "tools/launch/host/cpu_binding.h"
#include "tools/launch/host/preload.h"
#include "tools/launch/hub/death.h"

namespace terrane::tools {

// Where another host's engine hears heartbeats.
struct PeerAddress {
  std::string address;     // numeric; empty: that of the hub
  std::uint16_t port = 0;  // UDP; 0: that host takes no part in heartbeats

  auto fields() { return std::tie(address, port); }
  bool operator==(const PeerAddress&) const = default;
};

// How long a process may be silent whose kernel answers.
constexpr std::uint64_t kDeathAfterMs = 10'000;

// All that a host needs to know to run its part of a job.
struct HostPlan {
  bootstrap::JobMap map;
  std::uint32_t host = 0;         // which one of the map
  std::string path;               // of the file that is executed
  std::string program;            // of the program's behind its wrappers; empty: it has none
  std::vector<std::string> argv;  // the program's own, argv[0] as the user wrote it
  std::vector<std::pair<std::string, std::string>> environment;  // set on top of the engine's own
  std::string folder;    // to run the nodes in; empty: where the engine is
  std::string job_name;  // TERRANE_JOB
  bool tag_output = false;
  Binding binding = Binding::kNone;
  bool hold = false;       // each node waits for a debugger before it executes the program
  bool randomize = false;  // nodes have random addresses, each its own
  bool verbose = false;    // notices that are of use to few are wanted
  Preload preload = Preload::kAutomatic;
  std::uint64_t heartbeat_ms = 0;  // without a sign of life for so long, a host is dead; 0: never
  std::uint64_t death_after_ms = kDeathAfterMs;  // the same where its kernel answers
  std::vector<PeerAddress> peers;                // by host; empty where there is one host only

  auto fields() {
    return std::tie(map.names, map.host_of, map.guests, map.clusters, map.cluster_of,
                    map.routes.doors, map.routes.key, map.routes.window, map.routes.bandwidths,
                    map.routes.encrypt, host, path, program, argv, environment, folder, job_name,
                    tag_output, binding, hold, randomize, verbose, preload, heartbeat_ms,
                    death_after_ms, peers);
  }
  bool operator==(const HostPlan&) const = default;
};

// What the job tells the part of one host.
namespace command {

struct Start {  // first of all, once
  HostPlan plan;
  auto fields() { return std::tie(plan); }
};
struct Card {  // of a node of another host, for the exchange that all nodes wait in
  NodeId node;
  std::vector<std::byte> bytes;
  auto fields() { return std::tie(node, bytes); }
};
struct SendCards {  // all of them are there
  auto fields() { return std::tie(); }
};
struct FailExchange {
  std::string sentence;
  auto fields() { return std::tie(sentence); }
};
struct TellDeath {  // that the job survives
  NodeId node;
  std::string why;
  auto fields() { return std::tie(node, why); }
};
struct TellGone {  // that a node has left, while the job goes on
  NodeId node;
  auto fields() { return std::tie(node); }
};
struct Newcomer {  // that a guest joins
  NodeId node;
  std::string host;  // its name
  std::vector<std::byte> card;
  auto fields() { return std::tie(node, host, card); }
};
struct LetIn {  // a guest of this host: all others know it
  NodeId node;
  std::vector<std::byte> history;  // bootstrap/history.h
  auto fields() { return std::tie(node, history); }
};
struct Closed {  // nobody joins any more
  auto fields() { return std::tie(); }
};
struct Signal {  // for every node
  std::int32_t number = 0;
  auto fields() { return std::tie(number); }
};
struct End {  // SIGTERM after `delay_ms`, SIGKILL a while later
  std::string sentence;
  std::uint32_t delay_ms = 0;
  auto fields() { return std::tie(sentence, delay_ms); }
};
struct Kill {  // at once, and what is still to be written is given up
  auto fields() { return std::tie(); }
};
struct Input {  // for node 0
  std::string bytes;
  auto fields() { return std::tie(bytes); }
};
struct InputEnd {
  auto fields() { return std::tie(); }
};
struct OutputTaken {  // as many bytes of output may come again
  bool is_error = false;
  std::uint32_t bytes = 0;
  auto fields() { return std::tie(is_error, bytes); }
};
struct OutputClosed {  // nobody reads it any more
  bool is_error = false;
  auto fields() { return std::tie(is_error); }
};
struct Beat {  // nothing but a sign of life
  auto fields() { return std::tie(); }
};
struct Refuse {  // instead of Start; the connection ends
  std::string sentence;
  auto fields() { return std::tie(sentence); }
};
struct Ask {  // what have your nodes counted? NodeUse and NodeAnswer come
  auto fields() { return std::tie(); }
};

}  // namespace command

using HostCommand =
    std::variant<command::Start, command::Card, command::SendCards, command::FailExchange,
                 command::TellDeath, command::TellGone, command::Newcomer, command::LetIn,
                 command::Closed, command::Signal, command::End, command::Kill, command::Input,
                 command::InputEnd, command::OutputTaken, command::OutputClosed, command::Beat,
                 command::Refuse, command::Ask>;

// What the part of one host tells the job. Nodes are always of that host.
namespace event {

struct NodeStarted {
  NodeId node;
  std::int32_t pid = 0;
  auto fields() { return std::tie(node, pid); }
};
struct NodeJoined {
  NodeId node;
  auto fields() { return std::tie(node); }
};
struct NodeWaits {  // in an exchange
  NodeId node;
  auto fields() { return std::tie(node); }
};
struct NodeLeft {
  NodeId node;
  auto fields() { return std::tie(node); }
};
struct NodeWantsIn {  // a guest, which knows all others
  NodeId node;
  auto fields() { return std::tie(node); }
};
struct NodeIsInside {  // a guest that was let in, and knows it
  NodeId node;
  auto fields() { return std::tie(node); }
};
struct NodeAdmits {  // it can speak to the guest
  NodeId node;
  NodeId guest;
  auto fields() { return std::tie(node, guest); }
};
struct NodeCloses {  // it asks for an end of joining
  NodeId node;
  auto fields() { return std::tie(node); }
};
struct NodeLeftAlone {  // while the job goes on
  NodeId node;
  auto fields() { return std::tie(node); }
};
struct NodeEnded {  // its place's process; after NodeDied where that is due
  NodeId node;
  auto fields() { return std::tie(node); }
};
struct NodeDied {  // the first of what it reports for a node counts
  Death death;
  auto fields() {
    return std::tie(death.node, death.pid, death.cause, death.number, death.core_dumped,
                    death.sentence);
  }
};
struct Card {  // once all nodes of the host wait; not where all nodes of the job are on one host
  NodeId node;
  std::vector<std::byte> bytes;
  auto fields() { return std::tie(node, bytes); }
};
struct Exchanged {  // instead, where all nodes of the job are on one host
  auto fields() { return std::tie(); }
};
struct Signalled {  // somebody sent the engine a signal that is meant for the job
  std::int32_t number = 0;
  auto fields() { return std::tie(number); }
};
struct Output {
  bool is_error = false;
  std::string bytes;
  auto fields() { return std::tie(is_error, bytes); }
};
struct InputTaken {
  std::uint32_t bytes = 0;
  auto fields() { return std::tie(bytes); }
};
struct Notice {  // a line for the user that ends nothing
  std::string text;
  auto fields() { return std::tie(text); }
};
struct HostSilent {  // another host was not heard of for so long
  std::uint32_t host = 0;
  std::uint64_t ms = 0;
  bool answers = false;  // its kernel does
  auto fields() { return std::tie(host, ms, answers); }
};
struct Failed {  // this host's part cannot be run
  std::string sentence;
  std::int32_t exit_code = 1;
  auto fields() { return std::tie(sentence, exit_code); }
};
struct Ended {  // no process of the job is left here, and all output was sent
  auto fields() { return std::tie(); }
};
struct Beat {
  auto fields() { return std::tie(); }
};
struct GatewayLinked {  // of a gateway: it has a connection to this one
  std::string gateway;
  auto fields() { return std::tie(gateway); }
};
struct GatewayUnlinked {  // ... and has it no longer
  std::string gateway;
  std::string why;
  auto fields() { return std::tie(gateway, why); }
};

struct NodeUse {  // of each node whose process runs, at once after Ask
  NodeId node;
  bool answers = false;  // it is in the job: NodeAnswer may follow
  std::uint64_t at_ns = 0, processor_ns = 0, resident_bytes = 0;
  auto fields() { return std::tie(node, answers, at_ns, processor_ns, resident_bytes); }
};
struct NodeAnswer {
  NodeId node;
  std::uint32_t of = 1;             // as Relay::Answer
  std::vector<std::byte> snapshot;  // bootstrap/node_snapshot.h
  auto fields() { return std::tie(node, of, snapshot); }
};

}  // namespace event

using HostEvent =
    std::variant<event::NodeStarted, event::NodeJoined, event::NodeWaits, event::NodeLeft,
                 event::NodeWantsIn, event::NodeIsInside, event::NodeAdmits, event::NodeCloses,
                 event::NodeLeftAlone, event::NodeEnded, event::NodeDied, event::Card,
                 event::Exchanged, event::Signalled, event::Output, event::InputTaken,
                 event::Notice, event::HostSilent, event::Failed, event::Ended, event::Beat,
                 event::GatewayLinked, event::GatewayUnlinked, event::NodeUse, event::NodeAnswer>;

// The receiver of the events of a host's part.
class HostListener {
 public:
  virtual ~HostListener() = default;
  virtual void on_event(std::uint32_t host, HostEvent event) = 0;
};

}  // namespace terrane::tools
