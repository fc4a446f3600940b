#include "sim/checker.h"

#include <cstring>
#include <utility>

#include "sim/names.h"
#include "sim/violation.h"

namespace terrane::sim {

void Checker::begin(const Program& program) {
  program_ = &program;
  racy_ = program.setup.racy;
  offsets_.clear();
  std::size_t bytes = 0;
  for (const RegionPlan& region : program.regions) {
    offsets_.push_back(bytes);
    bytes += std::size_t{region.blocks} * program.setup.block_bytes;
  }
  first_byte_ = static_cast<std::uint8_t>(program.setup.first_byte);
  memory_.assign(bytes, first_byte_);
  for (std::size_t r = 0; r < program.regions.size(); ++r)
    if (program.regions[r].sc())
      std::memset(&memory_[offsets_[r]], 0,
                  std::size_t{program.regions[r].blocks} * program.setup.block_bytes);
  stores_.clear();
  snapshots_.clear();
  if (racy_) {
    newest_.assign(bytes, kNone);
    final_.assign(bytes / kWordBytes, 0);
    final_known_.assign(bytes / kWordBytes, false);
    blocks_.assign(program.setup.space_blocks + program.setup.sc_blocks, kNowhere);
    reused_.assign(blocks_.size(), false);
    refreshed_.assign(bytes, 0);
    raced_.assign(bytes, false);
    newest_load_.assign(bytes, kNone);
    accessed_.assign(bytes, false);
  }
  clocks_.begin(program.threads());
}

void Checker::store(std::uint32_t thread, const Op& op) {
  std::size_t at = place(op);
  std::memcpy(&memory_[at], &op.value, op.size);
  if (racy_) keep(thread, op, newest_);
}

void Checker::load(std::uint32_t thread, const Op& op) {
  if (racy_ && program_->setup.check_accesses) keep(thread, op, newest_load_);
}

void Checker::keep(std::uint32_t thread, const Op& op, std::vector<std::uint32_t>& newest) {
  std::size_t at = place(op);
  std::uint16_t number = clocks_.tick(thread);
  auto clock = static_cast<std::uint32_t>(snapshots_.size());
  snapshots_.push_back(clocks_.of(thread));
  for (std::uint32_t i = 0; i < op.size; ++i) {
    auto value = static_cast<std::uint8_t>(op.value >> (8 * i));
    stores_.push_back({static_cast<std::uint8_t>(thread), value, number, clock, newest[at + i]});
    newest[at + i] = static_cast<std::uint32_t>(stores_.size() - 1);
  }
}

void Checker::allocated(std::uint32_t region, std::uint64_t first) {
  if (!racy_) return;
  for (std::uint32_t b = 0; b < program_->regions[region].blocks; ++b) {
    std::size_t begin = offsets_[region] + std::size_t{b} * program_->setup.block_bytes;
    std::size_t before = std::exchange(blocks_[first + b], begin);
    if (before != kNowhere && before != begin) reused_[first + b] = true;
  }
}

void Checker::refreshed(std::uint32_t node, std::uint64_t block, std::uint32_t byte) {
  if (racy_ && blocks_[block] != kNowhere) refreshed_[blocks_[block] + byte] |= 1u << node;
}

void Checker::race_found(const protocol::Race& race) {
  std::size_t first = racy_ ? blocks_[race.block] : kNowhere;
  for (std::uint32_t i = race.bytes.first; i < race.bytes.end(); ++i) {
    bool is = first != kNowhere && is_race(first + i, race.earlier.node, race.later.node);
    if (!is)
      violated(Fault::kInventedRace, "byte {} of block {}, which nodes {} and {} wrote in order", i,
               race.block, race.earlier.node.value, race.later.node.value);
    raced_[first + i] = true;
  }
}

bool Checker::is_race(std::size_t byte, NodeId one, NodeId other) const {
  for (std::uint32_t s = newest_[byte]; s != kNone; s = stores_[s].older) {
    if (node_of(stores_[s]) != one.value) continue;
    for (std::uint32_t t = newest_[byte]; t != kNone; t = stores_[t].older) {
      bool apart = !before(stores_[s], stores_[t]) && !before(stores_[t], stores_[s]);
      if (node_of(stores_[t]) == other.value && apart) return true;
    }
  }
  return false;
}

void Checker::access_race_found(const protocol::AccessRace& race) {
  std::uint32_t unit = program_->setup.block_bytes;
  std::uint64_t block = race.first / unit;
  if (racy_ && reused_[block]) return;  // whether it was a race of the former region is not known
  std::size_t first = racy_ ? blocks_[block] : kNowhere;
  for (std::uint64_t i = 0; i < race.bytes; ++i) {
    std::size_t byte = first + race.first % unit + i;
    if (first == kNowhere || !is_race(byte, race))
      violated(Fault::kInventedRace, "byte {} of block {}, which nodes {} and {} accessed in order",
               race.first % unit + i, block, race.one.node.value, race.other.node.value);
    accessed_[byte] = true;
  }
}

bool Checker::is_race(std::size_t byte, const protocol::AccessRace& race) const {
  auto newest_of = [&](const protocol::AccessOfNode& access) {
    return access.is_write ? newest_[byte] : newest_load_[byte];
  };
  for (std::uint32_t s = newest_of(race.one); s != kNone; s = stores_[s].older) {
    if (node_of(stores_[s]) != race.one.node.value) continue;
    for (std::uint32_t t = newest_of(race.other); t != kNone; t = stores_[t].older) {
      bool apart = !before(stores_[s], stores_[t]) && !before(stores_[t], stores_[s]);
      if (node_of(stores_[t]) == race.other.node.value && apart) return true;
    }
  }
  return false;
}

void Checker::check_planted() const {
  if (!racy_ || !program_->setup.check_races) return;
  for (std::size_t r = 0; r < program_->regions.size(); ++r) {
    if (!program_->regions[r].planted) continue;
    for (std::size_t i = 0; i < program_->setup.block_bytes; ++i) {
      std::size_t byte = offsets_[r] + i;
      std::uint32_t newest = newest_[byte];
      bool two = newest != kNone && stores_[newest].older != kNone;
      bool both = newest != kNone && (two || newest_load_[byte] != kNone);
      if (program_->setup.check_accesses && both && !accessed_[byte])
        violated(Fault::kMissedRace, "byte {} of {}, which threads have accessed", i,
                 name_of(*program_, r));
      if (two && !raced_[byte])
        violated(Fault::kMissedRace, "byte {} of {}, which threads {} and {} have written", i,
                 name_of(*program_, r), stores_[newest].thread,
                 stores_[stores_[newest].older].thread);
    }
  }
}

std::uint64_t Checker::expected(const Op& op) const {
  std::uint64_t value = 0;
  std::memcpy(&value, &memory_[place(op)], op.size);
  return value;
}

bool Checker::may_load(std::uint32_t thread, const Op& op, std::uint64_t value) const {
  if (value == expected(op)) return true;  // the latest store of all is never overwritten
  if (!racy_ || program_->regions[op.region].sc()) return false;
  for (std::uint32_t i = 0; i < op.size; ++i)
    if (!may_load_byte(thread, place(op) + i, static_cast<std::uint8_t>(value >> (8 * i))))
      return false;
  return true;
}

bool Checker::may_load_byte(std::uint32_t thread, std::size_t byte, std::uint8_t value) const {
  const Clock& seen = clocks_.of(thread);
  for (std::uint32_t s = newest_[byte]; s != kNone; s = stores_[s].older)
    if (stores_[s].value == value && !overwritten(&stores_[s], byte, seen)) return true;
  return value == first_byte_ && !overwritten(nullptr, byte, seen);
}

// Whether another store to the byte happened after `store` (nullptr: the bytes at the beginning)
// and is contained in `seen`.
bool Checker::overwritten(const Store* store, std::size_t byte, const Clock& seen) const {
  for (std::uint32_t s = newest_[byte]; s != kNone; s = stores_[s].older) {
    const Store& other = stores_[s];
    if (&other == store) return false;  // an older store cannot have happened after it
    if (!happened(other, seen) || may_be_missed(other, byte, seen)) continue;
    if (store == nullptr || before(*store, other)) return true;
  }
  return false;
}

// If two racing stores put the same value, the second store may find this value in memory already.
// Its flush then finds no difference and gives no notice. So no notice reports the second store, or
// stores of threads of its node that it overwrote, also where these were before an unlock and it
// was behind: the release of a lock that stays is deferred. Only the release of the first store
// reports the value. A refresh may put the value of a racing store into a copy, over a store that
// is not released yet, with the same effect. Which bytes refreshes have changed is known from the
// history, not from the predictor: any predictor may refresh any copy.
bool Checker::may_be_missed(const Store& store, std::size_t byte, const Clock& seen) const {
  if (raced(store, byte)) return true;
  for (std::uint32_t s = newest_[byte]; s != kNone && &stores_[s] != &store; s = stores_[s].older) {
    const Store& later = stores_[s];
    bool overwrote =
        node_of(store) == node_of(later) || (happened(later, seen) && before(store, later));
    if (overwrote && raced(later, byte)) return true;
  }
  return false;
}

bool Checker::raced(const Store& store, std::size_t byte) const {
  bool lost = refreshed_[byte] >> node_of(store) & 1;
  for (std::uint32_t s = newest_[byte]; s != kNone; s = stores_[s].older) {
    const Store& other = stores_[s];
    bool hides = other.value == store.value || lost;
    if (&other != &store && hides && !before(other, store) && !before(store, other)) return true;
  }
  return false;
}

std::uint32_t Checker::node_of(const Store& store) const {
  return program_->thread_node[store.thread];
}

bool Checker::happened(const Store& store, const Clock& seen) const {
  return seen[store.thread] >= store.number;
}

bool Checker::before(const Store& one, const Store& other) const {
  return snapshots_[other.clock][one.thread] >= one.number;
}

bool Checker::agrees(const Op& op, std::uint64_t value) {
  if (!racy_) return true;
  std::size_t word = place(op) / kWordBytes;
  if (!final_known_[word]) {
    final_known_[word] = true;
    final_[word] = value;
  }
  return final_[word] == value;
}

}  // namespace terrane::sim
