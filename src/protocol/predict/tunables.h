#pragma once

#include <cstddef>
#include <cstdint>

namespace terrane::protocol {

// The numbers that trade one cost for another. None of them decides whether data is right. Each
// says what it trades, the range that is sensible, and how it was chosen. "Pages" are blocks of
// 4 KiB; a round is the time between two barrier exits.
struct Tunables {
  // ---- a miss
  // Pages in one request: fewer requests against pages nobody reads; 1 to 16 (Hlrc::kMaxRun).
  // 64 KiB is where a tcp request costs less than its bytes.
  std::uint32_t max_run = 16;
  // What a first write in a stream claims, in pages of so many requests: fewer faults and questions
  // to directories against homes that first have to follow another writer; 1 to 4 (64 pages, one
  // directory's). A node that fills 64 MiB faults 1,029 times with 1, and 264 times with 4.
  std::uint32_t claim_runs = 4;
  // Pipelined requests behind the first one: hidden round trips against pages nobody reads; 0 to 3.
  // A fourth request gained nothing over tcp (decision 0020).
  std::uint32_t runs_ahead = 3;
  // Runs in order until requests are pipelined: certainty against the start of a long read; 1 to
  // 32. 128 pages in order never were a coincidence in bench/pages.
  std::uint32_t ahead_after = 8;
  // Streams of one length on end until the first miss of one prefetches all of it: a miss each
  // against pages nobody reads; 1 to 8. A row of a tile of a transposition is no coincidence.
  std::uint32_t alike = 2;
  // Of so many streams then one begins without, and shows by its misses how long streams are: 4 to
  // 64; two or three misses more against a length that is wrong for longer.
  std::uint32_t measured = 16;
  // Misses in order downwards until pages before are prefetched: as the above; 1 to 8 pages. Of two
  // pages the second may be missed before the first by chance.
  std::uint32_t falls_after = 2;
  // Prefetches on end without a miss of its own, + 1, until a page is left out once: one miss
  // against a page that travels for nothing; 2 to 64. 16 makes the misses 1/16 of the prefetches.
  std::uint8_t most_brought = 16;
  // The same of a page on probation: 2 to most_brought. The pages behind a boundary row stay away
  // after the fourth iteration.
  std::uint8_t most_tried = 4;

  // ---- copies that are refreshed
  // Misses on end until a copy is refreshed at acquires: a fault each against pages that travel for
  // nothing; 1 to 4. Two misses on end are no coincidence in any row of bench/pages.
  std::uint8_t hot_after = 2;
  // Rounds between misses that still are on end: programs with two grids read each in every other
  // round; 1 to 3.
  std::uint32_t apart = 2;
  // Refreshes on end until a fault has to show that the copy is used: a fault (4 us) against pages
  // nobody reads; 7 to 255. At 63 the fault costs less than 2 % of the refreshes.
  std::uint8_t most_renewed = 63;
  // Refreshes in one round, in runs of a whole request, from which on each of them has to show its
  // use: a fault for a run (0.2 us a page) against refreshes for nothing (1 us a page); 64 to 4096.
  // In shorter runs the faults cost more: a quarter of LU by rows.
  std::uint64_t many_refreshed = 256;
  // How often most_renewed doubles where a fault showed the use: 0 to 2, bounded by its 8 bits.
  std::uint32_t most_doubled = 2;
  // Refreshes of a page on probation until it is dropped; doubles with each return: 1 to 15. Three
  // iterations show whether a program comes back.
  std::uint32_t trial = 3;

  // ---- subscriptions
  // Refreshes of a copy that was missed once, until a fault has to show its use: 2 to 15. Found
  // with few_misses (decision 0024).
  std::uint32_t foreseen = 4;
  // Pages missed in a round up to which a first miss subscribes: the second miss, while the home
  // computes, against pushes for nothing; 0 to 64. A boundary row has 1 to 16 pages.
  std::uint32_t few_misses = 16;
  // Pages that may be subscribed in vain at first misses: bounds the harm; 0 to 64.
  std::int32_t foresight = 8;
  // Barrier exits until one page of that budget is given back: 16 to 1024.
  std::uint32_t foresight_back = 64;
  // Barrier exits on end without use until a subscription ends: pushes for nothing against a new
  // request; 4 to 64; 0: there are no subscriptions. Sixteen pushes cost as much as one miss.
  std::uint32_t unused_pushes = 16;

  // ---- tracking and notices
  // Vain trackings whose back-off still doubles: 4 << 8 requests are the longest; 2 to 12.
  std::uint8_t track_failures = 8;
  // Releases on end that find none of a node's tracked blocks written until they are left to
  // leases: a scan (1 us) of each release against a miss of each reader that still needs them; 16
  // to 1024. Doubles each time that a reader comes back.
  std::uint32_t untrack_after = 64;
  // Such blocks, at most: misses of all of them against the scans; 4 to 64.
  std::uint64_t untrack_most = 16;
  // Notices of unchanged writes whose back-off still doubles, up to 1 << 10 releases: 2 to 15.
  std::uint8_t most_silent = 10;

