#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocol/core/central_barrier.h"
#include "protocol/core/core.h"
#include "protocol/predict/predictor.h"
#include "protocol/push/promises.h"
#include "protocol/serve/server.h"
#include "protocol/steps/block_locks.h"
#include "protocol/steps/block_memory.h"
#include "protocol/steps/strand.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// How the first write to a protected block becomes known: by a scan at release, or by a fault at
// once.
enum class WriteDetection : std::uint8_t { kScan, kFault };

struct HlrcConfig {
  NodeId self;
  std::uint32_t nodes = 1;
  std::uint64_t blocks = 0;
  std::uint64_t sc_first = ~0ull;  // blocks from here on are sc::Pages'
  std::size_t block_bytes = 4096;
  WriteDetection detection = WriteDetection::kScan;
  // Whether a block can enter the application view protected, in one step (Linux 6.4). Where not,
  // a block that enters counts as written from then on: other threads might write before it could
  // be protected.
  bool enters_protected = true;
  std::uint64_t limit = ~0ull;  // memory to keep to, in blocks: frames and twins
  std::uint64_t floor = 2;      // copies that stay however short memory is
  std::uint64_t reserve = 0;    // of the limit: not for homes taken over from others
  bool migrate = false;         // homes by first touch follow their writers
  bool lazy = true;   // a token that no node asks for stays, without a release, until one does
  bool meets = true;  // barriers that bring nobody anything are held in memory, where all reach it
  std::uint32_t push_arity = kNewsArity;  // of pushes, as the next two: ServerConfig
  std::size_t most_sent = kMostSentNews;
  std::uint32_t sent_whole = kWholePushes;
  Tunables tunables;
};

namespace sc {
class Pages;
}

enum class LockResult : std::uint8_t { kOk, kNotHeld, kHeldAlready, kBusy, kExpired };

// What is taken of a count: `count` units, of those that were posted and of `room` more, which
// there are from the beginning. A semaphore has no room; a read-write lock has kMostReaders, of
// which a reader takes one and a writer all.
struct Units {
  static constexpr std::int64_t kMostReaders = 1 << 30;

  std::int64_t count = 1;
  std::int64_t room = 0;
};
// How long an operation waits: not at all; until it has what it asked for; or until its host says
// that the time has come (CountExpire).
enum class Patience : std::uint8_t { kTry, kForEver, kExpires };
// What an atomic operation answers: as a fault, and what the word was.
struct AtomicDone {
  FaultResult result = FaultResult::kDone;
  std::uint64_t before = 0;
};
// Of those that meet one is the last. kNowhere: the count has no tickets, and nobody waits.
enum class Arrival : std::uint8_t { kNowhere, kWaited, kLast };

// Home-based lazy release consistency with multiple writers (Zhou, Iftode, Li, OSDI 1996) and a
// completed flush: a release becomes visible only after its changes have reached their homes, so a
// home is current for anyone who may rightly ask, and a miss is a one-sided copy. The node's half
// that touches blocks; what travels in messages is core.h's.
//
// Every public function is an operation of one thread: a coroutine that stops at each one-sided
// step (effects.h). Several may be under way at once. What they share is guarded by the blocks'
// locks (BlockEntry) and by the consistency lock, under which releases, invalidations and evictions
// of a node take turns; faults do without it.
class Hlrc : BlockLocks, public MemoryRoom {
 public:
  static constexpr std::uint32_t kMaxRun = Server::kMaxRun;

  // `predictor`: the caller's; its answers decide how fast, never whether right.
  Hlrc(const HlrcConfig& config, const BlockMemory& memory, Core& core, Predictor& predictor);
  Hlrc(const Hlrc&) = delete;

