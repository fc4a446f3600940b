#pragma once

#include "base/prng.h"
#include "sim/program.h"

namespace terrane::sim {

enum class Mix : std::uint8_t { kOnly, kNever, kMix };
enum class Detection : std::uint8_t { kScan, kFault, kMix };

// What a campaign fixes for its programs. Everything else is drawn from the seed.
struct Shape {
  std::uint32_t nodes = 0;  // 0: 4 to 6
  std::uint32_t hosts = 0;  // 0: one in half of the programs, else 2 or more
  bool sc = false;          // some regions are sequentially consistent
  Mix racy = Mix::kMix;
  bool check_races = false;     // HlrcConfig::check_races
  bool check_accesses = false;  // with check_races: HlrcConfig::check_accesses
  Detection detection = Detection::kMix;
  protocol::Prediction prediction;
  Mix random_predictions = Mix::kMix;  // kMix: in half of the programs
};

// Writes random programs. Owns its tables and reuses them from program to program, so it allocates
// nothing once they are large enough.
class Generator {
 public:
  void generate(base::Prng& rng, const Shape& shape, Program& out);

 private:
  static constexpr std::uint32_t kAccesses = 204;  // least accesses of a history

  enum class Pattern : std::uint8_t {
    kPrivate,    // always accessed by one thread
    kMigratory,  // always accessed under one lock
    kProducer,   // written by one thread, then read by all, in turns
    kRotating,   // owned by another thread in each phase
    kReadMostly,
    kRandom,
  };
  // An aligned piece of memory, all of which has the same owner or lock at any time.
  struct Slot {
    std::uint8_t region;
    std::uint8_t size;
    Pattern pattern;
    std::uint8_t lock;
    std::uint32_t at;
    std::uint32_t thread;
  };
  using Slots = std::vector<std::uint16_t>;
  struct Life {
    std::uint32_t from;  // first phase in which the region may be accessed
    std::uint32_t to;    // first phase in which it may no longer be accessed
  };

  void draw_setup(const Shape& shape);
  void form_clusters(base::Prng rng);
  void draw_threads();
  void draw_regions();
  void choose_sequential();
  void draw_slots();
  void split_word(std::uint32_t region, std::uint32_t at, Pattern pattern);
  std::uint32_t draw_owner();
  void assign(std::uint32_t phase);
  void relay_or_push(Slots* to, std::uint16_t slot);
  bool one_goes_to_both() const;
  void prologue();
  void region_changes(std::uint32_t phase);
  void doomed_stores(base::Prng& rng, std::uint32_t thread, std::uint32_t phase);
  void read_fresh(std::uint32_t thread, std::uint32_t phase);
  void phase_of_thread(std::uint32_t thread, std::uint32_t phase);
  void fill_up(std::uint32_t phase);
  std::uint32_t meetings(std::uint64_t seed);
  std::uint32_t lulls(base::Prng& rng, std::uint32_t phase);
  std::uint32_t objects(base::Prng& rng, std::uint32_t phase);
  std::uint32_t duels(base::Prng& rng, std::uint32_t phase);
  std::uint32_t side_meetings(base::Prng& rng, std::uint32_t phase);
  std::uint32_t creations(base::Prng& rng, std::uint32_t phase);
  const Slot* live_slot(std::uint32_t phase);
  const Slot* neighbour(const Slot& word, std::uint32_t thread) const;
  void read_by_most(const Slot& word, std::uint32_t phase);
  void duel_access(std::uint32_t thread, std::uint32_t phase, const Slot& slot, bool store);
  void exclude_by_read_write_lock(std::uint32_t count, std::uint32_t phase);
  void meet_by_arrival(std::uint32_t count, std::uint32_t phase);
  void try_and_expire();
  void lull(std::uint32_t phase);
  struct Signals;
  std::uint32_t team_regions(base::Prng& rng, std::uint32_t phase);
  void team_region(std::uint32_t id, std::uint32_t phase);
  void evict_all(std::uint32_t thread, std::uint32_t phase);
  void reduce(base::Prng& rng);
  void meet_by_counter(std::uint32_t meeting, std::uint32_t phase);
  void meet_by_semaphore(std::uint32_t meeting, std::uint32_t phase);
  void exclude_by_semaphore(std::uint32_t meeting, std::uint32_t phase);
  void meet_by_condition(std::uint32_t meeting, std::uint32_t phase);
  void write_some(std::uint32_t thread, std::uint32_t phase, const Slots& slots);
  void read_some(std::uint32_t thread, std::uint32_t phase, const Slots& slots);
  void section(std::uint32_t thread, std::uint32_t phase, std::uint32_t lock);
  void access(std::uint32_t thread, std::uint32_t phase, const Slot& slot, bool store);
  void atomic(std::uint32_t thread, std::uint32_t phase, const Slot& slot);
  void racy_access(std::uint32_t thread, std::uint32_t phase);
  void sprinkle(std::uint32_t thread, std::uint32_t phase);
  void barrier(std::uint32_t phase);
  void epilogue(std::uint32_t phase);
  void push(std::uint32_t thread, std::uint32_t phase, Op op);
  void side_barrier(std::uint32_t thread, std::uint32_t phase, std::uint32_t id);
  bool first_of_node(std::uint32_t thread) const;
  bool last_of_node(std::uint32_t thread) const;
  std::uint64_t draw_value();
  void repeat_values(base::Prng& rng);
  const Slot* pick(const Slots& from);

  base::Prng* rng_ = nullptr;
  Program* out_ = nullptr;
  std::uint32_t phases_ = 0;
  std::uint32_t locks_ = 0;
  std::uint32_t budget_ = 0;  // accesses of a thread in a phase
  std::uint32_t accesses_ = 0;
  std::uint32_t first_used_ = 0;
  // The region that is freed, the one that reuses its blocks, and the phase.
  std::uint32_t freed_ = 0, reused_ = 0, change_phase_ = 0;
  bool changes_ = false;
  bool plants_ = false;  // races, in a program of one thread a node
  bool collective_ = false;
  bool by_home_ = false;  // only threads of home_ write the region that is drawn
  std::uint32_t home_ = 0;
  std::uint32_t side_barriers_ = 0;  // number of them in this phase
  std::vector<Life> lives_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> words_;  // region << 24 | byte, for each word in use
  Slots owned_[kMaxThreads];
  Slots locked_[kMaxLocks];
  Slots shared_;
  Slots contended_;             // accessed by atomic operations of all threads
  Slots relayed_[kMaxThreads];  // by thread that owns them until its side barrier
  Slots all_relayed_;
};

}  // namespace terrane::sim