  // ---- homes that move
  // Rounds after a move in which a home is not offered: its former home may still give notice of
  // old writes; 1 to 8. The notice comes one barrier later, with locks two.
  std::uint32_t rounds_at_home = 3;
  // Offers of a home that its own threads ended whose back-off still doubles, up to 248 sole
  // writes: 2 to 6. A fault for each run of such pages against a writer that is alone with them at
  // last.
  std::uint8_t offers_ended = 6;
  // Pages whose homes a request asks for: requests against homes that are given in vain; 16 to
  // 1024. 128 pages are eight requests of data.
  std::uint32_t most_asked = 128;
  // Pages read in order until a reader asks for homes: certainty against twins and flushes of the
  // reader's part; 16 to 1024; 0: readers do not ask. Found with the LU rows (decision 0019).
  std::uint64_t reads_ask = 64;
  // Homes that the former home's threads come back for, until readers are given none: 1 to 64.
  std::uint32_t most_regretted = 8;

  // ---- barriers and locks
  // Rounds that go by messages at once after in-memory barriers that were not held: 0 to 255.
  // Doubles up to this one, so a barrier that never is held costs under 2 %.
  std::uint32_t most_unmet = 64;
  // Leases up to which an in-memory barrier is held: a refresh of each (0.3 us) in each round
  // against messages (3 us); 0 to 16.
  std::uint64_t meets_leases = 4;
  // Of so many such rounds one goes by messages: leases that nobody writes are tracked then; 4 to
  // 256.
  std::uint32_t tells_wanted = 16;
  // Times on end that a lock's token leaves this node before any thread here takes the lock again,
  // until its releases are performed at once: 1 to 16. Two on end show a lock that migrates.
  std::uint32_t left_unused = 2;
  // How often a token may stay though another node waits, since threads here come back for the lock
  // soon: hand-overs (5 to 20 us) against the others' wait; 0 to 64. 16 halve those of Barnes.
  std::uint32_t extends = 16;
  // Returns on end until it does: 1 to 8. Two on end are no coincidence.
  std::uint8_t extend_after = 2;
  // Locks that a node asks for between two of the same one that still follow each other soon: 1 to
  // 64. A descent of a tree takes some ten locks.
  std::uint32_t soon = 16;
  // Releases on end that find a copy written until it is kept open: a fault and a system call each
  // against comparisons (0.1 us); 1 to 16. Two on end show a copy that is written under a lock.
  std::uint8_t open_after = 2;
  // Releases on end that find an open copy unchanged until it is closed: 1 to 16. Four comparisons
  // cost less than the fault that opens it again.
  std::uint8_t close_after = 4;

  // ---- system calls of a release
  // Runs close to each other until one call looks at all of them first: one more call against many;
  // 2 to 16. A scan costs 1 us, a look 1 us and 2 ns a page.
  std::uint32_t look_from = 4;
  // Pages between runs that are close: 64 to 4096. A look passes 256 pages in the time of a call.
  std::uint64_t near = 256;
  // Notices of an interval until they are sorted and joined: memory against work; 64 to 65536.
  std::uint64_t most_notices = 4096;
};

// Messages that carry one push to many readers: the home's messages against the ways to the last
// reader; 2 to 16. Four make a thousand readers five ways.
inline constexpr std::uint32_t kPushArity = 4;
// Readers of a run from which on one push goes along the tree: 2 to 8. For two it spares no time.
inline constexpr std::size_t kTogether = 3;
// Pages whose last push the home keeps, to send a version alone next time: memory (4 MiB) against
// bytes of pushes; 64 to 16384.
inline constexpr std::size_t kMostSentPushes = 1024;
// Whole pushes after a request until a version alone may go: 2, since the first may be for an exit
// that its reader had passed before it asked; more only costs bytes.
inline constexpr std::uint32_t kWholePushes = 2;
// Subscriptions that a home keeps for each node, or for all of few nodes: 16 KiB of memory.
inline constexpr std::size_t kRunsSubscribed = 8;
inline constexpr std::size_t kLeastSubscribed = 512;

// Copies that are open at a time, at most: a release compares each (0.1 us); 16 to 256.
inline constexpr std::uint32_t kMostOpen = 64;
// Evictions: copies that are locked, zapped and punched together; a call's cost against how long
// they are locked. 16 to 1024; a call of 64 costs 1.2 times a call of 1.
inline constexpr std::uint64_t kEvictBatch = 64;
// Former homes that are looked at in one go, and of these locked together: as the above.
inline constexpr std::uint64_t kMovedAtOnce = 1024;
inline constexpr std::uint64_t kMovedBatch = 256;
// Freed blocks that are dropped together.
inline constexpr std::uint64_t kDropBatch = 1024;
// Writers that eager releases tell of until the first ones have to do: 512 to 65536.
inline constexpr std::size_t kMostEagerWriters = 4096;
// Sequential streams that are remembered: two grids of two threads, twice; 4 to 32. Each costs a
// comparison at every miss.
inline constexpr std::size_t kStreams = 8;

}  // namespace terrane::protocol
