#pragma once

#include <cstddef>
#include <cstdint>

namespace terrane::protocol {

// The numbers that trade one cost for another. None of them decides whether data is right. Each
// says what it trades, its sensible range, and how it was chosen. "Pages" are blocks of 4 KiB; a
// round is the time between two barrier exits.
struct Tunables {
  // ---- a miss
  // Pages in one request: fewer requests, against pages that no thread reads; 1 to 16
  // (Hlrc::kMaxRun). From 64 KiB on, a request over tcp costs less than its bytes.
  std::uint32_t max_run = 16;
  // Misses after a store to a sealed page that seal no page, at most: faults and system calls,
  // against twins; 64 to 65536. Doubles up to this, so that a program that writes what it has read
  // pays for few.
  std::uint32_t most_unsealed = 4096;
  // How many requests' pages a first write in a stream claims: fewer faults and requests to
  // directories, against homes that first have to move to another writer; 1 to 4 (64 pages, those
  // of one directory). A node that fills 64 MiB faults 1,029 times with 1, and 264 times with 4.
  std::uint32_t claim_runs = 4;
  // Pipelined requests behind the first one: round trips that are hidden, against pages that no
  // thread reads; 0 to 3. A fourth request gained nothing over tcp (decision 0020).
  std::uint32_t runs_pipelined = 3;
  // Full requests of one miss, at most, one after the other: faults and empty pipelines, against
  // pages that no thread reads; 4 to 64. A stream fetches no more than half as many pages as it
  // has. Of the heuristic pipeline.
  std::uint32_t runs_of_miss = 16;
  // Full requests in order until further ones are pipelined: certainty, against the start of a long
  // read; 1 to 32. 128 pages in order never were a coincidence in bench/pages.
  std::uint32_t pipeline_after = 8;
  // Streams of one length in a row until the first miss of the next one prefetches all of it: one
  // miss each, against pages that no thread reads; 1 to 8. A row of a tile of a transposition is no
  // coincidence.
  std::uint32_t same_lengths = 2;
  // Then one in so many streams begins without that, and shows by its misses how long streams are:
  // two or three more misses, against a length that is wrong for longer; 4 to 64.
  std::uint32_t measured = 16;
  // Misses in descending order until the pages before are prefetched: certainty, against misses; 1
  // to 8. Of two pages the second may be missed before the first by chance.
  std::uint32_t falls_after = 2;
  // Prefetches in a row without a miss of its own, + 1, until a page is left out once: one miss,
  // against a page that is sent in vain; 2 to 64. With 16, these misses are 1/16 of the prefetches.
  std::uint8_t most_prefetched = 16;
  // The same for a page on probation: 2 to most_prefetched. With 4, the pages behind a boundary row
  // are not fetched any more after the fourth iteration.
  std::uint8_t most_on_probation = 4;

  // ---- copies that are refreshed
  // Misses in a row until a copy is refreshed at acquires: one fault each, against pages that are
  // sent in vain; 1 to 4. Two misses in a row are no coincidence in any row of bench/pages.
  std::uint8_t refresh_after = 2;
  // Rounds between two misses that still count as in a row: programs with two grids read each in
  // every other round; 1 to 3.
  std::uint32_t apart = 2;
  // Refreshes in a row until a fault has to show that the copy is used: a fault (4 us), against
  // pages that no thread reads; 7 to 255. At 63 the fault costs less than 2 % of the refreshes.
  std::uint8_t most_refreshes = 63;
  // Refreshes in one round, in runs of a full request, from which on each of them has to show its
  // use: a fault for a run (0.2 us a page), against refreshes in vain (1 us a page); 64 to 4096. In
  // shorter runs the faults cost more: a quarter of LU by rows.
  std::uint64_t many_refreshed = 256;
  // How often most_refreshes doubles, once for each fault that showed the use: 0 to 2, bounded by
  // its 8 bits.
  std::uint32_t most_doubled = 2;
  // Refreshes of a page on probation until it is dropped; doubles each time that the page is missed
  // again: 1 to 15. Three iterations show whether a program uses the page again.
  std::uint32_t probation = 3;

