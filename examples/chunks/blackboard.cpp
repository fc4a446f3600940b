// A blackboard of sensors: each node measures some, every node hears of all, and a node that joins
// late reads what is there. Usage: terrane run -n 4 blackboard [READINGS]
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <terrane/chunks.hpp>
#include <thread>
#include <vector>

using namespace terrane::chunks;

struct Reading {
  long number;
  double celsius;
};

static double measure(int sensor, long number) {
  return 20.0 + sensor + 0.001 * static_cast<double>(number % 100);
}

int main(int argc, char** argv) {
  const long readings = argc > 1 ? std::atol(argv[1]) : 1000;
  const int sensors_each = 4;
  Job job;
  const int sensors = sensors_each * job.nodes();

  // One small chunk for each sensor. Readings that nobody looks at in time are left out.
  std::vector<Chunk<Reading>> board;
  for (int s = 0; s < sensors; ++s)
    board.push_back(job.create<Reading>("sensor " + std::to_string(s), 1, Coherence::kUpdate));

  // The last node joins the blackboard late: what was written before is there.
  if (job.node() == job.nodes() - 1) std::this_thread::sleep_for(std::chrono::milliseconds(50));

  std::vector<std::atomic<long>> last(static_cast<std::size_t>(sensors));
  std::atomic<long> heard{0};
  std::vector<Subscription<Reading>> subscriptions;
  for (int s = 0; s < sensors; ++s)
    subscriptions.push_back(board[static_cast<std::size_t>(s)].subscribe(
        Policy::kLatest, 1, [&, s](std::span<const Reading> reading, std::uint64_t) {
          last[static_cast<std::size_t>(s)] = reading[0].number;
          ++heard;
        }));

  for (long number = 1; number <= readings; ++number)
    for (int s = job.node(); s < sensors; s += job.nodes())
      board[static_cast<std::size_t>(s)].write()[0] = {number, measure(s, number)};

  // The last reading of each sensor comes to everybody; nodes that measure on are waited for.
  auto all_came = [&] {
    for (const std::atomic<long>& number : last)
      if (number != readings) return false;
    return true;
  };
  long known = -1;
  for (auto since = std::chrono::steady_clock::now();
       !all_came() && std::chrono::steady_clock::now() - since < std::chrono::seconds(30);) {
    if (heard != known) since = std::chrono::steady_clock::now();
    known = heard;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  bool right = all_came();
  for (int s = 0; right && s < sensors; ++s)
    right = board[static_cast<std::size_t>(s)].read()[0].celsius == measure(s, readings);
  std::printf("node %d heard %ld of %ld readings, the last of each sensor among them: %s\n",
              job.node(), heard.load(), readings * sensors, right ? "right" : "wrong");
  return right ? 0 : 1;
}
