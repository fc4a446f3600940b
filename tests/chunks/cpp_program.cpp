// The C++ interface: scopes end by themselves, and subscriptions with them.
#include <atomic>
#include <cstdio>
#include <numeric>
#include <terrane/chunks.hpp>
#include <thread>
#include <vector>

#include "program.h"

namespace {

using namespace terrane::chunks;
using terrane::chunks_test::bad;

void scopes(const Job& job) {
  Chunk<int> chunk = job.create<int>("numbers", 100);
  EXPECT(chunk.size() == 100);
  for (int round = 0; round < 10; ++round) {
    Scope<int> scope = chunk.read_write();
    Scope<int> moved = std::move(scope);
    for (int& one : moved) ++one;
  }
  for (int n = 0; n < job.nodes(); ++n) {
    if (n == job.node()) job.create<char>("done " + std::to_string(n), 1);
    job.find<char>("done " + std::to_string(n));
  }
  Scope<const int> all = chunk.read();
  EXPECT(std::accumulate(all.begin(), all.end(), 0) == 1000 * job.nodes());
  EXPECT(chunk.try_read() || job.nodes() > 1);
  EXPECT(!job.try_find<int>("nobody's"));
}

// The call fails, and its sentence has the text.
template <typename Call>
void expect_mismatch(const char* text, Call call) {
  try {
    call();
    EXPECT(!"the call succeeds");
  } catch (const Error& error) {
    EXPECT(error.status() == TERRANE_EMISMATCH);
    if (std::string(error.what()).find(text) == std::string::npos) {
      std::printf("%s\n", error.what());
      EXPECT(!"the sentence has the text");
    }
  }
}

void chains(const Job& job) {
  Chain<int> made = job.create_chain<int>("chain", 1000, 100);
  Chain<int> found = job.find_chain<int>("chain");
  EXPECT(found.size() >= 1000 && found.pieces() >= 10);
  std::size_t first = made.append(50);
  EXPECT(first >= 10 && found.piece(first).size() == 50);
  expect_mismatch("chain 'chain' holds elements of another type: int",
                  [&] { job.find_chain<float>("chain"); });
}

struct alignas(32) Wide {
  float values[8];
};

void types(const Job& job) {
  EXPECT(job.create<float>("floats", 8).size() == 8);
  barrier("floats", static_cast<std::uint32_t>(job.nodes()));
  EXPECT(job.find<float>("floats").size() == 8);
  expect_mismatch(
      "chunk 'floats' holds elements of another type: float: 4 bytes, aligned to 4 (as node ",
      [&] { job.create<int>("floats", 8); });
  expect_mismatch("this node asks for (anonymous namespace)::Wide: 32 bytes",
                  [&] { job.find<Wide>("floats"); });
  expect_mismatch("short: 2 bytes, aligned to 2", [&] { job.try_find<short>("floats"); });
  EXPECT(job.find<std::byte>("floats").size() == 32);  // bytes fit every chunk
  EXPECT(job.find<char>("floats").size() == 32);

  // In C the name may be left out; names of any length are compared.
  const std::string long_name(255, 'x');
  const std::string long_type(1000, 't');
  terrane_chunk chunk;
  check(terrane_chunk_create(long_name.c_str(), 8, TERRANE_CHUNK_UPDATE, &chunk, nullptr));
  check(terrane_chunk_state_type(chunk, long_type.c_str(), 8, 8));
  check(terrane_chunk_state_type(chunk, "", 8, 8));
  EXPECT(terrane_chunk_state_type(chunk, "", 8, 4) == TERRANE_EMISMATCH);
  EXPECT(terrane_chunk_state_type(chunk, (long_type + "t").c_str(), 8, 8) == TERRANE_EMISMATCH);
  EXPECT(terrane_chunk_state_type(chunk, "t", 0, 1) == TERRANE_EINVAL);
  EXPECT(terrane_chunk_state_type(chunk, "t", 8, 3) == TERRANE_EINVAL);
  EXPECT(terrane_chunk_state_type(chunk, nullptr, 8, 8) == TERRANE_EINVAL);
  EXPECT(terrane_chunk_state_type({77}, "t", 8, 8) == TERRANE_EINVAL);
  terrane_scope scope;
  check(terrane_chunk_open(chunk, TERRANE_CHUNK_READ, TERRANE_FOREVER, &scope));
  EXPECT(scope.size == sizeof scope && scope.reserved[0] == 0);
  check(terrane_chunk_release(&scope));
}

void meetings(const Job& job) {
  auto nodes = static_cast<std::uint32_t>(job.nodes());
  {
    Lock lock("the lock");
    Chunk<int> chunk = job.create<int>("locked", 1);
    ++chunk.read_write()[0];
  }
  barrier("the barrier", nodes);
  EXPECT(job.create<int>("locked", 1).read()[0] == job.nodes());
  signal("the signal");
  EXPECT(await("the signal", nodes) == nodes);
}

void errors(const Job& job) {
  try {
    job.create<double>("numbers", 3);
    EXPECT(false);
  } catch (const Error& error) {
    EXPECT(error.status() == TERRANE_EMISMATCH);
    EXPECT(std::string(error.what()).find("'numbers'") != std::string::npos);
  }
  Chunk<int> mine = job.create<int>("mine " + std::to_string(job.node()), 1);
  Scope<int> held = mine.write();
  EXPECT(!mine.try_read());
  EXPECT(!mine.read_write_for(std::chrono::milliseconds(5)));
  held.release();
  EXPECT(mine.try_write());
}

void events(const Job& job) {
  Chunk<int> chunk = job.create<int>("events " + std::to_string(job.node()), 4, Coherence::kStream);
  std::atomic<int> sum{0};
  {
    Subscription<int> subscription = chunk.subscribe(
        Policy::kBlock, 4, [&](std::span<const int> values, std::uint64_t) { sum += values[3]; });
    for (int i = 1; i <= 10; ++i) {
      Scope<int> scope = chunk.write();
      std::fill(scope.begin(), scope.end(), i);
    }
    for (int tries = 0; sum < 55 && tries < 20'000; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT(sum == 55);
  Subscription<int> second = chunk.subscribe(Policy::kLatest);
  EXPECT(second.descriptor() >= 0);
  EXPECT(second.take()[0] == 10);
  chunk.part(1, 2).publish(std::vector<int>{20, 30});
  {
    Scope<const int> changed = second.take();
    EXPECT(changed.changed_first() == 1 && changed.changed_count() == 2);
    EXPECT(changed[0] == 10 && changed[1] == 20 && changed[2] == 30 && changed[3] == 10);
  }
  EXPECT(chunk.part(2, 2).read()[0] == 30 && chunk.part(2, 2).size() == 2);
  EXPECT(!second.try_take() && !second.take_for(std::chrono::milliseconds(5)));
}

}  // namespace

int main() {
  {
    Job job;
    scopes(job);
    types(job);
    if (job.node() == 0) chains(job);
    meetings(job);
    errors(job);
    events(job);
  }
  std::puts("good");
  return 0;
}
