#pragma once

#include <atomic>
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
  bool contains(std::uint64_t block) const {
    return level_[0][block / 64].load(std::memory_order_seq_cst) >> (block % 64) & 1;
  }

  // The first run of members at or after `from`, cut at `end`; its count is 0 when there is none.
  wire::BlockRange next_run(std::uint64_t from, std::uint64_t end) const {
    if (end > blocks_) end = blocks_;
    std::uint64_t first = next(from, end);
    if (first >= end) return {end, 0};
    std::uint64_t last = first + 1;
    while (last < end && contains(last)) {
      // Whole words of members at a time.
      if (last % 64 == 0 && end - last >= 64 &&
          level_[0][last / 64].load(std::memory_order_seq_cst) == ~0ull) {
        last += 64;
      } else {
        ++last;
      }
    }
    return {first, last - first};
  }

  std::uint64_t blocks() const { return blocks_; }

 private:
  // The first member at or after `from`, or `end`: up the tree over empty words, down where a
  // summary shows something.
  std::uint64_t next(std::uint64_t from, std::uint64_t end) const {
    std::uint64_t at = from;  // in units of level l
    int l = 0;
    while (l < levels_ && at << (6 * l) < end) {
      std::uint64_t word = level_[l][at / 64].load(std::memory_order_seq_cst) >> (at % 64);
      if (word == 0) {
        at = at / 64 + 1;
        ++l;
      } else {
        at += static_cast<std::uint64_t>(__builtin_ctzll(word));
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