  // Makes the block accessible to a thread that faulted on it.
  Task<FaultResult> fault(Strand& s, BlockId block, Access wanted);
  // On a word of the block. Ordered with other operations on that word alone.
  Task<AtomicDone> atomic(Strand& s, BlockId block, AtomicOp op);
  // False: this very thread holds the lock already.
  Task<bool> lock(Strand& s, LockId lock);
  // The lock, if nobody holds it or is in line for it; else kBusy.
  Task<LockResult> try_lock(Strand& s, LockId lock);
  // Where no node asks for the lock its token stays, and the release is left until it leaves.
  Task<LockResult> unlock(Strand& s, LockId lock);
  // For a handler: the release of a token that stayed (a ReleaseKept effect).
  Task<std::uint64_t> release_kept(Strand& s, ReleaseKept kept);
  // The same after a TurnExtended, where the host has no better moment.
  Task<bool> end_turn(Strand& s, LockId lock);
  // Counts (lock_manager.h): a release, then the change; what the count was. `op`: up to kMax.
  Task<std::uint64_t> change_count(Strand& s, LockId count, CountOp op, std::int64_t operand);
  // Until the count has reached `until`; an acquire of what happened before the change that did it.
  Task<> await_count(Strand& s, LockId count, std::int64_t until);
  // Units of a count, which change_count(kAdd) posts; in the order of calls. False: there are none,
  // or the time has come.
  Task<bool> take_units(Strand& s, LockId count, Units units, Patience patience);
  // A release; then the thread waits until as many have come as the count has tickets, and acquires
  // what they released.
  Task<Arrival> arrive(Strand& s, LockId count);
  // Gives `lock` back, waits for a signal of the condition that comes afterwards, and takes the
  // lock again. kExpired: no signal came in time.
  Task<LockResult> wait_condition(Strand& s, LockId condition, LockId lock,
                                  Patience patience = Patience::kForEver);
  Task<> signal_condition(Strand& s, LockId condition, bool all);
  // What was reduced is in s.inbox, if anything. False: what the threads brought did not match.
  Task<bool> barrier(Strand& s, BarrierId barrier, std::uint32_t threads_here,
                     Contribution contribution);
  // The barrier after which this node leaves the job: what it wrote is home, and all are here. The
  // copies are of no use any more; nobody may be asked for anything afterwards.
  Task<> last_barrier(Strand& s, BarrierId barrier);
  // Drops this node's copies in the range; what they hold goes home first. punch: their memory is
  // given back.
  Task<> evict(Strand& s, BlockRange range, bool punch);
  // The machine has no more: gives back all that this node can do without.
  Task<> free_memory(Strand& s);
  // For a handler, when others have stored so much in homes here that the copies are too many:
  // evicts some, unless the node is about to release, to invalidate or to evict.
  Task<> trim(Strand& s);
  bool is_over_limit() const { return room() == 0; }
  // Whose copies count and go as well.
  void share_memory_with(sc::Pages& sequential) { sequential_ = &sequential; }
  // For faults there: whether there is less room than a fault wants to find; makes some.
  bool is_short() const override { return room() < low_; }
  Task<> make_room(Strand& s) override { return make_room(s, 2 * low_, config_.floor); }
  // For a handler, now and then: gives back some of the memory that homes have left here which
  // moved, unless the node is about to release, to invalidate or to evict. (Where memory is short,
  // whoever wants it does.)
  Task<> tidy(Strand& s);
  // Drops, or renews, the copies that an eager release of another node told of (an Expire effect).
  // `ranges`: BlockRanges, the caller's until the end.
  Task<> expire(Strand& s, NodeId origin, Bytes ranges);
  // Another node is about to write these blocks (an Offer effect): offers it those that are at
  // home here, never moved, and free just now. Waits for nobody. Result: how many. Where it reads
  // alone: none, once our threads have come back for some that were given so.
  Task<std::uint64_t> offer_asked(Strand& s, Offer asked);
  // Forgets the blocks of a freed region, homes included (a Drop effect).
  Task<> drop(Strand& s, RegionId region, BlockRange range);

  // What this node does for others that cannot reach its memory.
  Server& server() { return server_; }
  // Whether this node waits for the run at that departure, if it has the copies yet.
  bool expects(NodeId home, BlockRange run, std::uint32_t departure) const {
    return expectations_.covers(home, run, departure);
  }

