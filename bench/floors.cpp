#include "floors.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "base/check.h"
#include "platform/wait.h"

namespace terrane::bench {
namespace {

constexpr std::size_t kSpacePages = 4096;
constexpr std::size_t kPage = 4096;

// Nanoseconds of `body`, divided by `count`.
template <typename Body>
double time_per(std::size_t count, Body body) {
  std::uint64_t before = platform::now_ns();
  body();
  return static_cast<double>(platform::now_ns() - before) / static_cast<double>(count);
}

void write_pages(RawSpace& space, std::size_t count) {
  for (std::size_t page = 0; page < count; ++page) space.app(page) = 1;
}

// Calls over `pages` pages each, as many as fit the space but no more than a batch.
std::size_t calls_of(std::size_t pages) {
  std::size_t fitting = kSpacePages / pages;
  return fitting < kBatchPages ? fitting : kBatchPages;
}

struct alignas(128) Line {
  std::atomic<std::uint32_t> round{0};
};

// Gives up the processor only when the peer has clearly lost its own.
void meet(Line& mine, const Line& other, std::uint32_t round) {
  mine.round.store(round, std::memory_order_release);
  for (std::uint32_t looks = 1; other.round.load(std::memory_order_acquire) < round; ++looks) {
    if (looks % 4096 == 0) sched_yield();
  }
}

}  // namespace

base::Result<Floors> Floors::create() {
  auto async = RawSpace::create(Detection::kAsync, kSpacePages);
  if (!async) return async.error();
  auto sync = RawSpace::create(Detection::kSync, kBatchPages);
  if (!sync) return sync.error();
  async.value()->populate(0, kSpacePages);
  sync.value()->populate(0, kBatchPages);
  return Floors(std::move(async).value(), std::move(sync).value());
}

double Floors::read_all_pages(RawSpace::Fill fill) {
  RawSpace::Handler handler(*async_, fill);
  double each = time_per(kBatchPages, [&] {
    for (std::size_t page = 0; page < kBatchPages; ++page) {
      [[maybe_unused]] unsigned char value = async_->app(page);
    }
  });
  async_->zap(0, kBatchPages);
  return each;
}

double Floors::read_fault_warm() { return read_all_pages(RawSpace::Fill::kCopy); }

double Floors::read_fault_cold() {
  async_->punch(0, kBatchPages);
  return read_all_pages(RawSpace::Fill::kCopy);
}

double Floors::read_fault_cold_copy_into_hole() {
  async_->punch(0, kBatchPages);
  double each = read_all_pages(RawSpace::Fill::kCopyIntoHole);
  async_->populate(0, kBatchPages);
  return each;
}

double Floors::read_fault_without_copy() { return read_all_pages(RawSpace::Fill::kNothing); }

double Floors::first_write_async() {
  async_->enter(0, kBatchPages, true);
  double each = time_per(kBatchPages, [&] { write_pages(*async_, kBatchPages); });
  async_->zap(0, kBatchPages);
  return each;
}

double Floors::first_write_sync() {
  RawSpace::Handler handler(*sync_, RawSpace::Fill::kNothing);
  sync_->enter(0, kBatchPages, true);
  double each = time_per(kBatchPages, [&] { write_pages(*sync_, kBatchPages); });
  sync_->zap(0, kBatchPages);
  return each;
}

double Floors::scan(std::size_t pages) {
  std::size_t calls = calls_of(pages);
  async_->enter(0, calls * pages, true);
  write_pages(*async_, calls * pages);
  double each = time_per(calls, [&] {
    for (std::size_t call = 0; call < calls; ++call) async_->scan(call * pages, pages);
  });
  async_->zap(0, calls * pages);
  return each;
}

double Floors::scan_clean(std::size_t pages) {
  std::size_t calls = calls_of(pages);
  async_->enter(0, calls * pages, true);
  double each = time_per(calls, [&] {
    for (std::size_t call = 0; call < calls; ++call) async_->scan(call * pages, pages);
  });
  async_->zap(0, calls * pages);
  return each;
}

double Floors::zap(std::size_t pages) {
  std::size_t calls = calls_of(pages);
  async_->enter(0, calls * pages, true);
  return time_per(calls, [&] {
    for (std::size_t call = 0; call < calls; ++call) async_->zap(call * pages, pages);
  });
}

double Floors::enter(std::size_t pages) {
  std::size_t calls = calls_of(pages);
  double each = time_per(calls, [&] {
    for (std::size_t call = 0; call < calls; ++call) async_->enter(call * pages, pages, true);
  });
  async_->zap(0, calls * pages);
  return each;
}

double Floors::copy_page() {
  constexpr std::size_t kCopies = 2000;
  return time_per(kCopies, [&] {
    for (std::size_t copy = 0; copy < kCopies; ++copy) {
      std::memcpy(async_->runtime(0), async_->peer(0), kPage);
      asm volatile("" ::: "memory");
    }
  });
}

double Floors::pairwise_barrier() {
  constexpr std::uint32_t kRounds = 5000;
  void* memory =
      mmap(nullptr, sizeof(Line) * 2, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  TERRANE_CHECK(memory != MAP_FAILED, "no memory to measure with");
  auto* lines = new (memory) Line[2];
  pid_t child = fork();
  TERRANE_CHECK(child >= 0, "no second process to measure with");
  if (child == 0) {
    for (std::uint32_t round = 1; round <= kRounds + 1; ++round) meet(lines[1], lines[0], round);
    _exit(0);
  }
  meet(lines[0], lines[1], 1);  // both are there
  double each = time_per(kRounds, [&] {
    for (std::uint32_t round = 2; round <= kRounds + 1; ++round) meet(lines[0], lines[1], round);
  });
  waitpid(child, nullptr, 0);
  munmap(memory, sizeof(Line) * 2);
  return each;
}

struct BusySibling::State {
  std::atomic<bool> started{false};
  std::atomic<bool> done{false};
  std::thread thread;
};

BusySibling::BusySibling() : state_(std::make_unique<State>()) {
  state_->thread = std::thread([state = state_.get()] {
    state->started.store(true);
    while (!state->done.load(std::memory_order_relaxed)) {
    }
  });
  while (!state_->started.load()) sched_yield();
}

BusySibling::~BusySibling() {
  state_->done.store(true);
  state_->thread.join();
}

}  // namespace terrane::bench