  // ---- subscriptions
  // Refreshes of a copy that was missed once, until a fault has to show its use: 2 to 15. Found
  // together with few_misses (decision 0024).
  std::uint32_t predicted_refreshes = 4;
  // Pages missed in a round up to which a first miss subscribes: the second miss, which comes while
  // the home computes, against pushes in vain; 0 to 64. A boundary row has 1 to 16 pages.
  std::uint32_t few_misses = 16;
  // The prediction budget: pages that may be subscribed to in vain at first misses; 0 to 64. It
  // bounds the cost.
  std::int32_t prediction_budget = 8;
  // Barrier exits until one page of that budget is given back: 16 to 1024.
  std::uint32_t prediction_budget_back = 64;
  // Barrier exits in a row without use until a subscription ends: pushes in vain, against a new
  // request; 4 to 64; 0: there are no subscriptions. Sixteen pushes cost as much as one miss.
  std::uint32_t unused_pushes = 16;

  // ---- tracking and notices
  // Vain trackings up to which the back-off doubles, at most to 4 << 8 requests: 2 to 12.
  std::uint8_t track_failures = 8;
  // Fences, beyond fences_a_round in each round, from which on written homes stay tracked: notices
  // and protected pages, against copies that each fence drops; 8 to 512.
  std::uint32_t many_fences = 32;
  // Fences in a round that do not count: 1 to 64. A program of phases has a few beside its
  // barriers.
  std::uint32_t fences_a_round = 8;
  // How often on end such a home may be found written until its readers have to ask again: notices
  // that no reader needs, against a miss of each reader; 3 to 255.
  std::uint8_t most_kept_tracked = 31;
  // Releases in a row that find none of a node's tracked blocks written, until these go back to
  // leases: a scan (1 us) in each release, against a miss of each reader that still needs them; 16
  // to 1024. Doubles each time that a reader asks again.
  std::uint32_t untrack_after = 64;
  // How many such blocks may go back: misses of all of them, against the scans; 4 to 64.
  std::uint64_t untrack_most = 16;
  // Notices of unchanged writes up to which the back-off doubles, at most to 1 << 10 releases: 2 to
  // 15.
  std::uint8_t most_silent = 10;

  // ---- homes that move
  // Rounds after a move in which a home is not offered, because its former home may still give
  // notice of old writes; 1 to 8. The notice comes one barrier later, with locks two.
  std::uint32_t rounds_at_home = 3;
  // Offers of a home that its own threads ended, up to which the back-off doubles, at most to 248
  // sole writes: 2 to 6. A fault for each run of such pages, against a writer that uses them alone
  // in the end.
  std::uint8_t offers_ended = 6;
  // Pages whose homes one request asks for: requests, against homes that are given in vain; 16 to
  // 1024. 128 pages are eight requests of data.
  std::uint32_t most_asked = 128;
  // Pages read in order until a reader asks for homes: certainty, against twins and flushes of the
  // reader's part; 16 to 1024; 0: readers do not ask. Found with the LU rows (decision 0019).
  std::uint64_t reads_ask = 64;
  // Reclaimed homes, of those given to readers, until readers are given no more: 1 to 64.
  std::uint32_t most_reclaimed = 8;

  // ---- homes where there is room
  // Blocks that one request for adoption names: messages, against what a full node still uses; 16
  // to 256. 64 are four requests of data.
  std::uint64_t adopted_together = 64;
  // Blocks in such requests that no thread waits for: a node that has them all at once, against
  // faults that wait; 64 to 1024.
  std::uint64_t adoptions_under_way = 256;
  // 64ths of its limit that a node has left for homes, until it is asked as long as others have
  // more: 1 to 32.
  std::uint32_t room_for_adoption = 8;
  // The part of its memory that a node keeps for homes, if copies come back as soon as they are
  // evicted, is one in so many: 4 to 64.
  std::uint32_t least_homes = 8;
  // By how many 64ths another node has more room, until it is asked in place of the last one:
  // balance, against neighbours that stay together; 1 to 32.
  std::uint32_t room_to_change = 8;
  // Faults at a full node, while no other node has room, until one of them is asked again: 16 to
  // 1024.
  std::uint32_t faults_until_room = 64;