  std::uint64_t cached() const { return cached_count_.load(std::memory_order_relaxed); }
  const BlockEntry& entry(std::uint64_t block) const { return entries_[block]; }
  bool is_tracked(std::uint64_t block) const { return tracked_.contains(block); }
  bool is_cached(std::uint64_t block) const { return cached_.contains(block); }
  bool is_written(std::uint64_t block) const { return written_.contains(block); }

  // The node that keeps the block's owner where homes are by first touch.
  NodeId directory(std::uint64_t block) const { return directory_of(block, config_.nodes); }

 private:
  // Of a miss that brings more than one message's blocks: what was asked for behind the first ones,
  // and has not been entered yet. Its blocks are locked, and among the copies.
  struct Ahead {
    static constexpr std::uint32_t kMost = PostFetch::kMost;

    BlockRange runs[kMost];
    std::uint32_t count = 0;
    NodeId home;
    Access wanted{};               // of those whose home comes
    std::uint64_t extent_end = 0;  // of the allocation
    std::uint64_t miss_end = 0;    // of what the miss itself brought
  };
  // One miss under way: what a directory named, and what was asked for behind what was missed.
  struct MissUnderWay {
    BlockRange same_owner{};  // blocks of the owner that a directory named last
    Ahead ahead;

    bool names(std::uint64_t block) const {
      return same_owner.first <= block && block < same_owner.end();
    }
  };
  // What came with a grant, or with the other one's arrival, behind the notice set.
  struct Grant {
    struct Block {
      wire::GrantedBlock head;
      std::uint32_t at;  // of the block's bytes, in `bytes`
    };

    std::uint64_t activity = kUnsettled;  // this node's when it asked for it
    std::vector<std::byte> bytes{};
    std::vector<Block> blocks{};
  };
  // A departure that is being applied, or the acquire of a lock (0); usable: what homes sent with
  // it may be taken; wanted: collects what the acquire of a lock could have brought.
  struct Departure {
    std::uint32_t number = 0;
    bool usable = false;
    const Grant& grant;
    std::vector<wire::WantedBlock>* wanted = nullptr;
  };
  // What a grant, or an arrival, brought of a block: nothing; its bytes; bytes that may be too old;
  // or that the home has to be asked from now on.
  enum class Brought : std::uint8_t { kNot, kHere, kStale, kGone };
  // The first blocks of a run, where they were found.
  struct Fetched {
    NodeId home;
    std::uint64_t count = 0;
    bool own = false;            // this node is their home by that
    std::uint64_t promised = 0;  // for departures after the one of this number - 1; 0: not
    std::uint64_t tracked = 0;   // a bit for each; of what lies aside
    std::uint64_t same = 0;      // ... that does not lie there: the copy is what the home has
    bool news = false;           // by serial numbers
    std::uint64_t alike = 1;     // where none came: for how many `home` is the node to ask
  };

  // What became of a copy's changes: whether there were any, and whether the block had no home and
  // has it here now.
  struct Pushed {
    bool changed = false;
    bool mine = false;
  };

  struct Written {
    BlockRange run;
    NodeId by;
  };

