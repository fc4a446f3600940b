// The C library's generators of random numbers without a state of the caller's: the program has one
// of each, whichever node asks, and numbers follow each other as they do in one process.
#include <stdlib.h>

#include <cstring>

#include "frontend/interpose/next.h"
#include "frontend/threads/program.h"

using terrane::frontend::next;
using namespace terrane::frontend::threads;

namespace {

// A thread of a program on several nodes asks.
bool is_shared() {
  return Program::get() != nullptr && Program::get()->node().nodes() > 1 && is_in_program();
}

Random& random_of_program() { return Program::get()->control().random; }

// Under the lock. As the C library begins.
void begin(Random& random) {
  if (random.has_begun != 0) return;
  random.has_begun = 1;
  ::initstate_r(1, random.words, sizeof random.words, &random.plain);
}

// call(random) under the lock.
template <typename Call>
auto with_random(Call call) {
  Random& random = random_of_program();
  Holding hold(&random);
  begin(random);
  return call(random);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

long random(void) noexcept {
  if (!is_shared()) return next<"random">(::random)();
  return with_random([](Random& random) {
    std::int32_t number = 0;
    ::random_r(&random.plain, &number);
    return static_cast<long>(number);
  });
}

void srandom(unsigned seed) noexcept {
  if (!is_shared()) return next<"srandom">(::srandom)(seed);
  with_random([seed](Random& random) { return ::srandom_r(seed, &random.plain); });
}

int rand(void) noexcept {
  return is_shared() ? static_cast<int>(random()) : next<"rand">(::rand)();
}

void srand(unsigned seed) noexcept {
  if (!is_shared()) return next<"srand">(::srand)(seed);
  srandom(seed);
}

double drand48(void) noexcept {
  if (!is_shared()) return next<"drand48">(::drand48)();
  return with_random([](Random& random) {
    double number = 0;
    ::drand48_r(&random.linear, &number);
    return number;
  });
}

long lrand48(void) noexcept {
  if (!is_shared()) return next<"lrand48">(::lrand48)();
  return with_random([](Random& random) {
    long number = 0;
    ::lrand48_r(&random.linear, &number);
    return number;
  });
}

long mrand48(void) noexcept {
  if (!is_shared()) return next<"mrand48">(::mrand48)();
  return with_random([](Random& random) {
    long number = 0;
    ::mrand48_r(&random.linear, &number);
    return number;
  });
}

void srand48(long seed) noexcept {
  if (!is_shared()) return next<"srand48">(::srand48)(seed);
  with_random([seed](Random& random) { return ::srand48_r(seed, &random.linear); });
}

}  // extern "C"
#pragma GCC visibility pop
