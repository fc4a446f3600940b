#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <span>

#include "wire/notice_set.h"

namespace terrane::protocol {

// A set of blocks: a tree of bitmaps with 64 children a word. It does not own its memory, which
// must be zeroed at first and may be shared with peers. insert() and erase() are atomic and may
// race with each other and with an iteration. An iteration finds each block that was inserted
// before it began and not erased. A summary bit, once set, stays set: iterations look into its word
// from then on.
class BlockSet {
 public:
  using Word = std::atomic<std::uint64_t>;
  static constexpr int kLevels = 7;  // up to 64^7 blocks

  static constexpr std::size_t words_needed(std::uint64_t blocks) {
    std::size_t total = 0;
    do {
      blocks = (blocks + 63) / 64;
      total += blocks;
    } while (blocks > 1);
    return total;
  }

  BlockSet() = default;
  BlockSet(Word* words, std::uint64_t blocks) : blocks_(blocks) {
    do {
      blocks = (blocks + 63) / 64;
      level_[levels_++] = words;
      words += blocks;
    } while (blocks > 1 && levels_ < kLevels);
  }

  // True if the block was in the set already.
  bool insert(std::uint64_t block) {
    bool was = true;
    for (int l = 0; l < levels_; ++l, block /= 64) {
      std::uint64_t bit = 1ull << (block % 64);
      Word& word = level_[l][block / 64];
      // Look at each level even if the bit below was set already: the thread that set it may not
      // have reached this level yet.
      if (!(word.load(std::memory_order_seq_cst) & bit) &&
          !(word.fetch_or(bit, std::memory_order_seq_cst) & bit) && l == 0) {
        was = false;
      }
    }
    return was;
  }
  void erase(std::uint64_t block) {
    std::uint64_t bit = 1ull << (block % 64);
    Word& word = level_[0][block / 64];
    if (word.load(std::memory_order_relaxed) & bit) word.fetch_and(~bit, std::memory_order_seq_cst);
  }
  bool contains(std::uint64_t block) const { return load(0, block / 64) >> (block % 64) & 1; }

  // The first run of members at or after `from`, cut at `end`; its count is 0 if there is none.
  wire::BlockRange next_run(std::uint64_t from, std::uint64_t end) const {
    return next_run(from, end, [this](int l, std::uint64_t word) { return load(l, word); });
  }
  // The same for the union of this set and `other`, which has the same number of blocks. It also
  // finds a block that moves from this set to the other meanwhile, if it is inserted there before
  // it is erased here.
  wire::BlockRange next_run_with(const BlockSet& other, std::uint64_t from,
                                 std::uint64_t end) const {
    return next_run(from, end, [this, &other](int l, std::uint64_t word) {
      std::uint64_t mine = load(l, word);
      return mine | other.load(l, word);
    });
  }

  std::uint64_t blocks() const { return blocks_; }

 private:
  std::uint64_t load(int l, std::uint64_t word) const {
    return level_[l][word].load(std::memory_order_seq_cst);
  }

  // words: a function (level, index) -> the bits of that word.
  template <typename Words>
  wire::BlockRange next_run(std::uint64_t from, std::uint64_t end, const Words& words) const {
    if (end > blocks_) end = blocks_;
    std::uint64_t first = next(from, end, words);
    if (first >= end) return {end, 0};
    std::uint64_t last = first;
    while (last < end) {
      std::uint64_t left = 64 - last % 64;  // bits that are left in this word
      auto more = static_cast<std::uint64_t>(std::countr_one(words(0, last / 64) >> (last % 64)));
      last += std::min(more, left);
      if (more < left) break;
    }
    // The first member may have been erased meanwhile: the run has it all the same.
    return {first, std::min(std::max(last, first + 1), end) - first};
  }

  // The first member at or after `from`, or `end`. It goes up the tree over empty words, and down
  // where a summary bit is set.
  template <typename Words>
  std::uint64_t next(std::uint64_t from, std::uint64_t end, const Words& words) const {
    std::uint64_t at = from;  // in units of level l
    int l = 0;
    while (l < levels_ && at << (6 * l) < end) {
      std::uint64_t word = words(l, at / 64) >> (at % 64);
      if (word == 0) {
        at = at / 64 + 1;
        ++l;
      } else {
        at += static_cast<std::uint64_t>(std::countr_zero(word));
        if (l == 0) return at < end ? at : end;
        at *= 64;
        --l;
      }
    }
    return end;
  }

  Word* level_[kLevels] = {};
  int levels_ = 0;
  std::uint64_t blocks_ = 0;
};

}  // namespace terrane::protocol