  // fault.cpp
  Task<FaultResult> fault_invalid(Strand& s, std::uint64_t block, Access wanted,
                                  MissUnderWay& under_way);
  Task<FaultResult> fault_elsewhere(Strand& s, std::uint64_t block, Access wanted, NodeId home,
                                    std::uint64_t unmissed, MissUnderWay& under_way);
  Task<Owner> ask_owner(Strand& s, std::uint64_t block, std::uint32_t claim = 0);
  Task<bool> is_freed(Strand& s, std::uint64_t block);
  Task<std::uint64_t> moved_together(Strand& s, BlockRange run, NodeId home, NodeId next);
  Task<std::uint64_t> find_home(Strand& s, std::uint64_t block, Access wanted,
                                BlockRange& same_owner);
  Task<FaultResult> fault_at_home(Strand& s, std::uint64_t block, Access wanted);
  Task<BlockState> fault_copy(Strand& s, BlockRange& run, Access wanted, NodeId home,
                              std::uint64_t unmissed, MissUnderWay& under_way);
  Task<Fetched> fetch(Strand& s, BlockRange run, NodeId home, bool aside, std::uint64_t again);
  Task<Fetched> fetch_missed(Strand& s, BlockRange run, NodeId home);
  Task<std::uint64_t> copy_some(Strand& s, BlockRange run, Fetched& got, std::uint32_t word,
                                std::uint32_t must, bool aside);
  Task<> want(Strand& s, std::uint64_t block, NodeId home, std::uint32_t word, bool aside);
  Task<Fetched> fetch_by_message(Strand& s, BlockRange run, NodeId home, bool aside,
                                 FetchWish wish);
  void settle_leases(BlockRange run, std::uint64_t tracked);
  Task<> enter_copies(Strand& s, BlockRange run, Access wanted);
  Task<> enter_homes(Strand& s, BlockRange run, Access wanted);
  Miss miss_of(std::uint64_t block, Access wanted, NodeId home) const;
  Access access_of_homes(const Miss& miss) const;
  Task<NodeId> still_unclaimed(Strand& s, std::uint64_t block, BlockRange& same_owner);
  Task<> first_write(Strand& s, std::uint64_t block);

  // neighbours.cpp
  Task<std::uint64_t> extend_run(Strand& s, BlockRange& run, NodeId home, const MissPlan& plan,
                                 const MissUnderWay& under_way);
  Task<> bring_more(Strand& s, BlockRange& run, NodeId home, bool fresh, std::uint64_t most,
                    const MissUnderWay& under_way);
  Task<bool> may_bring(Strand& s, std::uint64_t block, NodeId home, bool fresh,
                       const MissUnderWay& under_way);
  Task<bool> is_known_home(Strand& s, std::uint64_t block, NodeId home, bool fresh,
                           const MissUnderWay& under_way);
  Task<> leave_out(Strand& s, BlockRange blocks);
  Task<> bring_before(Strand& s, std::uint64_t block, MissUnderWay& under_way);
  Task<NodeId> lock_unmissed(Strand& s, std::uint64_t block, std::uint64_t missed,
                             MissUnderWay& under_way);

  // ahead.cpp
  Task<> ask_ahead(Strand& s, BlockRange run, NodeId home, std::uint64_t extent, const Miss& miss,
                   MissUnderWay& under_way);
  Task<bool> knows_home(Strand& s, std::uint64_t block, NodeId home, MissUnderWay& under_way);
  Task<> ask_offers_ahead(Strand& s, Miss miss, const Ahead& ahead);
  Task<> finish_ahead(Strand& s, Ahead& ahead);
  Task<> enter_ahead(Strand& s, BlockRange run, const Fetched& got, Access wanted);

  // release.cpp
  Task<std::uint64_t> release(Strand& s);
  Task<> find_written(Strand& s);
  BlockRange runs_near(BlockRange run) const;
  Task<> scan_suspects(Strand& s, BlockRange group);
  Task<> flush_run(Strand& s, BlockRange run);
  Task<BlockState> flush_block(Strand& s, std::uint64_t block);
  Task<BlockState> flush_copy(Strand& s, std::uint64_t block, bool written);
  BlockRange next_to_scan(std::uint64_t from, std::uint64_t end) const;
  Task<> protect_run(Strand& s, BlockRange run);
  void note_flush(std::uint64_t block, bool changed);
  void close(std::uint64_t block);
  Task<> untrack(Strand& s, std::uint64_t block);
  Task<> track_wanted(Strand& s);
  Task<> publish(Strand& s, BlockRange run);
  Task<> track_run(Strand& s, BlockRange run);
  Task<> track_part(Strand& s, BlockRange run);
  Task<bool> trackable(Strand& s, std::uint64_t block);
  Task<Pushed> push_changes(Strand& s, std::uint64_t block, bool update_twin, bool written);
  Task<> await_flush(Strand& s);

