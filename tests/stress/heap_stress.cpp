// The heap of a program as memory under stress: a program for threads that knows nothing of
// Terrane. It tells of every byte that is not what it must be.
//
// In each phase the threads
// - write bytes of a table side by side, as the program `stress` does, and read the others;
// - write, move (realloc) or replace (free, malloc, calloc) blocks of 1 byte to 2 MB, of which
//   small ones share pages with blocks of other threads, and read the blocks that nobody writes;
// - allocate blocks and put them into lists under mutexes, from which other threads take, check
//   and free them.
//
// Usage: heap_stress [--seconds S] [--threads T] [--seed N] [--pages P] [--blocks B]
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "pattern.h"

namespace {

using stress::kChunk;
using stress::mix;
using stress::Pattern;

struct Options {
  double seconds = 5;
  unsigned threads = 4;
  std::uint64_t seed = 1;
  std::uint64_t pages = 24;
  std::uint64_t blocks = 400;
};

constexpr unsigned kLists = 5;

// A block of the heap that one thread writes in some phases, and all read in the others.
struct Block {
  std::uint8_t* at = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t phase = 0;  // that wrote it
};

// On its way from the thread that allocated it to one that frees it.
struct Parcel {
  Parcel* next;
  std::uint64_t number;
  std::uint64_t bytes;  // behind this
};

struct List {
  std::mutex mutex;
  Parcel* first = nullptr;
  std::uint64_t put = 0, taken = 0;
};

// What a thread counts.
struct Count {
  std::uint64_t wrong = 0, allocated = 0, freed = 0, parcels = 0;
};

class HeapStress {
 public:
  explicit HeapStress(const Options& options)
      : options_(options),
        pattern_{options.seed, options.threads},
        table_bytes_(options.pages * 4096),
        blocks_(options.blocks),
        lists_(kLists),
        counts_(options.threads) {
    table_ = static_cast<std::uint8_t*>(std::calloc(1, table_bytes_));
    if (table_ == nullptr) fail("calloc of the table");
    pthread_barrier_init(&barrier_, nullptr, options.threads);
  }

  int run() {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < options_.threads; ++t) threads.emplace_back([this, t] { work(t); });
    for (std::thread& thread : threads) thread.join();
    return report();
  }

 private:
  [[noreturn]] static void fail(const char* what) {
    std::fprintf(stderr, "heap_stress: %s failed\n", what);
    std::exit(1);
  }

  void work(unsigned me) {
    auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(options_.seconds);
    for (std::uint64_t phase = 1;; ++phase) {
      write_table(phase, me);
      read_table(phase, me);
      for (std::uint64_t b = 0; b < blocks_.size(); ++b) visit(b, phase, me);
      for (unsigned i = 0; i < 4; ++i) exchange_parcels(phase * 4 + i, me);
      if (me == 0) {
        phases_ = phase;
        stops_[phase % 2] = std::chrono::steady_clock::now() > end;
      }
      pthread_barrier_wait(&barrier_);
      if (stops_[phase % 2]) return;
    }
  }

  void write_table(std::uint64_t phase, unsigned me) {
    for (std::uint64_t chunk = 0; chunk < table_bytes_ / kChunk; ++chunk) {
      if (!pattern_.active(phase, chunk)) continue;
      for (std::uint64_t b = chunk * kChunk; b < (chunk + 1) * kChunk; ++b)
        if (Pattern::is_written_in(phase, b) && pattern_.owner(phase, b) == me)
          table_[b] = pattern_.value(phase, b);
    }
  }

  void read_table(std::uint64_t phase, unsigned me) {
    for (std::uint64_t chunk = 0; chunk < table_bytes_ / kChunk; ++chunk) {
      if (mix(phase + me, chunk) % 2 == 0) continue;
      std::uint64_t from = pattern_.last_written(phase, chunk);
      for (std::uint64_t b = chunk * kChunk; b < (chunk + 1) * kChunk; ++b) {
        if (Pattern::is_written_in(phase, b)) continue;
        check(me, "table", phase, b, table_[b], from == 0 ? 0 : pattern_.value(from, b));
      }
    }
  }

  static std::uint64_t bytes_for(std::uint64_t random) {
    std::uint64_t kind = random % 200, rest = random / 200;
    if (kind < 120) return 1 + rest % 200;
    if (kind < 180) return 1 + rest % 5000;
    if (kind < 199) return 1 + rest % 60'000;
    return (1 << 20) + rest % (1 << 20);
  }

  // Even blocks are written in even phases, while odd ones are read.
  void visit(std::uint64_t number, std::uint64_t phase, unsigned me) {
    Block& block = blocks_[number];
    std::uint64_t random = mix(pattern_.seed + 11 * phase, number);
    if ((number + phase) % 2 != 0) {
      if (mix(phase * 31 + me, number) % 3 == 0 && block.at != nullptr)
        check_bytes(me, "block", block.phase, number, block.at, block.bytes);
      return;
    }
    if (random % 3 == 0 && mix(random, 1) % options_.threads == me)
      rewrite(block, number, phase, me);
  }

