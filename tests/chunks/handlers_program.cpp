// Handlers that end their own subscription, and handlers that wait for what other handlers do.
#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>
#include <terrane/chunks.hpp>
#include <thread>
#include <vector>

#include "program.h"

namespace {

using namespace terrane::chunks;
using terrane::chunks_test::bad;
using terrane::chunks_test::wait_until;

constexpr int kVersions = 60;

std::string mine(const Job& job, const char* name) {
  return std::string(name).append(" ").append(std::to_string(job.node()));
}

void write(const Chunk<int>& chunk, int value) { chunk.publish(std::vector<int>(1, value)); }

// Of a handler's capture: says when it is destroyed.
class Captured {
 public:
  explicit Captured(std::atomic<int>& alive) : alive_(&alive) { ++alive; }
  Captured(const Captured& other) : alive_(other.alive_) { ++*alive_; }
  ~Captured() { --*alive_; }

 private:
  std::atomic<int>* alive_;
};

// What a handler has captured is there until it returns, though it ends its subscription before.
void ends_in_its_handler(const Job& job) {
  Chunk<int> chunk = job.create<int>(mine(job, "once"), 1, Coherence::kStream);
  std::optional<Subscription<int>> subscription;
  std::atomic<int> alive{0}, heard{0}, calls{0};
  std::atomic<bool> is_set{false};
  {
    Captured captured(alive);
    std::array<int, 100> large{};
    large[99] = 7;
    subscription.emplace(chunk.subscribe(
        Policy::kBlock, 2, [&, captured, large](std::span<const int> values, std::uint64_t) {
          ++calls;
          wait_until([&] { return is_set.load(); });
          subscription.reset();
          EXPECT(alive > 0);
          heard = values[0] * large[99];
        }));
  }
  is_set = true;
  write(chunk, 6);
  wait_until([&] { return heard == 42; });
  wait_until([&] { return alive == 0; });
  write(chunk, 1);
  // Another thread may subscribe at once, and gets its own versions.
  Subscription<int> again = chunk.subscribe(Policy::kLatest);
  EXPECT(again.take()[0] == 1);
  EXPECT(calls == 1);
}

// Whether a handler runs now that does not wait in a call.
std::atomic<int> runs{0};
class Alone {
 public:
  Alone() { EXPECT(++runs == 1); }
  ~Alone() { --runs; }
};

// A handler publishes to a stream, and waits for the handler of this node that takes from it.
void publishes_to_another(const Job& job) {
  Chunk<int> first = job.create<int>(mine(job, "first"), 1, Coherence::kStream);
  Chunk<int> second = job.create<int>(mine(job, "second"), 1, Coherence::kUpdate);
  std::atomic<int> last{0};
  Subscription<int> sink =
      second.subscribe(Policy::kBlock, 1, [&](std::span<const int> values, std::uint64_t) {
        Alone alone;
        std::this_thread::yield();
        EXPECT(values[0] == last + 1);
        last = values[0];
      });
  Subscription<int> middle =
      first.subscribe(Policy::kBlock, 1, [&](std::span<const int> values, std::uint64_t) {
        for (int i = 1; i <= 4; ++i) {
          int value = 0;
          {
            Alone alone;
            value = 4 * (values[0] - 1) + i;
          }
          write(second, value);
        }
      });
  for (int v = 1; v <= kVersions; ++v) write(first, v);
  wait_until([&] { return last == 4 * kVersions; });
}

// A handler of each node publishes to the next node, whose handler does so, too.
void publishes_in_a_ring(const Job& job) {
  auto ring = [&](int node) {
    return job.create<int>("ring " + std::to_string(node), 1, Coherence::kStream);
  };
  int next = (job.node() + 1) % job.nodes();
  Chunk<int> here = ring(job.node()), there = ring(next);
  Chunk<int> begins = job.create<int>(mine(job, "begins"), 1, Coherence::kStream);
  std::atomic<int> got{0};
  Subscription<int> receives =
      here.subscribe(Policy::kBlock, 1, [&](std::span<const int>, std::uint64_t) { ++got; });
  Subscription<int> sends =
      begins.subscribe(Policy::kBlock, 1, [&](std::span<const int> values, std::uint64_t) {
        for (int i = 0; i < 3; ++i) write(there, values[0]);
      });
  barrier("ring", static_cast<std::uint32_t>(job.nodes()));
  for (int v = 1; v <= kVersions; ++v) write(begins, v);
  wait_until([&] { return got == 3 * kVersions; });
  barrier("ring is over", static_cast<std::uint32_t>(job.nodes()));
}

// A handler waits for a signal that another one gives, and for a version that another one writes.
void awaits_another(const Job& job) {
  Chunk<int> waits = job.create<int>(mine(job, "waits"), 1, Coherence::kStream);
  Chunk<int> gives = job.create<int>(mine(job, "gives"), 1, Coherence::kStream);
  Chunk<int> answer = job.create<int>(mine(job, "answer"), 1, Coherence::kStream);
  Subscription<int> answers = answer.subscribe(Policy::kBlock, 2);
  std::atomic<int> sum{0};
  std::atomic<bool> is_waiting{false};
  Subscription<int> waiter =
      waits.subscribe(Policy::kBlock, 1, [&](std::span<const int>, std::uint64_t) {
        is_waiting = true;
        await(mine(job, "signal"), 1);
        sum = answers.take()[0];
      });
  Subscription<int> giver =
      gives.subscribe(Policy::kBlock, 1, [&](std::span<const int> values, std::uint64_t) {
        signal(mine(job, "signal"));
        write(answer, values[0]);
      });
  write(waits, 1);
  wait_until([&] { return is_waiting.load(); });
  write(gives, 42);
  wait_until([&] { return sum == 42; });
}

// A handler that ends the subscription of another waits until that one's handler has returned.
void ends_another(const Job& job) {
  Chunk<int> victim = job.create<int>(mine(job, "victim"), 1, Coherence::kStream);
  Chunk<int> enders = job.create<int>(mine(job, "ender"), 1, Coherence::kStream);
  std::atomic<int> state{0};
  std::optional<Subscription<int>> ended;
  ended.emplace(victim.subscribe(Policy::kBlock, 1, [&](std::span<const int>, std::uint64_t) {
    state = 1;
    await(mine(job, "go on"), 1);
    state = 2;
  }));
  Subscription<int> ender =
      enders.subscribe(Policy::kBlock, 1, [&](std::span<const int>, std::uint64_t) {
        signal(mine(job, "go on"));
        ended.reset();
        EXPECT(state == 2);
        state = 3;
      });
  write(victim, 1);
  wait_until([&] { return state == 1; });
  write(enders, 1);
  wait_until([&] { return state == 3; });
}

}  // namespace

int main() {
  {
    Job job;
    ends_in_its_handler(job);
    publishes_to_another(job);
    publishes_in_a_ring(job);
    awaits_another(job);
    ends_another(job);
  }
  std::puts("good");
  return 0;
}