  // memory.cpp
  Task<> make_room(Strand& s, std::uint64_t blocks, std::uint64_t floor);
  Task<> make_room_held(Strand& s, std::uint64_t blocks, std::uint64_t floor);
  Task<> evict_sequential(Strand& s, std::uint64_t blocks, std::uint64_t floor);
  Task<> evict_copies(Strand& s, std::uint64_t blocks, std::uint64_t floor);
  BlockRange next_victims();
  Task<> give_back_idle(Strand& s, std::uint64_t blocks);
  Task<> give_back_twins(Strand& s, std::uint64_t blocks);
  Task<> give_back_moved(Strand& s);
  Task<> give_back(Strand& s, BlockRange run);
  Task<bool> may_go(Strand& s, std::uint64_t block);
  Task<bool> has_arrived(Strand& s, std::uint64_t block, std::uint32_t word);
  std::uint64_t room() const {
    std::uint64_t used = used_ == nullptr ? 0 : used_->load(std::memory_order_relaxed);
    return used < config_.limit ? config_.limit - used : 0;
  }

  // acquire.cpp
  bool may_meet(BarrierId barrier) const;
  bool is_calm(BarrierId barrier) const;
  bool has_leases() const { return leases_.next_run(0, config_.blocks).count > 0; }
  Task<bool> meet_released(Strand& s, BarrierId barrier);
  Task<bool> meet(Strand& s, BarrierId barrier, std::uint64_t told);
  Task<> wait_for_departure(Strand& s, std::uint32_t number);
  Task<> apply(Strand& s, std::uint32_t departure, std::uint64_t activity, const Grant& grant,
               std::optional<LockId> lock = std::nullopt);
  static Grant open_grant(Strand& s);
  std::uint64_t settled_activity() const;
  void select_invalid(Strand& s) const;
  void select_cached(Strand& s, BlockRange within) const;
  Task<> invalidate(Strand& s, BlockRange run, bool punch);
  Task<> invalidate_block(Strand& s, std::uint64_t block, bool evicted);
  Task<> finish_invalid(Strand& s, BlockRange run, bool punch);
  Task<bool> may_be_dirty(Strand& s, std::uint64_t block, BlockState state);
  Task<> drop_run(Strand& s, BlockRange run);

  // counts.cpp
  Task<> give_back(Strand& s, LockId count);
  Task<bool> sleep(Strand& s);
  Task<bool> sleep_or_give_up(Strand& s, LockId count, std::int64_t tickets);
  Task<> acquire_woken(Strand& s, LockId count);

  // atomic.cpp
  Task<AtomicDone> atomic_held(Strand& s, std::uint64_t block, const AtomicOp& op);
  Task<BlockState> flush_before_atomic(Strand& s, std::uint64_t block, BlockState state);
  Task<std::uint64_t> atomic_at_home(Strand& s, std::uint64_t block, const AtomicOp& op);
  Task<std::uint64_t> atomic_elsewhere(Strand& s, std::uint64_t block, const AtomicOp& op);

  // expire.cpp
  std::uint32_t begin_expiry(Strand& s);
  Task<> finish_expiry(Strand& s, std::uint32_t number);

  // claim.cpp
  Task<> claim_next(Strand& s, std::uint64_t block);
  Task<std::uint64_t> claim_run(Strand& s, BlockRange run);
  Task<> enter_claimed(Strand& s, BlockRange run, std::uint64_t claimed, std::uint64_t neighbour);

  // renew.cpp
  Task<> unmap_probes(Strand& s, BlockRange run);
  Task<BlockRange> lock_shown(Strand& s, BlockRange run);
  AcquirePlan plan_acquire(BlockRange run, Propagation wants, Departure at) const;
  Task<> renew_or_invalidate(Strand& s, BlockRange run, Departure at);
  Task<BlockRange> hold_stale(Strand& s, BlockRange within, Departure at);
  Task<> unlock_rest(Strand& s, BlockRange run, std::uint64_t count);
  Task<BlockRange> renew(Strand& s, BlockRange run, Departure at);
  static void note_wanted(std::vector<wire::WantedBlock>& wanted, BlockRange run, NodeId home);
  Task<Fetched> fetch_renewal(Strand& s, BlockRange run, NodeId home, Departure at);
  Task<> merge(Strand& s, BlockRange run, std::uint64_t same);

