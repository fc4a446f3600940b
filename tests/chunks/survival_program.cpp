// A node of a job whose nodes are stopped, killed and cut off. Every node counts, in each chunk in
// a word of its own, how often it has written; what was acknowledged it notes in a file that
// outlives it. Arguments: FILE SEED. Those that live print what they find in the end, a line a
// chunk: "chunk NAME WORD...".
#include <fcntl.h>
#include <sys/mman.h>

#include <random>
#include <vector>

#include "program.h"
#include "survival.h"

namespace {

using namespace terrane::survival;
using terrane::chunks_test::create;
using terrane::chunks_test::kSecond;
using terrane::chunks_test::release;
using terrane::chunks_test::self;

constexpr std::size_t kWords = 64;  // of a chunk, those of the nodes in front
constexpr unsigned kPauseUs = 500;

Account* account = nullptr;

Account* map_account(const char* path) {
  int fd = ::open(path, O_RDWR | O_CLOEXEC);
  EXPECT(fd >= 0);
  void* at = ::mmap(nullptr, sizeof(Account), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  EXPECT(at != MAP_FAILED);
  return static_cast<Account*>(at);
}

std::uint64_t* words_of(const terrane_scope& scope) {
  return static_cast<std::uint64_t*>(scope.data);
}

// The last word repeats the sum of the nodes': a version is whole or not at all.
std::uint64_t sum_of(const terrane_scope& scope) {
  std::uint64_t sum = 0;
  for (std::size_t n = 0; n < kNodes; ++n) sum += words_of(scope)[n];
  return sum;
}

terrane_chunk made(int c) {
  return create(name_of(c), 8 * kWords,
                is_pushed(c) ? TERRANE_CHUNK_UPDATE : TERRANE_CHUNK_INVALIDATE);
}

// A pushed chunk dies with its server, and is made again.
terrane_scope opened(int c, terrane_chunk& chunk, terrane_chunk_mode mode) {
  terrane_scope scope;
  int status = TERRANE_EUNKNOWN;
  for (int tries = 0; status == TERRANE_EUNKNOWN && tries < 100; ++tries) {
    status = terrane_chunk_open(chunk, mode, 30 * kSecond, &scope);
    if (status != TERRANE_EUNKNOWN) break;
    EXPECT(is_pushed(c));
    chunk = made(c);
  }
  EXPECT_OK(status);
  EXPECT(words_of(scope)[kWords - 1] == sum_of(scope));
  return scope;
}

void write_on(std::vector<terrane_chunk>& chunks, std::uint64_t seed) {
  std::mt19937_64 random(seed * 100 + static_cast<std::uint64_t>(self()));
  while (account->stop.load() == 0) {
    int c = static_cast<int>(random() % kChunks);
    terrane_chunk& chunk = chunks[static_cast<std::size_t>(c)];
    bool writes = random() % 3 != 0;
    terrane_scope scope = opened(c, chunk, writes ? TERRANE_CHUNK_READ_WRITE : TERRANE_CHUNK_READ);
    if (writes) {
      ++words_of(scope)[self()];
      ++words_of(scope)[kWords - 1];
    }
    release(scope);
    if (writes) account->done[self()][c].fetch_add(1);
    if (random() % 8 == 0) ::usleep(kPauseUs);
  }
}

void print_all(std::vector<terrane_chunk>& chunks) {
  for (int c = 0; c < kChunks; ++c) {
    terrane_scope scope = opened(c, chunks[static_cast<std::size_t>(c)], TERRANE_CHUNK_READ);
    std::string line("chunk ");
    line.append(name_of(c));
    for (std::size_t n = 0; n < kNodes; ++n)
      line.append(1, ' ').append(std::to_string(words_of(scope)[n]));
    std::puts(line.c_str());
    release(scope);
  }
}

}  // namespace

int main(int, char** arguments) {
  account = map_account(arguments[1]);
  EXPECT_OK(terrane_chunks_init());
  std::vector<terrane_chunk> chunks;
  for (int c = 0; c < kChunks; ++c) chunks.push_back(made(c));
  // What only the dead had heard of nobody can name.
  account->ready[self()].store(1);
  for (const auto& ready : account->ready)
    while (ready.load() == 0) ::usleep(kPauseUs);
  write_on(chunks, std::strtoull(arguments[2], nullptr, 10));
  account->stopped[self()].store(1);
  while (account->print.load() == 0) ::usleep(kPauseUs);
  print_all(chunks);
  EXPECT_OK(terrane_chunks_finalize());
  std::puts("good");
  return 0;
}
