#include "floors.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "base/check.h"
#include "pairwise_barrier.h"
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
  auto own = PairwiseBarrier::create();
  TERRANE_CHECK(own, "no memory to measure with");
  pid_t child = fork();
  TERRANE_CHECK(child >= 0, "no second process to measure with");
  if (child == 0) {
    auto peer = PairwiseBarrier::join(getppid(), own.value().fd());
    if (peer) peer.value().meet(kRounds + 1);
    _exit(peer ? 0 : 1);
  }
  own.value().meet(1);  // both are there
  double each = own.value().meet(kRounds);
  waitpid(child, nullptr, 0);
  close(own.value().fd());
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
