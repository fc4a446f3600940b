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

void chains(const Job& job) {
  Chain<int> made = job.create_chain<int>("chain", 1000, 100);
  Chain<int> found = job.find_chain<int>("chain");
  EXPECT(found.size() >= 1000 && found.pieces() >= 10);
  std::size_t first = made.append(50);
  EXPECT(first >= 10 && found.piece(first).size() == 50);
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
    if (job.node() == 0) chains(job);
    meetings(job);
    errors(job);
    events(job);
  }
  std::puts("good");
  return 0;
}
