// Work streams: node 0 hands out ranges of numbers, all nodes count the primes in them, and node 0
// adds up the counts in the order of the ranges. A worker that dies loses nothing: another one gets
// its range. Usage: terrane run -n 4 --on-death survive workers [RANGES]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <terrane/chunks.hpp>
#include <thread>

using namespace terrane::chunks;

struct Range {
  std::uint64_t from, to;
};
struct Count {
  std::uint64_t primes;
};

constexpr std::uint64_t kWidth = 1000;  // numbers of a range
constexpr int kMany = 64;               // ranges that may be under way

static bool is_prime(std::uint64_t number) {
  for (std::uint64_t d = 2; d * d <= number; ++d)
    if (number % d == 0) return false;
  return number >= 2;
}

static void hand_out(const Work<Range>& ranges, std::uint64_t count) {
  for (std::uint64_t tag = 0; tag < count; ++tag) {
    auto range = ranges.write();
    range.elements()[0] = {tag * kWidth, (tag + 1) * kWidth};
    range.publish(1, tag);
  }
  ranges.end();
}

static void count_primes(const Work<Range>& ranges, const Work<Count>& counts) {
  auto input = ranges.subscribe(2 * sizeof(Range));
  while (auto range = input.take()) {  // nothing: all ranges are done, wherever they were taken
    auto result = counts.write();
    Count& count = result.elements()[0];
    count.primes = 0;
    for (std::uint64_t n = (*range)[0].from; n < (*range)[0].to; ++n) count.primes += is_prime(n);
    result.publish(1, range->tag());  // before the range is released
  }
  counts.end();
}

static void add_up(const Work<Count>& counts) {
  auto results = counts.subscribe(4 * sizeof(Count));
  std::uint64_t ranges = 0, primes = 0;
  while (auto count = results.take()) {
    if (count->tag() != ranges++) std::printf("range %lu is missing\n", ranges - 1);
    primes += (*count)[0].primes;
  }
  std::printf("%lu primes below %lu\n", primes, ranges * kWidth);
}

int main(int argc, char** argv) {
  std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
  Job job;
  Work<Range> ranges(job, "ranges", 1, {.home = 0, .capacity = kMany * sizeof(Range)});
  Work<Count> counts(job, "counts", 1,
                     {.home = 0, .in_order = true, .capacity = (kMany + 1) * sizeof(Count)});
  std::thread source, sink;
  if (job.node() == 0) {
    source = std::thread([&] { hand_out(ranges, count); });
    sink = std::thread([&] { add_up(counts); });
  }
  count_primes(ranges, counts);
  if (source.joinable()) source.join();
  if (sink.joinable()) sink.join();
  return 0;
}
