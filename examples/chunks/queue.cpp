// A work queue: nodes take pieces of work until none is left; a faster node takes more.
// Usage: terrane run -n 4 queue [LIMIT]    counts the primes below LIMIT
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <terrane/chunks.hpp>
#include <vector>

using namespace terrane::chunks;

// The queue is one chunk: a node that has a scope of it has it alone.
struct Queue {
  long next;    // the first number that nobody has taken
  long done;    // how many numbers are done
  long primes;  // found among them
};

static long primes_in(long begin, long end) {
  long found = 0;
  for (long n = std::max(begin, 2L); n < end; ++n) {
    bool prime = true;
    for (long d = 2; prime && d * d <= n; ++d) prime = n % d != 0;
    found += prime;
  }
  return found;
}

static long sieve(long limit) {
  std::vector<bool> composite(static_cast<std::size_t>(limit));
  long found = 0;
  for (long n = 2; n < limit; ++n) {
    if (composite[static_cast<std::size_t>(n)]) continue;
    ++found;
    for (long m = 2 * n; m < limit; m += n) composite[static_cast<std::size_t>(m)] = true;
  }
  return found;
}

int main(int argc, char** argv) {
  const long limit = argc > 1 ? std::max(1L, std::atol(argv[1])) : 200'000;
  const long piece = std::max(1L, limit / 200);
  Job job;
  Chunk<Queue> queue = job.create<Queue>("queue", 1);
  Chunk<long> result = job.create<long>("result", 1, Coherence::kUpdate);

  long pieces = 0;
  for (;;) {
    long begin = 0;
    {
      Scope<Queue> scope = queue.read_write();
      begin = scope[0].next;
      scope[0].next = std::min(limit, begin + piece);
    }
    if (begin >= limit) break;
    const long end = std::min(limit, begin + piece);
    const long found = primes_in(begin, end);
    ++pieces;
    Scope<Queue> scope = queue.read_write();
    scope[0].primes += found;
    scope[0].done += end - begin;
    if (scope[0].done == limit) result.write()[0] = scope[0].primes;
  }
  std::printf("node %d did %ld pieces\n", job.node(), pieces);

  // The node that did the last piece publishes the sum.
  const long primes = result.subscribe().take()[0];
  if (job.node() != 0) return 0;
  const bool right = primes == sieve(limit);
  std::printf("%ld primes below %ld: %s\n", primes, limit, right ? "right" : "wrong");
  return right ? 0 : 1;
}