  // news.cpp
  Task<> expect_promised(Strand& s);
  Task<Fetched> take_news(Strand& s, BlockRange run, NodeId home, Departure at,
                          std::vector<std::uint32_t>& serials);
  bool has_kept(std::uint64_t block, std::uint32_t serial) const;
  void note_news(const std::vector<std::uint32_t>& serials, std::uint64_t block,
                 std::uint64_t index, const Fetched& got);
  Task<bool> give_up(Strand& s, NodeId home, BlockRange run);
  Task<> end_promises(Strand& s);
  static const Grant::Block* granted_of(const Grant& grant, std::uint64_t block);
  Brought brought_by(const Strand& s, std::uint64_t block, NodeId home, Departure at) const;
  static bool is_named(Bytes notices, NodeId home, BlockRange run);
  Task<Fetched> take_granted(Strand& s, BlockRange run, NodeId home, Departure at,
                             std::vector<std::uint32_t>& serials);
  std::vector<std::uint64_t> select_along();
  static bool any_along(const std::vector<std::uint64_t>& along, BlockRange run);
  bool went_along(const std::vector<std::uint64_t>& along, Bytes notices, BlockRange run) const;
  BlockRange take_readers(std::span<const Promised> due, std::vector<NodeId>& readers) const;
  Task<> send_news(Strand& s, std::uint32_t departure, const std::vector<std::uint64_t>& along,
                   bool stands);

  // migrate.cpp
  Task<> offer_homes(Strand& s);
  void find_sole_writers(Bytes notices);
  void note_writer(BlockRange range, NodeId writer);
  void note_eager_writer(BlockRange range, NodeId writer);
  void forget_writers(BlockRange range);
  Task<> offer(Strand& s, Written written, bool fresh);
  Task<> defer(Strand& s, std::uint64_t block, NodeId to);
  Task<bool> can_offer(Strand& s, std::uint64_t block, NodeId to);
  Task<> offer_part(Strand& s, BlockRange run, NodeId to);
  Task<> arm_offers(Strand& s);
  Task<bool> may_offer_asked(Strand& s, std::uint64_t block, NodeId to, bool reads);
  Task<bool> ask_offers(Strand& s, const Miss& miss, NodeId home, std::uint64_t most);
  Task<bool> still_here(Strand& s, std::uint64_t block);
  Task<NodeId> settle(Strand& s, std::uint64_t block, NodeId home, NodeId& via);
  Task<bool> take_at_flush(Strand& s, std::uint64_t block);
  bool tracks_taken(std::uint64_t block) const;
  Task<> become_home(Strand& s, BlockRange run, bool tracks);
  Task<bool> swap_word(Strand& s, NodeId node, std::uint64_t block, std::uint32_t from,
                       std::uint32_t to);
  Task<bool> take(Strand& s, std::uint64_t block, NodeId home, std::uint32_t word);
  Task<> store_word(Strand& s, std::uint64_t block, std::uint32_t bits);
  Task<bool> stayed(Strand& s, std::uint64_t block, NodeId home, std::uint32_t word);
  bool is_armed_for_us(std::uint32_t word) const;
  bool may_take() const;

  Task<> enter(Strand& s);
  Task<> leave(Strand& s);

  bool is_adaptive(std::uint64_t block) const {
    return entries_[block].propagation() == Propagation::kAdaptive;
  }
  std::uint64_t end() const { return std::min(config_.blocks, config_.sc_first); }
  std::uint64_t most_of_run() const { return std::min(config_.tunables.max_run, kMaxRun); }
  bool enters_free(Access wanted) const {
    return wanted == Access::kWrite || !config_.enters_protected;
  }
  bool reaches(NodeId node) const { return reached_ == nullptr || reached_[node.value]; }
  bool scans() const { return config_.detection == WriteDetection::kScan; }
  void add_cached(std::uint64_t block);
  void remove_cached(std::uint64_t block);
  void add_idle(std::uint64_t block);
  void remove_idle(std::uint64_t block);
  void track(std::uint64_t block);
  void notice(std::uint64_t block);
  static void add_block(std::vector<BlockRange>& to, std::uint64_t block);

