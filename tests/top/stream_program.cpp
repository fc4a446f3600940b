// Node 0 publishes versions of a chunk for a while, and the others take them. Usage: stream_program
// SECONDS
#include <cstdlib>

#include "../chunks/program.h"

namespace {

using namespace terrane::chunks_test;

constexpr std::size_t kBytes = 10'000;
constexpr useconds_t kPauseUs = 2000;

void frames(int versions) {
  terrane_chunk chunk = create("frames", kBytes, TERRANE_CHUNK_STREAM);
  if (self() != 0)
    EXPECT_OK(terrane_chunk_subscribe(chunk, TERRANE_CHUNK_BLOCK, 2, nullptr, nullptr));
  meet("ready");
  for (int v = 0; v < versions; ++v) {
    terrane_scope scope;
    if (self() == 0) {
      ::usleep(kPauseUs);
      scope = open(chunk, TERRANE_CHUNK_WRITE);
    } else {
      EXPECT_OK(terrane_chunk_take(chunk, TERRANE_FOREVER, &scope));
    }
    release(scope);
  }
}

}  // namespace

int main(int, char** argv) {
  EXPECT_OK(terrane_chunks_init());
  if (self() == 0) std::puts("running");
  std::fflush(stdout);
  frames(std::atoi(argv[1]) * 500);
  EXPECT_OK(terrane_chunks_finalize());
  std::puts("good");
  return 0;
}
