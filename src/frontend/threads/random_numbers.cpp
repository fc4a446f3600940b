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

// What lcong48 has set, and srand48 sets back.
drand48_data constants() {
  return with_random([](Random& random) { return random.linear; });
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

unsigned short* seed48(unsigned short seed[3]) noexcept {
  if (!is_shared()) return next<"seed48">(::seed48)(seed);
  return with_random([seed](Random& random) {
    ::seed48_r(seed, &random.linear);
    return random.linear.__old_x;
  });
}

void lcong48(unsigned short numbers[7]) noexcept {
  if (!is_shared()) return next<"lcong48">(::lcong48)(numbers);
  with_random([numbers](Random& random) { return ::lcong48_r(numbers, &random.linear); });
}

// The numbers are the caller's, the constants the program's.
double erand48(unsigned short numbers[3]) noexcept {
  if (!is_shared()) return next<"erand48">(::erand48)(numbers);
  drand48_data own = constants();
  double number = 0;
  ::erand48_r(numbers, &own, &number);
  return number;
}

long nrand48(unsigned short numbers[3]) noexcept {
  if (!is_shared()) return next<"nrand48">(::nrand48)(numbers);
  drand48_data own = constants();
  long number = 0;
  ::nrand48_r(numbers, &own, &number);
  return number;
}

long jrand48(unsigned short numbers[3]) noexcept {
  if (!is_shared()) return next<"jrand48">(::jrand48)(numbers);
  drand48_data own = constants();
  long number = 0;
  ::jrand48_r(numbers, &own, &number);
  return number;
}

// The state before is what the C library calls it: one word before the numbers.
char* initstate(unsigned seed, char* state, size_t bytes) noexcept {
  if (!is_shared()) return next<"initstate">(::initstate)(seed, state, bytes);
  return with_random([=](Random& random) {
    auto* before = reinterpret_cast<char*>(random.plain.state - 1);
    return ::initstate_r(seed, state, bytes, &random.plain) == 0 ? before : nullptr;
  });
}

char* setstate(char* state) noexcept {
  if (!is_shared()) return next<"setstate">(::setstate)(state);
  return with_random([=](Random& random) {
    auto* before = reinterpret_cast<char*>(random.plain.state - 1);
    return ::setstate_r(state, &random.plain) == 0 ? before : nullptr;
  });
}

}  // extern "C"
#pragma GCC visibility pop