  void rewrite(Block& block, std::uint64_t number, std::uint64_t phase, unsigned me) {
    std::uint64_t random = mix(pattern_.seed + 13 * phase, number);
    std::uint64_t bytes = bytes_for(random >> 8), before = block.bytes;
    switch (block.at == nullptr ? 1 : random % 4) {
      case 0:
        bytes = before;
        break;
      case 1:
        release(block, me);
        block.at = static_cast<std::uint8_t*>(std::malloc(bytes));
        ++counts_[me].allocated;
        break;
      case 2:
        release(block, me);
        block.at = static_cast<std::uint8_t*>(std::calloc(bytes, 1));
        ++counts_[me].allocated;
        for (std::uint64_t i = 0; block.at != nullptr && i < bytes; ++i)
          check(me, "calloc", phase, i, block.at[i], 0);
        break;
      default:
        block.at = static_cast<std::uint8_t*>(std::realloc(block.at, bytes));
        if (block.at != nullptr)
          check_bytes(me, "realloc", block.phase, number, block.at, std::min(before, bytes));
    }
    if (block.at == nullptr) fail("malloc, calloc or realloc");
    fill(block.at, bytes, phase, number);
    block.bytes = bytes;
    block.phase = phase;
  }

  void release(Block& block, unsigned me) {
    if (block.at != nullptr) ++counts_[me].freed;
    std::free(block.at);
    block.at = nullptr;
  }

  void fill(std::uint8_t* at, std::uint64_t bytes, std::uint64_t phase, std::uint64_t number) {
    for (std::uint64_t i = 0; i < bytes; ++i) at[i] = pattern_.value(phase, (number << 32) + i);
  }
  void check_bytes(unsigned me, const char* what, std::uint64_t phase, std::uint64_t number,
                   const std::uint8_t* at, std::uint64_t bytes) {
    for (std::uint64_t i = 0; i < bytes; ++i)
      check(me, what, phase, i, at[i], pattern_.value(phase, (number << 32) + i));
  }

  void exchange_parcels(std::uint64_t step, unsigned me) {
    std::uint64_t random = mix(pattern_.seed + 17 * step, me);
    auto bytes = static_cast<std::uint64_t>(random >> 20) % 3000;
    auto* made = static_cast<Parcel*>(std::malloc(sizeof(Parcel) + bytes));
    if (made == nullptr) fail("malloc of a parcel");
    *made = {nullptr, step * options_.threads + me, bytes};
    fill(reinterpret_cast<std::uint8_t*>(made + 1), bytes, 0, made->number);
    ++counts_[me].allocated;
    put(lists_[random % kLists], made);
    Parcel* taken = take(lists_[(random >> 8) % kLists]);
    if (taken == nullptr) return;
    check_bytes(me, "parcel", 0, taken->number, reinterpret_cast<std::uint8_t*>(taken + 1),
                taken->bytes);
    std::free(taken);
    ++counts_[me].freed;
    ++counts_[me].parcels;
  }

  static void put(List& list, Parcel* parcel) {
    std::lock_guard hold(list.mutex);
    parcel->next = list.first;
    list.first = parcel;
    ++list.put;
  }
  static Parcel* take(List& list) {
    std::lock_guard hold(list.mutex);
    Parcel* taken = list.first;
    if (taken == nullptr) return nullptr;
    list.first = taken->next;
    ++list.taken;
    return taken;
  }

  void check(unsigned me, const char* what, std::uint64_t phase, std::uint64_t byte,
             std::uint8_t found, std::uint8_t expected) {
    if (found == expected) return;
    if (counts_[me].wrong++ < 10)
      std::fprintf(stderr,
                   "heap_stress: thread %u, %s of phase %llu, byte %llu: %u instead of %u\n", me,
                   what, static_cast<unsigned long long>(phase),
                   static_cast<unsigned long long>(byte), found, expected);
  }

  int report() {
    Count all;
    for (const Count& one : counts_) {
      all.wrong += one.wrong;
      all.allocated += one.allocated;
      all.freed += one.freed;
      all.parcels += one.parcels;
    }
    std::uint64_t put = 0, taken = 0, left = 0;
    for (List& list : lists_) {
      put += list.put;
      taken += list.taken;
      for (; list.first != nullptr; ++left) std::free(take(list));
    }
    bool good = all.wrong == 0 && taken == all.parcels && put == taken + left;
    std::printf(
        "heap_stress: %llu phases, %llu blocks allocated, %llu freed, %llu handed to another "
        "thread, %llu wrong bytes: %s\n",
        static_cast<unsigned long long>(phases_), static_cast<unsigned long long>(all.allocated),
        static_cast<unsigned long long>(all.freed), static_cast<unsigned long long>(all.parcels),
        static_cast<unsigned long long>(all.wrong), good ? "good" : "BROKEN");
    return good ? 0 : 1;
  }

  const Options options_;
  const Pattern pattern_;
  const std::uint64_t table_bytes_;
  std::uint8_t* table_ = nullptr;
  std::vector<Block> blocks_;
  std::vector<List> lists_;
  std::vector<Count> counts_;
  pthread_barrier_t barrier_;
  std::uint64_t phases_ = 0;
  bool stops_[2] = {};  // after an even and an odd phase
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string name = argv[i];
    const char* value = argv[i + 1];
    if (name == "--seconds") {
      options.seconds = std::atof(value);
    } else if (name == "--threads") {
      options.threads = static_cast<unsigned>(std::atoi(value));
    } else if (name == "--seed") {
      options.seed = std::strtoull(value, nullptr, 10);
    } else if (name == "--pages") {
      options.pages = std::strtoull(value, nullptr, 10);
    } else if (name == "--blocks") {
      options.blocks = std::strtoull(value, nullptr, 10);
    } else {
      std::fprintf(stderr, "heap_stress: unknown option %s\n", name.c_str());
      std::exit(2);
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  auto* stress = new HeapStress(parse(argc, argv));  // all of it lies in the heap
  int code = stress->run();
  delete stress;
  return code;
}