  // ---- barriers and locks
  // Rounds that go by messages after an in-memory round that was not held: 0 to 255. Their number
  // doubles up to this one, so a barrier that is never held costs under 2 %.
  std::uint32_t most_unmet = 64;
  // Leases of a node up to which an in-memory barrier is held: a refresh of each (0.3 us) in each
  // round, against messages (3 us); 0 to 16.
  std::uint64_t memory_barrier_leases = 4;
  // One in so many such rounds goes by messages, so that leases that no node writes are tracked; 4
  // to 256.
  std::uint32_t tells_wanted = 16;
  // Times in a row that a lock's token leaves this node before any thread here takes the lock
  // again, until its releases are made at once: 1 to 16. Two in a row show a lock that migrates.
  std::uint32_t left_unused = 2;
  // How often a token may stay although another node waits, because threads here soon come back for
  // the lock: hand-overs (5 to 20 us), against the others' wait; 0 to 64. 16 halve those of Barnes.
  std::uint32_t extends = 16;
  // Such returns in a row until a token may stay: 1 to 8. Two in a row are no coincidence.
  std::uint8_t extend_after = 2;
  // Locks that a node asks for between two requests for the same lock, up to which the second one
  // counts as soon: 1 to 64. A descent of a tree takes some ten locks.
  std::uint32_t soon = 16;
  // Releases in a row that find a copy written until it is kept open: a fault and a system call
  // each, against comparisons (0.1 us); 1 to 16. Two in a row show a copy that is written under a
  // lock.
  std::uint8_t open_after = 2;
  // Releases in a row that find an open copy unchanged until it is closed: 1 to 16. Four
  // comparisons cost less than the fault that opens it again.
  std::uint8_t close_after = 4;

  // ---- system calls of a release
  // Runs close to each other from which on one call looks at all of them first: one more call,
  // against many; 2 to 16. A scan costs 1 us, a look 1 us and 2 ns a page.
  std::uint32_t look_from = 4;
  // Pages between two runs that are still close: 64 to 4096. A look passes 256 pages in the time of
  // a call.
  std::uint64_t near = 256;
  // Notices of an interval from which on they are sorted and joined: memory, against work; 64 to
  // 65536.
  std::uint64_t most_notices = 4096;
};

// Nodes to which one node sends, or passes on, a push to many readers: the home's messages, against
// the steps to the last reader; 2 to 16. With four, a thousand readers are five steps.
inline constexpr std::uint32_t kPushArity = 4;
// Readers of a run from which on one push goes along the tree: 2 to 8. For two it saves no time.
inline constexpr std::size_t kTogether = 3;
// Pages whose last push the home keeps, so that the next one may be a version alone: memory (4
// MiB), against bytes of pushes; 64 to 16384.
inline constexpr std::size_t kMostSentPushes = 1024;
// Whole pushes after a request until a version alone may go: 2, since the first may be for a
// barrier exit that its reader had passed before it asked. More only cost bytes.
inline constexpr std::uint32_t kWholePushes = 2;
// Subscriptions that a home keeps for each node, and at least in all: 16 KiB of memory.
inline constexpr std::size_t kRunsSubscribed = 8;
inline constexpr std::size_t kLeastSubscribed = 512;

// Copies that may be open at a time: each release compares each of them (0.1 us); 16 to 256.
inline constexpr std::uint32_t kMostOpen = 64;
// Evicted copies that are locked, zapped and punched together: the cost of a call, against how long
// they are locked; 16 to 1024. A call of 64 costs 1.2 times a call of 1.
inline constexpr std::uint64_t kEvictBatch = 64;
// Room that a fault makes when there is little: a run of requests that need not stop for evictions,
// against memory that lies idle; 64 to 1024.
inline constexpr std::uint64_t kRoomAtOnce = 256;
// Former homes whose memory is checked in one go, and how many of these are locked together: as
// above.
inline constexpr std::uint64_t kMovedAtOnce = 1024;
inline constexpr std::uint64_t kMovedBatch = 256;
// Freed blocks that are dropped together.
inline constexpr std::uint64_t kDropBatch = 1024;
// Writers that eager releases report, after which further ones are ignored: 512 to 65536.
inline constexpr std::size_t kMostEagerWriters = 4096;
// Sequential streams that are remembered: two grids of two threads, twice; 4 to 32. Each costs a
// comparison at every miss.
inline constexpr std::size_t kStreams = 8;

}  // namespace terrane::protocol
