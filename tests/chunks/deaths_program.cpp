// A node of a job in which some die at random points. Every node counts, in each chunk in a word of
// its own, how often it has written. The writes that were reported to it as done it notes in a file
// that outlives it. Arguments: FILE SEED DEATHS. Those that live print what they find in the end, a
// line a chunk: "chunk NAME WORD...".
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <random>
#include <thread>
#include <vector>

#include "deaths.h"
#include "program.h"

namespace {

using namespace terrane::chunks_test;

constexpr std::uint32_t kOperations = 1500;
constexpr std::size_t kWords = 512;  // of a chunk, those of the nodes in front

Account* account = nullptr;

Account* map_account(const char* path) {
  int fd = ::open(path, O_RDWR | O_CLOEXEC);
  EXPECT(fd >= 0);
  void* at = ::mmap(nullptr, sizeof(Account), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  EXPECT(at != MAP_FAILED);
  return static_cast<Account*>(at);
}

// All nodes draw the same: which of them die, and after how many of their operations.
struct Fate {
  std::uint32_t operations = 0;  // 0: it lives
  std::uint32_t delay = 0;       // and looks at a clock so often
};
Fate fate_of(std::uint64_t seed, int deaths) {
  std::mt19937_64 random(seed);
  std::vector<int> order(static_cast<std::size_t>(nodes()));
  for (int n = 0; n < nodes(); ++n) order[static_cast<std::size_t>(n)] = n;
  std::shuffle(order.begin(), order.end(), random);
  Fate mine;
  for (int d = 0; d < deaths; ++d) {
    auto operations = static_cast<std::uint32_t>(1 + random() % kOperations);
    auto delay = static_cast<std::uint32_t>(random() % 3000);
    if (order[static_cast<std::size_t>(d)] == self()) mine = {operations, delay};
  }
  return mine;
}

// Dies wherever its threads are then.
void die(const Fate& fate, const std::atomic<std::uint32_t>& operations) {
  while (operations.load() < fate.operations) ::sched_yield();
  timespec now;
  for (std::uint32_t i = 0; i < fate.delay; ++i) ::clock_gettime(CLOCK_MONOTONIC, &now);
  account->dead[self()].store(1);
  ::kill(::getpid(), SIGKILL);
}

std::uint64_t* words_of(const terrane_scope& scope) {
  return static_cast<std::uint64_t*>(scope.data);
}

// The last word repeats the sum of the nodes': a version is whole or not at all.
std::uint64_t sum_of(const terrane_scope& scope) {
  std::uint64_t sum = 0;
  for (std::size_t n = 0; n < kMostNodes; ++n) sum += words_of(scope)[n];
  return sum;
}

terrane_chunk made(int c) {
  return create(name_of(c), 8 * kWords,
                is_pushed(c) ? TERRANE_CHUNK_UPDATE : TERRANE_CHUNK_INVALIDATE);
}

// A pushed chunk dies with its server, and is made again.
terrane_scope opened(int c, terrane_chunk& chunk, terrane_chunk_mode mode) {
  terrane_scope scope;
  int status = TERRANE_EUNKNOWN;
  for (int tries = 0; status == TERRANE_EUNKNOWN && tries < 100; ++tries) {
    status = terrane_chunk_open(chunk, mode, 30 * kSecond, &scope);
    if (status != TERRANE_EUNKNOWN) break;
    EXPECT(is_pushed(c));
    chunk = made(c);
  }
  EXPECT_OK(status);
  EXPECT(words_of(scope)[kWords - 1] == sum_of(scope));
  return scope;
}

void work(std::uint64_t seed, std::atomic<std::uint32_t>& operations, bool lives) {
  std::vector<terrane_chunk> chunks;
  for (int c = 0; c < kChunks; ++c) chunks.push_back(made(c));
  // What only the dead had heard of nobody can name.
  account->ready.fetch_add(1);
  while (account->ready.load() < nodes()) ::sched_yield();
  std::mt19937_64 random(seed * 100 + static_cast<std::uint64_t>(self()));
  auto all_dead = [] {
    int dead = 0;
    for (const auto& one : account->dead) dead += one.load();
    return dead == account->deaths.load();
  };
  while (!lives || operations.load() < kOperations || !all_dead()) {
    int c = static_cast<int>(random() % kChunks);
    terrane_chunk& chunk = chunks[static_cast<std::size_t>(c)];
    bool writes = random() % 3 != 0;
    terrane_scope scope = opened(c, chunk, writes ? TERRANE_CHUNK_READ_WRITE : TERRANE_CHUNK_READ);
    if (writes) {
      ++words_of(scope)[self()];
      ++words_of(scope)[kWords - 1];
    }
    release(scope);
    if (writes) account->done[self()][c].fetch_add(1);
    operations.fetch_add(1);
  }
  if (!lives) return;
  account->through.fetch_add(1);
  while (account->through.load() < nodes() - account->deaths.load()) ::sched_yield();
  for (int c = 0; c < kChunks; ++c) {
    terrane_scope scope = opened(c, chunks[static_cast<std::size_t>(c)], TERRANE_CHUNK_READ);
    std::string line("chunk ");
    line.append(name_of(c));
    for (int n = 0; n < nodes(); ++n)
      line.append(1, ' ').append(std::to_string(words_of(scope)[n]));
    std::puts(line.c_str());
    release(scope);
  }
}

}  // namespace

int main(int, char** arguments) {
  account = map_account(arguments[1]);
  std::uint64_t seed = std::strtoull(arguments[2], nullptr, 10);
  EXPECT_OK(terrane_chunks_init());
  Fate fate = fate_of(seed, std::atoi(arguments[3]));
  std::atomic<std::uint32_t> operations{0};
  if (fate.operations > 0) std::thread([&] { die(fate, operations); }).detach();
  work(seed, operations, fate.operations == 0);
  EXPECT_OK(terrane_chunks_finalize());
  std::puts("good");
  return 0;
}
