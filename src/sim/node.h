#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "protocol/core/core.h"
#include "protocol/hlrc/hlrc.h"
#include "protocol/predict/make_predictor.h"
#include "protocol/races/access_check.h"
#include "protocol/races/race_check.h"
#include "protocol/sc/pages.h"
#include "sim/program.h"

namespace terrane::sim {

using Word64 = std::uint64_t;

// A simulated node: the memory of its blocks, their twins, the entries of its application view, the
// words that peers reach, and its protocols.
class Node {
 public:
  static constexpr std::uint32_t kMaxBlocks = 320;
  static constexpr std::uint32_t kMaxBlockBytes = 128;

  // An entry of the application view. If it is present and `guarded` (protected), the next write is
  // noticed. If it is present and not guarded, a scan reports it as written. If it is `sealed`,
  // too, the next write faults, also with detection by scan.
  struct View {
    bool present = false;
    bool guarded = false;
    bool sealed = false;
  };

  Node();
  // Forgets the last history and begins a new one.
  void begin(std::uint32_t self, const Setup& setup);
  // Destroys the protocol's objects. Every operation must have been destroyed before.
  void end();

  std::byte* frame(std::uint64_t block) { return &frames_[block * kMaxBlockBytes]; }
  protocol::PushBox& pushes() { return pushes_; }
  // The staging buffer of a refresh: the bytes of one block, by its place in the run.
  std::byte* staged(std::uint64_t slot) { return &staged_[slot * kMaxBlockBytes]; }
  std::byte* twin(std::uint64_t block) { return &twins_[block * kMaxBlockBytes]; }
  protocol::Core& core() { return *core_; }
  const protocol::Core& core() const { return *core_; }
  protocol::Hlrc& hlrc() { return *hlrc_; }
  const protocol::Hlrc& hlrc() const { return *hlrc_; }
  protocol::sc::Pages& sc() { return *sc_; }
  // Looks for races at the homes of this node, if the program's homes do so.
  // What its threads access, if that is looked at: nullptr otherwise.
  protocol::AccessLog* accesses() { return accesses_.get(); }
  // Of the interval that is not closed yet.
  std::vector<protocol::AccessedBytes>& accessed() { return accessed_; }
  protocol::RaceCheck* races() { return races_ ? &*races_ : nullptr; }
  // What it has found since the last call.
  std::vector<protocol::Race> take_races() { return std::exchange(found_.races, {}); }
  bool has_twin(std::uint64_t block) const { return twinned_[block]; }

  // Marks a block's memory as used, so that the next history clears it.
  void back(std::uint64_t block) {
    if (!backed[block]) ++kept_;
    backed[block] = true;
    if (block >= used_) used_ = block + 1;
  }
  void back_twin(std::uint64_t block) {
    if (!twinned_[block]) ++kept_;
    twinned_[block] = true;
  }
  // The limit is so many blocks from now on.
  void limit_to(std::uint64_t blocks);
  void punch(std::uint64_t block);
  void drop_twin(std::uint64_t block);

  bool enters_protected = true;  // whether a block can enter the view protected
  View views[kMaxBlocks];
  bool backed[kMaxBlocks] = {};
  std::uint32_t words[kMaxBlocks] = {};   // home words
  std::uint32_t owners[kMaxBlocks] = {};  // the directory: owner + 1
  Word64 wanted[kMaxBlocks / 64] = {};
  std::uint32_t flushing = 0;                                       // threads that store at homes
  protocol::CentralBarrier::Word barrier_words[kMaxBarriers] = {};  // only node 0's are used
  protocol::CentralBarrier::Told told[kMaxBarriers][2] = {};
  std::uint32_t announced = 0;  // counted announcements
  std::uint32_t giving = 0;     // blocks being copied for nodes that take their homes by message

 private:
  void clear_memory(const Setup& setup);
  void begin_check(NodeId self, const Setup& setup);

  static constexpr std::size_t kSetWords = 16;
  static constexpr std::size_t kMostSentPushes = 6;  // few, so that some are forgotten

  std::unique_ptr<std::byte[]> frames_;
  std::unique_ptr<std::byte[]> twins_;
  protocol::PushBox pushes_;
  std::byte staged_[protocol::Hlrc::kMaxRun * kMaxBlockBytes] = {};
  std::unique_ptr<protocol::BlockEntry[]> entries_;
  std::unique_ptr<protocol::BlockHistory[]> history_;
  protocol::BlockSet::Word sets_[protocol::BlockMemory::kSets][kSetWords] = {};
  bool reached_[kMaxNodes] = {};
  std::uint32_t hosts_[kMaxNodes] = {};
  std::uint32_t clusters_[kMaxNodes] = {};
  std::optional<protocol::Core> core_;
  std::unique_ptr<protocol::Predictor> predictor_;
  std::optional<protocol::Hlrc> hlrc_;
  std::optional<protocol::sc::Pages> sc_;
  struct Found final : protocol::RaceSink {
    void found(const protocol::Race& race) override { races.push_back(race); }
    std::vector<protocol::Race> races;
  } found_;
  std::optional<protocol::RaceCheck> races_;
  static constexpr std::uint64_t kMostAccesses = 1 << 20;
  std::unique_ptr<protocol::AccessLog> accesses_;
  std::vector<protocol::AccessedBytes> accessed_;
  std::uint64_t used_ = 0;
  int first_byte_ = 0;  // of blocks whose region has no sequential consistency
  std::uint64_t sc_first_ = 0;
  bool twinned_[kMaxBlocks] = {};
  std::atomic<std::uint64_t> kept_{0};  // frames and twins in memory
  std::uint32_t block_bytes_ = kMaxBlockBytes;
};

}  // namespace terrane::sim
