#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bootstrap/node_snapshot.h"

namespace terrane::runtime {

// What happened to the pages that cost most of late, while somebody watches the node. Keeps a
// bounded number of pages: a page that finds no room takes the place of one that was cooler. note()
// is for any thread, also in the fault path: it takes no memory and no lock, and counts that meet
// in one place at once may be a few too low. hottest() is for one thread at a time.
class HotPages {
 public:
  enum class What : std::uint8_t { kFetched, kRefreshed, kFlushed };
  using Counts = bootstrap::PageCounts;
  struct Page {
    std::uint64_t block = 0;
    std::uint64_t offset = 0;  // of a byte in the page that a thread wanted
    Counts recent;             // since the call of hottest() before
    Counts total;              // since the page got its place
  };

  HotPages();
  HotPages(const HotPages&) = delete;

  void note(std::uint64_t block, What what, std::uint64_t bytes = 0);
  // A thread was in a fault for so long; offset: of the byte, within the page.
  void note_fault(std::uint64_t block, std::uint64_t offset, std::uint64_t ns);
  // At most `most` pages, those that cost most of late first. What was before counts half as much
  // after each call.
  std::vector<Page> hottest(std::size_t most);

 private:
  static constexpr std::size_t kWays = 4, kSets = 1024;

  using Count = std::atomic<std::uint64_t>;
  // One cache line.
  struct alignas(64) Place {
    Count block{0};                      // + 1; 0: free
    std::atomic<std::uint32_t> heat{0};  // microseconds, about
    std::atomic<std::uint32_t> offset{0}, faults{0}, fetched{0}, refreshed{0}, flushed{0};
    Count flushed_bytes{0}, waited_ns{0};
  };

  Place& place_of(std::uint64_t block);
  static Counts counts_of(const Place& place);

  // What hottest() saw in a place before.
  struct Seen {
    std::uint64_t block = 0;  // + 1
    Counts counts;
  };

  std::unique_ptr<Place[]> places_;
  std::vector<Seen> seen_;  // by place
};

}  // namespace terrane::runtime
