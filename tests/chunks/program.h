#pragma once

#include <terrane/chunks.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

// What the programs of these tests share.
namespace terrane::chunks_test {

[[noreturn]] inline void bad(const char* what, int line) {
  std::string error = terrane_chunks_error();
  std::fprintf(stderr, "node %d line %d: %s; last error: %s\n", terrane_chunks_node(), line, what,
               error.c_str());
  std::_Exit(9);
}
#define EXPECT(condition) \
  if (!(condition)) terrane::chunks_test::bad(#condition, __LINE__)
#define EXPECT_OK(call) EXPECT((call) == TERRANE_OK)

inline bool error_says(const char* part) {
  return std::strstr(terrane_chunks_error(), part) != nullptr;
}

constexpr std::int64_t kSecond = 1'000'000'000;

inline int self() { return terrane_chunks_node(); }
inline int nodes() { return terrane_chunks_nodes(); }

inline terrane_chunk create(const std::string& name, std::size_t bytes,
                            terrane_chunk_coherence coherence = TERRANE_CHUNK_INVALIDATE) {
  terrane_chunk chunk;
  EXPECT_OK(terrane_chunk_create(name.c_str(), bytes, coherence, &chunk, nullptr));
  return chunk;
}

inline terrane_scope open(terrane_chunk chunk, terrane_chunk_mode mode) {
  terrane_scope scope;
  EXPECT_OK(terrane_chunk_open(chunk, mode, TERRANE_FOREVER, &scope));
  return scope;
}
inline void release(terrane_scope& scope) { EXPECT_OK(terrane_chunk_release(&scope)); }

// A version is words that are all equal; what a word is, its words.
inline std::uint64_t whole(const terrane_scope& scope) {
  auto* words = static_cast<const std::uint64_t*>(scope.data);
  for (std::size_t i = 1; i < scope.bytes / 8; ++i) EXPECT(words[i] == words[0]);
  return words[0];
}
inline void fill(const terrane_scope& scope, std::uint64_t value) {
  auto* words = static_cast<std::uint64_t*>(scope.data);
  for (std::size_t i = 0; i < scope.bytes / 8; ++i) words[i] = value;
}

// Looks again and again, for 20 s at most.
template <typename Condition>
void wait_until(Condition condition) {
  for (int looks = 0; !condition() && looks < 20'000; ++looks) ::usleep(1000);
  EXPECT(condition());
}

// All nodes have come here; each place by its own name.
inline void meet(const std::string& place) {
  for (int n = 0; n < nodes(); ++n) {
    terrane_chunk chunk;
    std::string name = place + " " + std::to_string(n);
    if (n == self()) {
      create(name, 8);
    } else {
      EXPECT_OK(terrane_chunk_find(name.c_str(), TERRANE_FOREVER, &chunk));
    }
  }
}

}  // namespace terrane::chunks_test
