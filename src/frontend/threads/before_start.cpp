#include "frontend/threads/before_start.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

#include "base/log.h"
#include "platform/page_size.h"

namespace terrane::frontend::threads::before_start {
namespace {

// Made at their first use, which may be before static objects of this library are.
std::set<const void*>& held() {
  static auto* all = new std::set<const void*>();
  return *all;
}
std::map<std::uint32_t, std::int64_t>& counters() {
  static auto* all = new std::map<std::uint32_t, std::int64_t>();
  return *all;
}

}  // namespace

terrane_program_locked lock(const void* address) {
  return held().insert(address).second ? kLockTaken : kLockIsOwn;
}

bool unlock(const void* address) { return held().erase(address) != 0; }

std::int64_t add(std::uint32_t counter, std::int64_t amount) {
  std::int64_t& value = counters()[counter];
  value += amount;
  return value - amount;
}

void await(std::uint32_t counter, std::int64_t at_least) {
  if (counters()[counter] < at_least)
    fail("a constructor of a library waits for another thread of OpenMP before the program starts");
}

void* pages(std::size_t bytes) {
  std::size_t page = platform::page_bytes(), all = (bytes + page - 1) / page * page;
  void* memory = std::aligned_alloc(page, all);
  return memory == nullptr ? nullptr : std::memset(memory, 0, all);
}

void give_pages(void* memory) { std::free(memory); }

void fail(const char* sentence) {
  base::log("{}", sentence);
  std::_Exit(1);
}

}  // namespace terrane::frontend::threads::before_start
