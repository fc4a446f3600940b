// Joins a blackboard that runs, reads what is there, hears of some readings of each sensor, and
// leaves: a late joiner. Usage: terrane join JOB watcher [READINGS]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <terrane/chunks.hpp>

using namespace terrane::chunks;

struct Reading {
  long number;
  double celsius;
};

int main(int argc, char** argv) {
  const int readings = argc > 1 ? std::atoi(argv[1]) : 3;
  Job job;
  int sensors = 0;
  bool right = true;
  for (;; ++sensors) {
    auto sensor = job.try_find<Reading>("sensor " + std::to_string(sensors));
    if (!sensor) break;
    const Reading there = sensor->read()[0];  // the memory is the history
    auto heard = sensor->subscribe(Policy::kLatest, 1);
    Reading last{0, 0};
    for (int i = 0; i < readings; ++i) {
      auto next = heard.take_for(std::chrono::seconds(1));
      if (!next) break;  // nobody measures any more
      right = right && (*next)[0].number > last.number && (*next)[0].number >= there.number;
      last = (*next)[0];
    }
    std::printf("sensor %d: %.3f at reading %ld, then %.3f at %ld\n", sensors, there.celsius,
                there.number, last.celsius, last.number);
  }
  std::printf("node %d has seen %d sensors: %s\n", job.node(), sensors,
              right && sensors > 0 ? "right" : "wrong");
  return right && sensors > 0 ? 0 : 1;
}
