// Nodes that leave while the others go on.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>

#include "modes.h"
#include "program.h"

namespace terrane::chunks_test {
namespace {

bool has_ended(std::uint64_t process) {
  for (int tries = 0; tries < 2000; ++tries) {
    if (::kill(static_cast<pid_t>(process), 0) != 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

void add_one(terrane_chunk chunk) {
  terrane_scope scope = open(chunk, TERRANE_CHUNK_READ_WRITE);
  fill(scope, whole(scope) + 1);
  release(scope);
}

}  // namespace

// One after the other, from the last to the second, each process ends; what it alone had written,
// and its version of a pushed chunk, are there for the rest, who write on.
void goers() {
  terrane_chunk kept = create("kept", 50'000);
  terrane_chunk pushed = create("pushed", 50'000, TERRANE_CHUNK_STREAM);
  if (self() != 0)
    EXPECT_OK(terrane_chunk_subscribe(pushed, TERRANE_CHUNK_LATEST, 1, nullptr, nullptr));
  meet("begun");
  for (int n = nodes() - 1; n > 0; --n) {
    terrane_chunk goes = create("goes " + std::to_string(n), 8, TERRANE_CHUNK_ONCE);
    if (n == self()) {
      terrane_scope scope;
      if (n < nodes() - 1) {  // who went before has written one
        EXPECT_OK(terrane_chunk_take(pushed, TERRANE_FOREVER, &scope));
        release(scope);
      }
      for (int i = 0; i < 10; ++i) add_one(kept);
      add_one(pushed);
      scope = open(goes, TERRANE_CHUNK_WRITE);
      fill(scope, static_cast<std::uint64_t>(::getpid()));
      release(scope);
      return;
    }
    EXPECT_OK(terrane_chunk_subscribe(goes, TERRANE_CHUNK_BLOCK, 1, nullptr, nullptr));
    terrane_scope scope;
    EXPECT_OK(terrane_chunk_take(goes, TERRANE_FOREVER, &scope));
    EXPECT(has_ended(whole(scope)));
    release(scope);
    auto gone = static_cast<std::uint64_t>(nodes() - n);
    for (auto [chunk, least] : {std::pair{kept, 10 * gone}, {pushed, gone}}) {
      scope = open(chunk, TERRANE_CHUNK_READ);
      EXPECT(whole(scope) >= least);
      release(scope);
    }
  }
  terrane_scope scope = open(kept, TERRANE_CHUNK_READ);
  EXPECT(whole(scope) == 10 * static_cast<std::uint64_t>(nodes() - 1));
  release(scope);
}

}  // namespace terrane::chunks_test
