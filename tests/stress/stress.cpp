// Shakes real pages under several threads and nodes, and tells of every byte that is not what it
// must be.
//
// A table of bytes is rewritten in phases. In each phase a pattern known to all gives every byte of
// the active chunks to one thread of one node, so that neighbours in a word belong to different
// nodes; odd and even slots alternate, one written while the other is read. Between the phases:
// records under locks, whose bytes must all be equal; evictions at random. In each phase one thread
// allocates a region, which all write in the next phase, and another thread writes it again and
// frees it before anybody releases that.
//
// Usage: stress [--seconds S] [--threads T] [--seed N] [--pages P] [--no-evict] [--spare-mappings
// N]
#include <terrane/pages.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "few_mappings.h"
#include "pattern.h"

namespace {

using stress::kChunk;
using stress::mix;
using stress::Pattern;

struct Options {
  double seconds = 5;
  unsigned threads = 2;
  std::uint64_t seed = 1;
  std::uint64_t pages = 24;
  bool evict = true;
  std::uint64_t spare_mappings = 0;  // 0: as many as the machine allows
};

constexpr unsigned kRecords = 12;      // under one lock each
constexpr unsigned kRecordBytes = 40;  // spread over a page, neighbours of other records
constexpr std::uint32_t kBarrier = 7;
constexpr std::uint32_t kFirstLock = 100;

class Stress {
 public:
  explicit Stress(const Options& options)
      : options_(options),
        node_(static_cast<unsigned>(terrane_node())),
        nodes_(static_cast<unsigned>(terrane_nodes())),
        pattern_{options.seed, nodes_ * options.threads} {
    bytes_ = options.pages * 4096;
    const terrane_homes policies[] = {TERRANE_HOMES_FIRST_TOUCH, TERRANE_HOMES_BLOCK,
                                      TERRANE_HOMES_CYCLIC, TERRANE_HOMES_EXPLICIT};
    terrane_alloc_options how{policies[options.seed % 4], nodes_ - 1, "stress table"};
    how.protocol = options.seed / 4 % 2 ? TERRANE_PROTOCOL_ERC : TERRANE_PROTOCOL_HLRC;
    how.propagation = static_cast<terrane_propagation>(options.seed / 8 % 3);
    table_ = static_cast<std::uint8_t*>(terrane_alloc_all(bytes_, &how));
    terrane_alloc_options plain{};
    plain.protocol = how.protocol;
    plain.propagation = how.propagation;
    records_ = static_cast<std::uint8_t*>(terrane_alloc_all(4096 * 4, &plain));
    control_ = static_cast<Control*>(terrane_alloc_all(sizeof(Control), nullptr));
    if (table_ == nullptr || records_ == nullptr || control_ == nullptr) die("allocation");
  }

  int run() {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < options_.threads; ++t) threads.emplace_back([this, t] { work(t); });
    if (options_.evict) threads.emplace_back([this] { disturb(); });
    for (std::size_t t = 0; t < options_.threads; ++t) threads[t].join();
    done_ = true;
    if (options_.evict) threads.back().join();
    return report();
  }

 private:
  struct Control {
    std::uint64_t stop;
    std::uint64_t wrong[64];
    std::uint64_t increments[kRecords];
    std::uint8_t* visitor[2];  // the regions of an even and of an odd phase
  };

  [[noreturn]] static void die(const char* what) {
    std::fprintf(stderr, "stress: %s: %s\n", what, terrane_error());
    std::exit(1);
  }

  void work(unsigned thread) {
    unsigned me = node_ * options_.threads + thread;
    auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(options_.seconds);
    for (std::uint64_t phase = 1;; ++phase) {
      write_mine(phase, me);
      read_others(phase, me);
      write_visitor(phase - 1, me);
      for (unsigned i = 0; i < 3; ++i)
        raise_record(mix(pattern_.seed + me, phase * 3 + i) % kRecords);
      if (me == 0 && std::chrono::steady_clock::now() > end) control_->stop = phase;
      terrane_barrier_threads(kBarrier, options_.threads);
      take_away(phase - 1, me);
      bring(phase, me);
      bool stop = control_->stop != 0;
      terrane_barrier_threads(kBarrier + 1, options_.threads);
      if (thread == 0) phases_ = phase;
      if (stop) return;
    }
  }

