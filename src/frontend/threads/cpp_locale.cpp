// std::locale::global: the locale that streams of C++ begin with is a variable of the C++ library,
// which each node has for itself.
#include <cstring>
#include <locale>

#include "frontend/interpose/next.h"
#include "frontend/interpose/shared_range.h"
#include "frontend/threads/program.h"
#include "frontend/threads/state_calls.h"

using terrane::frontend::next;
using terrane::frontend::SharedRange;
using namespace terrane::frontend::threads;

namespace {

// What a std::locale is: a pointer to what it and its copies share, which begins with their count.
struct Shared {
  int copies;
};
static_assert(sizeof(std::locale) == sizeof(Shared*));

// Threads of all nodes copy it from now on, and the C++ library counts without telling the others:
// the count never reaches 0.
void keep_for_ever(Shared* shared) {
  constexpr int kMany = 1 << 29;
  if (SharedRange::contains(shared) && shared->copies < kMany) shared->copies += kMany;
}

}  // namespace

#pragma GCC visibility push(default)
std::locale terrane_locale_global(const std::locale&) __asm__("_ZNSt6locale6globalERKS_");
std::locale terrane_locale_global(const std::locale& locale) {
  auto* call = next<"_ZNSt6locale6globalERKS_">(terrane_locale_global);
  if (!concerns_all_nodes()) return call(locale);
  Shared* shared = nullptr;
  std::memcpy(&shared, &locale, sizeof shared);
  keep_for_ever(shared);
  std::locale before = call(locale);
  Shared** there = &shared;
  run_on_others(
      [](void* raw) -> void* {
        Private ours;
        next<"_ZNSt6locale6globalERKS_">(terrane_locale_global)(
            **static_cast<const std::locale**>(raw));
        return nullptr;
      },
      &there);
  return before;
}
#pragma GCC visibility pop