  HlrcConfig config_;
  Core& core_;
  Predictor& predictor_;
  sc::Pages* sequential_ = nullptr;
  const bool* reached_;
  BlockSet cached_;  // copies of others' blocks, also those being made
  // Copies that are written time after time: each release compares them, and nothing protects them.
  BlockSet open_;
  std::atomic<std::uint32_t> open_count_{0};
  BlockSet leases_;   // of these, the ones that die at the next acquire
  BlockSet tracked_;  // our home blocks that are protected and whose readers rely on notices
  BlockSet written_;  // write detection by fault: blocks written since the last release; by scan:
                      // homes taken to be written, of which the next release gives notice
  BlockSet recent_;   // copies that came, or were written, since the hand of evictions passed them
  BlockSet idle_;     // no copies any more, and their memory may still be here
  BlockSet leaving_;  // our homes that were offered, or have moved and left their memory here
  BlockSet spare_;    // homes that were copies, and whose twins may still be here
  const std::atomic<std::uint64_t>* used_;  // blocks of memory, by the host
  std::uint64_t low_ = 0;                   // a fault wants to find so much room
  std::atomic<std::uint64_t> cached_count_{0};
  std::atomic<std::uint64_t> idle_count_{0};
  std::atomic<std::uint32_t> consistency_{0};  // 0 free, 1 held, 2 held and waited for
  std::atomic<std::uint32_t> departures_{0};  // of barriers, applied here, times 2; odd: waited for
  std::vector<BlockRange> notices_;        // of the interval under way; under the consistency lock
  std::vector<BlockRange> eager_;          // the same of blocks whose copies are to expire
  std::uint32_t expiries_ = 0;             // begun; under the consistency lock
  std::atomic<std::uint32_t> expired_{0};  // of these, over, in their order
  std::uint64_t most_notices_;             // ... until they are joined
  // Our blocks that a departure tells of, by writer; then those that one node alone wrote. Under
  // the consistency lock.
  std::vector<Written> writers_;
  std::vector<Written> offers_;
  std::vector<Written> deferred_;  // offers of the next departure
  // The same of eager regions, of which no departure tells: what expiries told since the last one;
  // and whether others wrote any.
  std::vector<Written> eager_writers_;
  std::atomic<bool> others_wrote_{false};
  // A barrier that may be held in memory; the last thread's that comes.
  struct Meeting {
    bool calm = false;          // the last one was held, without copies and anything tracked here
    std::uint64_t told = 0;     // what this node said then, when these were:
    std::uint64_t changes = 0;  // Core::changes()
    std::uint64_t disturbed = 0;
    std::uint64_t taken = 0;
  };
  Meeting meetings_[CentralBarrier::kPlaces];
  bool meets_ = false;
  std::atomic<std::uint64_t> disturbed_{0};  // grows with what the next release has to look for
  // Releases that this node has begun, and the latest that has ended: they take turns.
  std::atomic<std::uint64_t> releases_begun_{0};
  std::atomic<std::uint64_t> releases_ended_{0};
  std::atomic<bool> eager_seen_{false};    // a block of a region with eager releases
  std::atomic<std::uint64_t> settled_{0};  // as it was when the last one ended
  // The same by faults, which do without the consistency lock: counted after all else, and settled
  // as it was when the last release began.
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<std::uint64_t> settled_taken_{0};
  std::uint64_t evict_hand_ = 0;  // under the consistency lock, as the next one
  std::uint64_t moved_hand_ = 0;
  // Flushes, acquires and drops of this node; changes under the consistency lock, as the
  // expectations do.
  std::atomic<std::uint64_t> activity_{0};
  // Acquires but for departures, drops of regions, and releases that others have to be told of; and
  // as it was when this node arrived at the barrier that departed last.
  std::atomic<std::uint64_t> acquired_{0};
  std::atomic<std::uint64_t> acquired_before_{0};
  Expectations expectations_{config_.tunables.promised};
  MissesPromises misses_promises_;
  Promises promises_;
  Server server_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
