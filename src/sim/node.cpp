#include "sim/node.h"

#include <cstring>

#include "base/check.h"
#include "sim/random_predictor.h"

namespace terrane::sim {
namespace {

protocol::Tunables tunables_of(const Setup& setup) {
  protocol::Tunables t;
  t.look_from = setup.look_from;
  t.most_notices = setup.most_notices;
  t.max_run = setup.max_run;
  t.runs_pipelined = setup.runs_pipelined;
  t.pipeline_after = 1;
  t.refresh_after = static_cast<std::uint8_t>(setup.refresh_after);
  t.few_misses = setup.refresh_after == 255 ? 0u : 4u;
  t.most_refreshes = static_cast<std::uint8_t>(setup.most_refreshes);
  t.unused_pushes = setup.unused_pushes;
  t.reads_ask = setup.reads_ask;
  t.most_reclaimed = 1;
  t.most_unmet = setup.most_unmet;
  return t;
}

}  // namespace

Node::Node()
    : frames_(new std::byte[kMaxBlocks * kMaxBlockBytes]()),
      twins_(new std::byte[kMaxBlocks * kMaxBlockBytes]()),
      entries_(new protocol::BlockEntry[kMaxBlocks]),
      history_(new protocol::BlockHistory[kMaxBlocks]) {
  static_assert(protocol::BlockSet::words_needed(kMaxBlocks) <= kSetWords);
}

static protocol::sc::PagesConfig pages_config(std::uint32_t self, const Setup& setup) {
  return {.self = NodeId{self},
          .blocks = setup.space_blocks + setup.sc_blocks,
          .protects = setup.scan || setup.enters_protected,
          .seals = setup.scan,
          .sequential = setup.sequential};
}

void Node::begin(std::uint32_t self, const Setup& setup) {
  std::uint32_t blocks = setup.space_blocks + setup.sc_blocks;
  TERRANE_CHECK(blocks <= kMaxBlocks && setup.block_bytes <= kMaxBlockBytes,
                "a simulated space is small");
  end();
  clear_memory(setup);
  std::memset(static_cast<void*>(views), 0, sizeof views);
  std::memset(words, 0, sizeof words);
  std::memset(owners, 0, sizeof owners);
  std::memset(wanted, 0, sizeof wanted);
  flushing = announced = giving = 0;
  for (auto& word : barrier_words) word = 0;
  std::memset(static_cast<void*>(told), 0, sizeof told);
  std::memset(static_cast<void*>(entries_.get()), 0, kMaxBlocks * sizeof entries_[0]);
  std::memset(static_cast<void*>(sets_), 0, sizeof sets_);

  enters_protected = setup.enters_protected;
  pushes_.clear();
  for (std::uint32_t n = 0; n < setup.nodes; ++n) {
    hosts_[n] = n % setup.hosts;
    clusters_[n] = hosts_[n] % setup.clusters;
    reached_[n] = hosts_[n] == self % setup.hosts;
  }
  core_.emplace(protocol::CoreConfig{.self = NodeId{self},
                                     .nodes = setup.nodes,
                                     .blocks = blocks,
                                     .block_bytes = setup.block_bytes,
                                     .sc_first = setup.space_blocks,
                                     .sc_named_readers = setup.sc_named_readers,
                                     .reached = reached_,
                                     .hosts = hosts_,
                                     .clusters = clusters_,
                                     .barrier_arity = setup.barrier_arity,
                                     .max_log_ranges = setup.max_log_ranges,
                                     .counts_announcements = setup.in_memory_barriers});
  std::memset(static_cast<void*>(history_.get()), 0, kMaxBlocks * sizeof history_[0]);
  protocol::BlockMemory memory{.entries = entries_.get(), .used = &kept_, .reached = reached_};
  for (int i = 0; i < protocol::BlockMemory::kSets; ++i) memory.sets[i] = sets_[i];
  protocol::Tunables tunables = protocol::tuned(tunables_of(setup), setup.prediction.on);
  if (setup.predicts_at_random) {
    predictor_ = std::make_unique<RandomPredictor>(setup.prediction_seed, self);
  } else {
    predictor_ = protocol::make_predictor(setup.prediction, history_.get(), blocks, tunables);
  }
  hlrc_.emplace(protocol::HlrcConfig{.self = NodeId{self},
                                     .nodes = setup.nodes,
                                     .blocks = blocks,
                                     .sc_first = setup.space_blocks,
                                     .block_bytes = setup.block_bytes,
                                     .detection = setup.scan ? protocol::WriteDetection::kScan
                                                             : protocol::WriteDetection::kFault,
                                     .enters_protected = setup.enters_protected,
                                     .limit = setup.limit,
                                     .reserve = setup.limit / 4,
                                     .most_homes = setup.most_homes(),
                                     .sequential = setup.sequential,
                                     .migrate = setup.migrate,
                                     .check_races = setup.check_races,
                                     .check_accesses = setup.check_accesses,
                                     .in_memory_barriers = setup.in_memory_barriers,
                                     .push_arity = setup.barrier_arity,
                                     .most_sent = kMostSentPushes,
                                     .sent_whole = 1,  // so that wrong guesses are frequent
                                     .tunables = tunables},
                memory, *core_, *predictor_);
  sc_.emplace(pages_config(self, setup), memory, *hlrc_, hlrc_->ordering());
  hlrc_->share_memory_with(*sc_);
  begin_check(NodeId{self}, setup);
}

// A page without memory has the bytes of the file that is mapped there.
void Node::clear_memory(const Setup& setup) {
  for (std::uint64_t block = 0; block < used_; ++block)
    if (backed[block] || twinned_[block]) punch(block);
  used_ = 0;
  int byte = static_cast<int>(setup.first_byte);
  if (byte == first_byte_ && setup.space_blocks == sc_first_) return;
  std::memset(frame(0), 0, kMaxBlocks * std::size_t{kMaxBlockBytes});
  std::memset(frame(0), byte, setup.space_blocks * std::size_t{kMaxBlockBytes});
  first_byte_ = byte;
  sc_first_ = setup.space_blocks;
}

void Node::begin_check(NodeId self, const Setup& setup) {
  block_bytes_ = setup.block_bytes;
  found_.races.clear();
  races_.reset();
  accessed_.clear();
  accesses_ = setup.check_accesses ? std::make_unique<protocol::AccessLog>(kMostAccesses) : nullptr;
  if (setup.check_races) races_.emplace(self, setup.nodes, setup.block_bytes, found_);
}

void Node::end() {
  sc_.reset();
  hlrc_.reset();
  predictor_.reset();
  core_.reset();
}

void Node::limit_to(std::uint64_t blocks) {
  Setup less{.limit = blocks};
  hlrc_->bound(blocks, blocks / 4, less.most_homes());
}

void Node::punch(std::uint64_t block) {
  std::memset(frame(block), block < sc_first_ ? first_byte_ : 0, block_bytes_);
  if (backed[block]) --kept_;
  backed[block] = false;
  views[block] = {};
  if (races_) races_->forget({block, 1});
  drop_twin(block);
}

void Node::drop_twin(std::uint64_t block) {
  std::memset(twin(block), 0, block_bytes_);
  if (twinned_[block]) --kept_;
  twinned_[block] = false;
}

}  // namespace terrane::sim