  void write_mine(std::uint64_t phase, unsigned me) {
    for (std::uint64_t chunk = 0; chunk < bytes_ / kChunk; ++chunk) {
      if (!pattern_.active(phase, chunk)) continue;
      for (std::uint64_t b = chunk * kChunk; b < (chunk + 1) * kChunk; ++b) {
        if (Pattern::is_written_in(phase, b) && pattern_.owner(phase, b) == me) {
          volatile std::uint8_t* at = table_ + b;
          *at = pattern_.value(phase, b);
        }
      }
    }
  }

  // What was written in earlier phases: the last phase of this parity in which the chunk was
  // active.
  void read_others(std::uint64_t phase, unsigned me) {
    for (std::uint64_t chunk = 0; chunk < bytes_ / kChunk; ++chunk) {
      if (mix(phase + me, chunk) % 2 == 0) continue;
      std::uint64_t from = pattern_.last_written(phase, chunk);
      for (std::uint64_t b = chunk * kChunk; b < (chunk + 1) * kChunk; ++b) {
        if (Pattern::is_written_in(phase, b)) continue;
        volatile std::uint8_t* at = table_ + b;
        std::uint8_t expected = from == 0 ? 0 : pattern_.value(from, b);
        if (*at != expected) wrong(phase, b, *at, expected, from);
      }
    }
  }

  // A record: bytes all over a page, all equal; each holder raises them by one.
  void raise_record(std::uint64_t record) {
    auto lock = static_cast<std::uint32_t>(kFirstLock + record);
    if (terrane_lock(lock) != TERRANE_OK) die("lock");
    std::uint8_t first = *byte_of(record, 0);
    for (unsigned i = 0; i < kRecordBytes; ++i) {
      volatile std::uint8_t* at = byte_of(record, i);
      if (*at != first) wrong(0, static_cast<std::uint64_t>(at - records_), *at, first, record);
      *at = static_cast<std::uint8_t>(first + 1);
    }
    ++control_->increments[record];
    if (terrane_unlock(lock) != TERRANE_OK) die("unlock");
    raised_.fetch_add(1);
  }
  volatile std::uint8_t* byte_of(std::uint64_t record, unsigned i) {
    return records_ + (i % 4) * 4096 + (i / 4) * kRecords * 5 + record;
  }

  // The region that is allocated in a phase, and the threads that allocate and free it.
  std::uint64_t visitor_bytes(std::uint64_t phase) const {
    return (1 + mix(pattern_.seed + 5, phase) % 6) * 4096;
  }
  unsigned bringer(std::uint64_t phase) const {
    return static_cast<unsigned>(mix(pattern_.seed + 6, phase) % pattern_.writers);
  }
  unsigned taker(std::uint64_t phase) const {
    return static_cast<unsigned>(mix(pattern_.seed + 7, phase) % pattern_.writers);
  }

  void bring(std::uint64_t phase, unsigned me) {
    if (bringer(phase) != me) return;
    terrane_alloc_options how{};
    how.homes = static_cast<terrane_homes>(mix(pattern_.seed + 8, phase) % 4);
    how.home = static_cast<std::uint32_t>(phase % nodes_);
    how.protocol = static_cast<terrane_protocol>(mix(pattern_.seed + 9, phase) % 3);
    const std::uint64_t bytes = visitor_bytes(phase);
    auto* fresh = static_cast<std::uint8_t*>(terrane_alloc(bytes, &how));
    if (fresh == nullptr) die("allocation");
    for (std::uint64_t i = 0; i < bytes; i += 8)
      if (fresh[i] != 0) wrong(phase, i, fresh[i], 0, 0);
    control_->visitor[phase % 2] = fresh;
  }

  void write_visitor(std::uint64_t phase, unsigned me) {
    if (phase == 0) return;
    std::uint8_t* visitor = control_->visitor[phase % 2];
    for (std::uint64_t i = me; i < visitor_bytes(phase); i += pattern_.writers)
      visitor[i] = pattern_.value(phase, i);
  }

