#pragma once

#include <cstdint>

#include "wire/message.h"

namespace terrane::wire {

// The messages of chunks (protocol/chunks). Their first byte differs from every Kind, so both may
// come on one connection. Every message is a ChunkMessage and, for some kinds, a tail.
enum class ChunkKind : std::uint8_t {
  kFind = 128,   // client to home. Tail: the name. kCreateFlag: make it where it is not there, with
                 // its home as `turn` says
  kFound,        // back. kUnknownFlag, kMismatchFlag, kFullFlag: there is none for you;
                 // kElsewhereFlag: ask the home of slot `turn`; kUnplacedFlag: it has no home yet
  kRequest,      // client to home: a copy; kExclusiveFlag: alone
  kGrant,        // back: the right. kDataFlag, tail: the bytes
  kRefused,      // back: the request ended without a grant
  kCancel,       // client to home: nobody waits for the request any more
  kRecall,       // home to client: give up what the mode says
  kYielded,      // back, exactly one for each recall. kDataFlag, tail: the bytes
  kEvict,        // client to home: the copy is gone. kDataFlag, tail: what was written
  kEvicted,      // back, when there were bytes: they are at the home
  kSubscribe,    // client to home: send me versions. `request`: its number, `turn`: the window, and
                 // the bytes that it is about: so many (`bytes`) from `version` on
  kUnsubscribe,  // no more
  kPublish,      // owner to home: a version, new in `bytes` bytes from `seen` on. Tail: all bytes
  kUpdate,       // home to subscriber: the same; `turn`: how many were left out before it
  kCredit,       // subscriber to home, home to owner: room for `turn` more versions
  kReport,       // client to a new home: what it knows of one chunk. Tail: the name
  kReportEnd,    // after the last report of a slot
  kServing,      // back: the home can do without the copies of its reporters
  kHint,         // client to home: the chunk shall keep to `coherence` from now on
  kGone,         // home to client: the chunk died with the home before
  kHinted,       // back: it does. kUnknownFlag, kFullFlag: it does not
  kLeave,        // client to home: has all that I sent come?
  kLeft,         // back: it has, and you may go
  kNamed,        // to a new home of a name: its chunk is in slot `turn`. Tail: the name
  // Work streams. `version`: of the stream; `seen`: a tag; `bytes`: a length
  kPlace,            // client to the name's home: where is its home? kPlaceFlag: here, if nowhere
  kPlaced,           // back: at node `turn`
  kWorkWriter,       // client to home: I write. The stream: bytes, `seen`: capacity. Tail: its name
  kWorkPut,          // a version, the sender's `request`-th. Tail: its bytes
  kWorkSubscribe,    // `version`: credit in bytes; `request`: its number; the rest as kWorkWriter
  kWorkUnsubscribe,  // no more. Tail: versions that the sender still has
  kWorkDone,         // Tail: versions that are done
  kWorkReleased,     // Tail: versions that are not done, and need no credit any more
  kWorkEnd,          // no more versions by any node; the rest as kWorkWriter
  kWorkStopped,      // after the sender's last kWorkPut
  kWorkSubscribed,   // home to client: answer. kFullFlag: another node has, kEndedFlag
  kWorkGive,         // a version of node `turn`, for subscription `request`. Tail: its bytes
  kWorkSettled,      // credit for `bytes` bytes. Tail: which of the receiver's kWorkPut are done
  kWorkTakers,       // `turn` nodes subscribe; none: node `version`, the last, has died
  kWorkStop,         // write no more
  kWorkEnding,       // answer to kWorkEnd
  kWorkDrained,      // it was ended, and all versions are done
  kWorkLeave,        // client to home: has all that I sent come?
  kWorkLeft,         // back: it has
  // Between clusters
  kRelay,      // home to a cluster's relay: a version for `turn` nodes of it. Tail: for each a
               // RelayEntry and the kUpdate; kDataFlag: and the bytes, else the relay has them
  kRelayed,    // from there to such a node. `turn`: the home; `version`, `seen`: the entry's number
               // and after. Tail: the kUpdate, the bytes
  kRelayMark,  // home to such a node: so many (`version`) were relayed before what comes now
  kRelayFull,  // relay to home: keeps no versions of the chunk for long any more
  kRelayEnd,   // back: no version is at the relay from here on
};

enum class RecallMode : std::uint8_t {
  kShare = 0,  // write no more
  kDrop = 1,   // read no more
  kCopy = 2,   // the bytes alone
  kEnd = 3,    // everything: the chunk goes over to `coherence`
};

inline constexpr std::uint8_t kCreateFlag = 1;      // kFind
inline constexpr std::uint8_t kWaitFlag = 2;        // kFind: answered when somebody creates it
inline constexpr std::uint8_t kHereFlag = 4;        // kFind: the sender subscribes
inline constexpr std::uint8_t kPlacedFlag = 8;      // kFind: answered when it has a home
inline constexpr std::uint8_t kExclusiveFlag = 1;   // kRequest, kGrant, kFound
inline constexpr std::uint8_t kDataFlag = 2;        // kGrant, kYielded, kEvict, kRelay
inline constexpr std::uint8_t kTryFlag = 4;         // kRequest, kRecall: wait for no scope
inline constexpr std::uint8_t kWholeFlag = 8;       // kRequest: will write it all, needs no bytes
inline constexpr std::uint8_t kHaveFlag = 16;       // kRequest: holds the bytes of `version`
inline constexpr std::uint8_t kBlankFlag = 32;      // kGrant: without bytes
inline constexpr std::uint8_t kBusyFlag = 1;        // kYielded, kRefused: a scope is open
inline constexpr std::uint8_t kUnknownFlag = 64;    // kFound, kRefused: there is no such chunk
inline constexpr std::uint8_t kMismatchFlag = 128;  // kFound: it has another size or protocol
inline constexpr std::uint8_t kWrittenFlag = 128;   // kRefused: once, by node `turn`
inline constexpr std::uint8_t kCreatedFlag = 2;     // kFound: by you
inline constexpr std::uint8_t kFullFlag = 32;       // kFound: the home's memory is used up
inline constexpr std::uint8_t kElsewhereFlag = 4;   // kFound
inline constexpr std::uint8_t kUnplacedFlag = 16;   // kFound
inline constexpr std::uint8_t kBlockFlag = 1;       // kSubscribe: every version, in order
inline constexpr std::uint8_t kSubscriberFlag = 1;  // kCredit: from a subscriber
inline constexpr std::uint8_t kSharedFlag = 1;      // kUpdate: nodes beside the receiver want it
inline constexpr std::uint8_t kBytesFlag = 2;       // kReport: holds the bytes of `version`
inline constexpr std::uint8_t kGoneFlag = 4;        // kReport: died with a home before the last
inline constexpr std::uint8_t kToldFlag = 16;  // kReport, kGoneFlag: a home that served has said it
inline constexpr std::uint8_t kPlaceFlag = 1;  // kPlace
inline constexpr std::uint8_t kAgainFlag = 1;  // kWorkGive: another node had it before
inline constexpr std::uint8_t kDependsFlag = 1;   // kWorkPut: the sender holds what it is made from
inline constexpr std::uint8_t kEndedFlag = 1;     // kWorkSubscribed
inline constexpr std::uint8_t kChangingFlag = 8;  // kFound, kReport: not pushed, and about to be

// `mode` is a RecallMode, in a kReport the state of the copy, in a kFound the coherence with which
// the chunk was made (in a kReport that is `turn`). `request` is the asker's number, repeated in
// the answer; `turn` the home's, repeated in the yield, or a count of versions.
struct ChunkMessage {
  ChunkKind kind = ChunkKind::kFind;
  std::uint8_t mode = 0;
  std::uint8_t flags = 0;
  std::uint8_t coherence = 0;
  std::uint32_t epoch = 0;  // of the sender's view
  std::uint64_t chunk = 0;  // the slot's number where there is no chunk
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
  std::uint64_t after = 0;   // so many messages came to the node at once before
  std::uint64_t number = 0;  // from 1 on, of what is relayed to the node
};
static_assert(sizeof(RelayEntry) == 24);

}  // namespace terrane::wire
