#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <span>

#include "wire/notice_set.h"

namespace terrane::protocol {

// A set of blocks as a tree of bitmaps with 64 children a word, over memory that somebody else owns
// (zeroed at first; peers may share it). Insert and erase are atomic and may race with each other
// and with iteration: a block that was inserted before the iteration began is met. Summaries, once
// set, stay: a word used once is looked at ever after.
class BlockSet {
 public:
  using Word = std::atomic<std::uint64_t>;
  static constexpr int kLevels = 7;  // 64^7 blocks

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

  // True when the block was in the set already.
  bool insert(std::uint64_t block) {
    bool was = true;
    for (int l = 0; l < levels_; ++l, block /= 64) {
      std::uint64_t bit = 1ull << (block % 64);
      Word& word = level_[l][block / 64];
      // Every level is looked at even where the bit below was there: who set that one may not have
      // come up here yet.
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

  // The first run of members at or after `from`, cut at `end`; its count is 0 when there is none.
  wire::BlockRange next_run(std::uint64_t from, std::uint64_t end) const {
    return next_run(from, end, [this](int l, std::uint64_t word) { return load(l, word); });
  }
  // The same of what is in this set or in `other`, of as many blocks. A block that goes from this
  // set to the other during the iteration, and is in both meanwhile, is met.
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

  // words: (level, index) -> the members there.
  template <typename Words>
  wire::BlockRange next_run(std::uint64_t from, std::uint64_t end, const Words& words) const {
    if (end > blocks_) end = blocks_;
    std::uint64_t first = next(from, end, words);
    if (first >= end) return {end, 0};
    std::uint64_t last = first;
    while (last < end) {
      std::uint64_t left = 64 - last % 64;  // in this word
      auto more = static_cast<std::uint64_t>(std::countr_one(words(0, last / 64) >> (last % 64)));
      last += std::min(more, left);
      if (more < left) break;
    }
    // What was there at first may have gone meanwhile.
    return {first, std::min(std::max(last, first + 1), end) - first};
  }

  // The first member at or after `from`, or `end`: up the tree over empty words, down where a
  // summary shows something.
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
