// What the C library goes on with at the next call: the table of hsearch, the rest of strtok, what
// a regular expression remembers, the chunks of an obstack. It lies in shared memory.
#include <regex.h>
#include <search.h>
#include <string.h>

#include <cstdarg>

#include "frontend/interpose/for_caller.h"
#include "frontend/interpose/shared_range.h"
#include "frontend/threads/program.h"
#include "frontend/threads/state_calls.h"

using terrane::frontend::ForCaller;
using terrane::frontend::next;
using terrane::frontend::SharedRange;
using namespace terrane::frontend::threads;

namespace {

// call() with what only one thread at a time may use: the C library has a lock in it that is good
// on one node alone.
template <typename Call>
auto in_turn(const void* pattern, Call call) {
  ForCaller memory;
  if (!concerns_all_nodes() || !SharedRange::contains(pattern)) return call();
  Holding hold(pattern);
  return call();
}

hsearch_data& table() { return Program::get()->control().table_of_hsearch; }

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int hcreate(size_t count) noexcept {
  if (!concerns_all_nodes()) return next<"hcreate">(::hcreate)(count);
  return ::hcreate_r(count, &table());
}

void hdestroy(void) noexcept {
  if (!concerns_all_nodes()) return next<"hdestroy">(::hdestroy)();
  ::hdestroy_r(&table());
}

ENTRY* hsearch(ENTRY item, ACTION action) noexcept {
  if (!concerns_all_nodes()) return next<"hsearch">(::hsearch)(item, action);
  ENTRY* found = nullptr;
  ::hsearch_r(item, action, &found, &table());
  return found;
}

char* strtok(char* text, const char* ends) noexcept {
  if (!concerns_all_nodes()) return next<"strtok">(::strtok)(text, ends);
  return ::strtok_r(text, ends, &Program::get()->control().rest_of_strtok);
}

int regexec(const regex_t* pattern, const char* text, size_t count, regmatch_t* matches,
            int flags) noexcept {
  auto* call = next<"regexec">(::regexec);
  return in_turn(pattern, [=] { return call(pattern, text, count, matches, flags); });
}

const char* re_compile_pattern(const char* text, size_t bytes, re_pattern_buffer* pattern) {
  auto* call = next<"re_compile_pattern">(::re_compile_pattern);
  return in_turn(pattern, [=] { return call(text, bytes, pattern); });
}

int re_compile_fastmap(re_pattern_buffer* pattern) {
  auto* call = next<"re_compile_fastmap">(::re_compile_fastmap);
  return in_turn(pattern, [=] { return call(pattern); });
}

regoff_t re_match(re_pattern_buffer* pattern, const char* text, regoff_t bytes, regoff_t begin,
                  re_registers* found) {
  auto* call = next<"re_match">(::re_match);
  return in_turn(pattern, [=] { return call(pattern, text, bytes, begin, found); });
}

regoff_t re_search(re_pattern_buffer* pattern, const char* text, regoff_t bytes, regoff_t begin,
                   regoff_t range, re_registers* found) {
  auto* call = next<"re_search">(::re_search);
  return in_turn(pattern, [=] { return call(pattern, text, bytes, begin, range, found); });
}

regoff_t re_match_2(re_pattern_buffer* pattern, const char* first, regoff_t first_bytes,
                    const char* second, regoff_t second_bytes, regoff_t begin, re_registers* found,
                    regoff_t stop) {
  auto* call = next<"re_match_2">(::re_match_2);
  return in_turn(pattern, [=] {
    return call(pattern, first, first_bytes, second, second_bytes, begin, found, stop);
  });
}

regoff_t re_search_2(re_pattern_buffer* pattern, const char* first, regoff_t first_bytes,
                     const char* second, regoff_t second_bytes, regoff_t begin, regoff_t range,
                     re_registers* found, regoff_t stop) {
  auto* call = next<"re_search_2">(::re_search_2);
  return in_turn(pattern, [=] {
    return call(pattern, first, first_bytes, second, second_bytes, begin, range, found, stop);
  });
}

}  // extern "C"
#pragma GCC visibility pop