  void take_away(std::uint64_t phase, unsigned me) {
    if (phase == 0 || taker(phase) != me) return;
    std::uint8_t* visitor = control_->visitor[phase % 2];
    const std::uint64_t bytes = visitor_bytes(phase);
    for (std::uint64_t i = 0; i < bytes; ++i)
      if (visitor[i] != pattern_.value(phase, i))
        wrong(phase, i, visitor[i], pattern_.value(phase, i), phase);
    std::memset(visitor, 0x5a, bytes);
    if (terrane_free(visitor) != TERRANE_OK) die("free");
  }

  // Copies vanish under the threads' feet.
  void disturb() {
    std::uint64_t state = mix(pattern_.seed, node_ + 1000);
    while (!done_) {
      state = mix(state, 1);
      std::uint64_t page = state % options_.pages;
      std::uint64_t count = 1 + (state >> 20) % 4;
      if (page + count > options_.pages) count = 1;
      terrane_evict(table_ + page * 4096, count * 4096);
      if (state % 8 == 0) terrane_evict(const_cast<std::uint8_t*>(records_), 4096 * 4);
      std::this_thread::sleep_for(std::chrono::microseconds(50 + (state >> 40) % 400));
    }
  }

  void wrong(std::uint64_t phase, std::uint64_t byte, unsigned got, unsigned expected,
             std::uint64_t from) {
    if (wrong_.fetch_add(1) < 10) {
      std::fprintf(stderr, "stress: node %u phase %llu byte %llu: %u instead of %u (of %llu)\n",
                   node_, static_cast<unsigned long long>(phase),
                   static_cast<unsigned long long>(byte), got, expected,
                   static_cast<unsigned long long>(from));
    }
  }

  int report() {
    terrane_lock(1);
    control_->wrong[0] += wrong_;
    control_->wrong[1] += raised_;
    terrane_unlock(1);
    terrane_barrier();
    std::uint64_t total = 0;
    for (unsigned r = 0; r < kRecords; ++r) total += control_->increments[r];
    bool good = control_->wrong[0] == 0 && total == control_->wrong[1];
    terrane_counters counters{};
    terrane_read_counters(&counters);
    if (node_ == 0) {
      std::printf("stress: %llu phases, %llu records raised of %llu, %llu wrong bytes: %s\n",
                  static_cast<unsigned long long>(phases_), static_cast<unsigned long long>(total),
                  static_cast<unsigned long long>(control_->wrong[1]),
                  static_cast<unsigned long long>(control_->wrong[0]), good ? "good" : "BROKEN");
    }
    if (node_ == nodes_ - 1) {
      std::printf(
          "stress: node %u fetched %llu pages, flushed %llu, invalidated %llu, evicted %llu\n",
          node_, static_cast<unsigned long long>(counters.pages_fetched),
          static_cast<unsigned long long>(counters.pages_flushed),
          static_cast<unsigned long long>(counters.pages_invalidated),
          static_cast<unsigned long long>(counters.pages_evicted));
    }
    return good ? 0 : 1;
  }

  Options options_;
  unsigned node_;
  unsigned nodes_;
  Pattern pattern_;
  std::uint64_t bytes_ = 0;
  std::uint8_t* table_ = nullptr;
  std::uint8_t* records_ = nullptr;
  Control* control_ = nullptr;
  std::uint64_t phases_ = 0;
  std::atomic<std::uint64_t> wrong_{0};
  std::atomic<std::uint64_t> raised_{0};
  std::atomic<bool> done_{false};
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--no-evict") {
      options.evict = false;
      continue;
    }
    if (name == "--seconds")
      options.seconds = std::atof(value);
    else if (name == "--threads")
      options.threads = static_cast<unsigned>(std::atoi(value));
    else if (name == "--seed")
      options.seed = static_cast<std::uint64_t>(std::atoll(value));
    else if (name == "--spare-mappings")
      options.spare_mappings = static_cast<std::uint64_t>(std::atoll(value));
    else if (name == "--pages")
      options.pages = static_cast<std::uint64_t>(std::atoll(value));
    else {
      std::fprintf(stderr, "stress: unknown option %s\n", name.c_str());
      std::exit(2);
    }
    ++i;
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  Options options = parse(argc, argv);
  if (options.spare_mappings != 0) stress::take_mappings(options.spare_mappings);
  if (terrane_init() != TERRANE_OK) return std::fprintf(stderr, "%s\n", terrane_error()), 1;
  int code = 0;
  {
    Stress stress(options);
    code = stress.run();
  }
  terrane_finalize();
  return code;
}
