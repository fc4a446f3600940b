#pragma once

#include <cstddef>
#include <cstdint>

namespace terrane::bootstrap {

// What a node and `terrane run` say to each other, on one host: a header, then bytes, with
// descriptors beside them. One message is one packet of a SOCK_SEQPACKET socket; both ends are of
// the same build's wire version.
enum class MessageKind : std::uint32_t {
  kClaim = 1,    // node, on the inherited socket: I am this node; with my channel and the end of my
                 // lifeline
  kWelcome = 2,  // launcher: your number; the job's map (job_map.h), in pieces as a card is; with
                 // the job's news
  kRefused = 3,  // launcher: a sentence
  kCard = 4,     // both: a piece of the card of `node`
  kMissing = 5,  // launcher: the exchange cannot end; a sentence
  kLeaving = 6,  // node: my exit is now in order
  kFail = 7,     // node: why I end the job; a sentence, and the exit code
  kLifeline = 8,  // between the launcher's two processes: the end of a node's lifeline
  kDeath = 9,     // launcher, as news: `node` has died while the job goes on; a sentence
  kAdopt = 10,   // node, to an engine that it starts: an AdoptionOrder (adoption.h), in pieces as a
                 // card is; with the host's door
  kReady = 11,   // that engine: where its hub is
  kKnock = 12,   // node, at its host's door: I am this node; with the job's secret
  kPlace = 13,   // engine, at the door: with the socket of the node's place, for kClaim
  kEnding = 14,  // node: the job ends in order; the exit code
  kLeavingAlone = 15,  // node: as kLeaving, and the job goes on without me
  kGone = 16,          // launcher, as news: `node` has left, and the job goes on
  kEnter = 17,         // node that joins a running job: I know all others; let me in
  kEntered = 18,       // launcher: you are; the job's history (history.h)
  kNewcomer = 19,      // launcher, as news: `node` joins; the name of its host, a zero, its card
  kAdmitted = 20,      // node: I know that newcomer (`about`)
  kClosing = 21,       // node: nobody is to join any more
  kClosed = 22,        // launcher, as news: nobody will
  kInside = 23,        // node that was let in: I have heard it, and am a node like any other now
  kAsk = 24,           // launcher, as news: what have you counted?
  kAnswer = 25,        // node: this (node_snapshot.h); `about`: of how many interfaces of mine one
};

inline constexpr std::uint32_t kMessageMagic = 0x31425254;  // "TRB1"

struct MessageHeader {
  std::uint32_t magic = kMessageMagic;
  MessageKind kind{};
  std::uint32_t node = 0;
  std::uint32_t about = 0;        // kAdmitted: the guest
  std::uint64_t total_bytes = 0;  // of the whole card
  std::uint32_t total_fds = 0;    // of the whole card
  std::int32_t code = 0;
};
static_assert(sizeof(MessageHeader) == 32);

// The kernel passes at most 253 descriptors with one packet (SCM_MAX_FD).
inline constexpr std::size_t kMaxPacketFds = 253;
inline constexpr std::size_t kMaxPacketBytes = 32 * 1024;
// What a node may put on its card.
inline constexpr std::uint64_t kMaxCardBytes = 16u << 20;
inline constexpr std::uint32_t kMaxCardFds = 4096;

// What `terrane run` puts into a node's environment; taken out again by Bootstrap::connect().
inline constexpr const char* kSocketVariable = "TERRANE_BOOTSTRAP_FD";
inline constexpr const char* kNodeVariable = "TERRANE_NODE";
inline constexpr const char* kNodesVariable = "TERRANE_NODES";
inline constexpr const char* kJobVariable = "TERRANE_JOB";

}  // namespace terrane::bootstrap
