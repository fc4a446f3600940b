#pragma once

#include <cstdint>

#include "wire/message.h"

namespace terrane::wire {

// The messages of chunks (protocol/chunks). Their first byte differs from every Kind, so both sorts
// may use one connection. Every message is a ChunkMessage and, for some kinds, a tail.
enum class ChunkKind : std::uint8_t {
  kFind = 128,   // client to home: asks for the chunk of a name. Tail: the name. kCreateFlag:
                 // create it if there is none, with its home where `turn` says
  kFound,        // the answer. kUnknownFlag, kMismatchFlag, kFullFlag: the client gets no chunk;
                 // kElsewhereFlag: ask the home of slot `turn`; kUnplacedFlag: it has no home yet
  kRequest,      // client to home: asks for a copy; kExclusiveFlag: and to be its owner
  kGrant,        // the answer: the copy is granted. kDataFlag: the tail is its bytes
  kRefused,      // the answer: the request ended without a grant
  kCancel,       // client to home: no thread waits for the request any more
  kRecall,       // home to client: give up what `mode` says
  kYielded,      // the answer, exactly one for each recall. kDataFlag: the tail is the bytes
  kEvict,        // client to home: the copy is gone. kDataFlag: the tail is what was written
  kEvicted,      // the answer, if there were bytes: they are at the home
  kSubscribe,    // client to home: asks for versions. `request`: the number of the subscription;
                 // `turn`: the window; `version` and `bytes`: offset and length of the range that
                 // it is about
  kSubscribed,   // the answer: every version after it comes, as the policy says
  kUnsubscribe,  // client to home: ends the subscription
  kPublish,      // owner to home: a version that changes `bytes` bytes from `seen` on. Tail: all
                 // bytes
  kUpdate,       // home to subscriber: the same; `turn`: how many versions were left out before it
  kCredit,       // subscriber to home, home to owner: there is room for `turn` more versions
  kReport,       // client to a new home: what the client knows of one chunk. Tail: the name
  kReportEnd,    // client to a new home: after its last report of a slot
  kServing,      // the answer: the home does not need the reporter's copies any more
  kHint,         // client to home: the chunk is to have `coherence` from now on
  kGone,         // home to client: the chunk died with its former home
  kHinted,       // the answer to kHint: it has. kUnknownFlag, kFullFlag: it has not
  kLeave,        // client to home: has everything that the client sent arrived?
  kLeft,         // the answer: everything has, and the client may leave
  kNamed,        // to a new home of a name: the chunk is in slot `turn`. Tail: the name
  // Work streams. `version`: a version of the stream; `seen`: its tag; `bytes`: its length
  kPlace,            // client to the name's home: which node is the stream's home? kPlaceFlag: the
                     // client, if it has no home yet
  kPlaced,           // the answer: node `turn`
  kWorkWriter,       // client to home: registers a writer. The stream: `bytes`: of a full version,
                     // `seen`: capacity. Tail: its name
  kWorkPut,          // writer to home: a version, the writer's `request`-th. Tail: its bytes
  kWorkSubscribe,    // client to home. `version`: credit in bytes; `request`: the number of the
                     // subscription; the rest as in kWorkWriter
  kWorkUnsubscribe,  // ends the subscription. Tail: versions that the subscriber still has
  kWorkDone,         // subscriber to home. Tail: versions that are done
  kWorkReleased,     // subscriber to home. Tail: versions that are not done, but need no credit any
                     // more
  kWorkEnd,          // client to home: no node writes any more; the rest as in kWorkWriter
  kWorkStopped,      // writer to home: after the writer's last kWorkPut
  kWorkSubscribed,   // home to client: the answer to kWorkSubscribe. kFullFlag: the stream is in
                     // order, and another node has subscribed; kEndedFlag
  kWorkGive,         // home to subscriber: a version of writer `turn`, for subscription `request`.
                     // Tail: its bytes
  kWorkSettled,      // home to writer: credit of `bytes` bytes. Tail: the numbers of the kWorkPuts
                     // that are done. kFullFlag: the home has no memory for a writer
  kWorkTakers,       // home to writer: `turn` nodes subscribe. 0: the last one, node `version`, has
                     // died
  kWorkStop,         // home to writer: write no more
  kWorkEnding,       // home to client: the answer to kWorkEnd
  kWorkDrained,      // home to subscriber: the stream was ended, and all its versions are done
  kWorkLeave,        // client to home: as kLeave
  kWorkLeft,         // the answer: as kLeft
  // Between clusters
  kRelay,      // home to a cluster's relay: a version for `turn` nodes of the cluster. Tail: for
               // each node a RelayEntry and the kUpdate; kDataFlag: then the bytes; otherwise the
               // relay has them
  kRelayed,    // relay to such a node. `turn`: the home; `version`, `seen`: RelayEntry::number and
               // `after`. Tail: the kUpdate and the bytes
  kRelayMark,  // home to such a node: `version` messages were relayed to it before the next message
  kRelayFull,  // relay to home: wants to drop its versions of the chunk
  kRelayEnd,   // the answer: from here on the home sends bytes again
};

enum class RecallMode : std::uint8_t {
  kShare = 0,  // stop writing
  kDrop = 1,   // stop reading, too
  kCopy = 2,   // only send the bytes
  kEnd = 3,    // give up everything: the chunk changes to `coherence`
};

inline constexpr std::uint8_t kCreateFlag = 1;      // kFind
inline constexpr std::uint8_t kWaitFlag = 2;        // kFind: answered when a node creates it
inline constexpr std::uint8_t kHereFlag = 4;        // kFind: the sender is about to subscribe
inline constexpr std::uint8_t kPlacedFlag = 8;      // kFind: answered when it has a home
inline constexpr std::uint8_t kExclusiveFlag = 1;   // kRequest, kGrant, kFound
inline constexpr std::uint8_t kDataFlag = 2;        // kGrant, kYielded, kEvict, kRelay
inline constexpr std::uint8_t kTryFlag = 4;         // kRequest, kRecall: do not wait for a scope
inline constexpr std::uint8_t kWholeFlag = 8;       // kRequest: writes every byte, needs none
inline constexpr std::uint8_t kHaveFlag = 16;       // kRequest: has the bytes of `version`
inline constexpr std::uint8_t kBlankFlag = 32;      // kGrant: without bytes
inline constexpr std::uint8_t kBusyFlag = 1;        // kYielded, kRefused: a scope is in the way
inline constexpr std::uint8_t kUnknownFlag = 64;    // kFound, kRefused and others: no such chunk
inline constexpr std::uint8_t kMismatchFlag = 128;  // kFound: it has another size or coherence
inline constexpr std::uint8_t kWrittenFlag = 128;   // kRefused: kOnce, and node `turn` wrote it
inline constexpr std::uint8_t kCreatedFlag = 2;     // kFound: created by this kFind
inline constexpr std::uint8_t kFullFlag = 32;       // kFound, kHinted: the home's memory is used up
inline constexpr std::uint8_t kElsewhereFlag = 4;   // kFound
inline constexpr std::uint8_t kUnplacedFlag = 16;   // kFound
inline constexpr std::uint8_t kBlockFlag = 1;       // kSubscribe: every version, in order
inline constexpr std::uint8_t kSubscriberFlag = 1;  // kCredit: from a subscriber
inline constexpr std::uint8_t kSharedFlag = 1;      // kUpdate: others of its cluster subscribe
inline constexpr std::uint8_t kBytesFlag = 2;       // kReport: has the bytes of `version`
inline constexpr std::uint8_t kGoneFlag = 4;        // kReport: the chunk died with an earlier home
inline constexpr std::uint8_t kToldFlag = 16;       // kReport, with kGoneFlag: a serving home has
                                                    // reported the loss
inline constexpr std::uint8_t kPlaceFlag = 1;       // kPlace
inline constexpr std::uint8_t kAgainFlag = 1;       // kWorkGive: another subscriber had it before
inline constexpr std::uint8_t kDependsFlag = 1;     // kWorkPut: its sources are not done
inline constexpr std::uint8_t kEndedFlag = 1;       // kWorkSubscribed
inline constexpr std::uint8_t kChangingFlag = 8;    // kFound, kReport: not pushed yet, about to be

// `mode`: a RecallMode; in a kReport the State of the copy; in a kFound the coherence with which
// the chunk was created (in a kReport that is `turn`). `request`: the requester's number, repeated
// in the answer. `turn`: the home's number of a recall, repeated in the kYielded; or a count of
// versions.
struct ChunkMessage {
  ChunkKind kind = ChunkKind::kFind;
  std::uint8_t mode = 0;
  std::uint8_t flags = 0;
  std::uint8_t coherence = 0;
  std::uint32_t epoch = 0;  // of the sender's view
  std::uint64_t chunk = 0;  // or the number of a slot, in messages about slots and names
  std::uint64_t version = 0;
  std::uint64_t seen = 0;   // an offset in the chunk
  std::uint64_t bytes = 0;  // the chunk's size, or that of a part
  std::uint32_t request = 0;
  std::uint32_t turn = 0;
};
static_assert(sizeof(ChunkMessage) == 48);

struct RelayEntry {
  std::uint32_t node = 0;
  std::uint32_t reserved = 0;
  std::uint64_t after = 0;   // messages that the home sent directly to the node before this one
  std::uint64_t number = 0;  // counts, from 1, the messages relayed to the node
};
static_assert(sizeof(RelayEntry) == 24);

}  // namespace terrane::wire
