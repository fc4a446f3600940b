// A node whose event log is looked at: how often it does what is known. With the argument "dies"
// node 1 kills itself once its log is under way; another argument is the name of one more chunk.
#include <sys/stat.h>

#include <atomic>
#include <csignal>

#include "program.h"

namespace {

using namespace terrane::chunks_test;

constexpr std::uint64_t kVersions = 7;

void count_version(const terrane_scope* scope, void* heard) {
  EXPECT(whole(*scope) == scope->version);
  ++*static_cast<std::atomic<std::uint64_t>*>(heard);
}

void scopes() {
  terrane_chunk chunk = create("state <&\"\xff>", 5000);
  for (int i = 0; i < 20; ++i) {
    terrane_scope scope = open(chunk, TERRANE_CHUNK_READ);
    release(scope);
  }
  for (int i = 0; i < 10; ++i) {
    terrane_scope scope = open(chunk, i < 6 ? TERRANE_CHUNK_WRITE : TERRANE_CHUNK_READ_WRITE);
    release(scope);
  }
  // Node 0 holds it while the others try.
  meet("through");
  terrane_scope scope;
  if (self() == 0) scope = open(chunk, TERRANE_CHUNK_WRITE);
  meet("held");
  if (self() != 0)
    EXPECT(terrane_chunk_open(chunk, TERRANE_CHUNK_READ, TERRANE_TRY, &scope) == TERRANE_EBUSY);
  meet("tried");
  if (self() == 0) release(scope);
}

// Node 0 publishes; node 1 takes; the others have handlers.
void frames() {
  terrane_chunk chunk = create("frames", 3000, TERRANE_CHUNK_STREAM);
  std::atomic<std::uint64_t> heard{0};
  if (self() != 0)
    EXPECT_OK(terrane_chunk_subscribe(chunk, TERRANE_CHUNK_BLOCK, 2,
                                      self() == 1 ? nullptr : count_version, &heard));
  meet("ready");
  terrane_scope scope;
  for (std::uint64_t v = 1; v <= kVersions; ++v) {
    if (self() == 1) EXPECT_OK(terrane_chunk_take(chunk, TERRANE_FOREVER, &scope));
    if (self() == 0) scope = open(chunk, TERRANE_CHUNK_WRITE);
    if (self() == 0) fill(scope, v);
    if (self() < 2) release(scope);
  }
  if (self() > 1) wait_until([&] { return heard.load() == kVersions; });
}

void dies() {
  if (self() == 0) create("busy", 8);
  meet("made");  // by another: node 1 has to wait for its first scope
  terrane_chunk chunk = create("busy", 8);
  terrane_scope scope;
  meet("busy");
  std::string log = std::string(std::getenv("TERRANE_REPORT")) + "/1.events";
  struct stat file {};
  while (self() == 1) {
    scope = open(chunk, TERRANE_CHUNK_READ_WRITE);
    release(scope);
    if (::stat(log.c_str(), &file) == 0 && file.st_size > 100'000) ::raise(SIGKILL);
  }
}

}  // namespace

int main(int count, char** arguments) {
  EXPECT_OK(terrane_chunks_init());
  if (count > 1 && std::string(arguments[1]) == "dies") {
    dies();
  } else {
    if (count > 1) create(arguments[1], 8);
    scopes();
    frames();
    for (int i = 0; i < 3; ++i) {
      terrane_scope lock;
      EXPECT_OK(terrane_chunk_lock("mine", TERRANE_FOREVER, &lock));
      release(lock);
      EXPECT_OK(terrane_chunk_barrier("all", static_cast<std::uint32_t>(nodes()), TERRANE_FOREVER));
    }
    EXPECT_OK(terrane_chunk_signal("here", nullptr));
    EXPECT_OK(
        terrane_chunk_await("here", static_cast<std::uint64_t>(nodes()), TERRANE_FOREVER, nullptr));
  }
  EXPECT_OK(terrane_chunks_finalize());
  std::puts("good");
  return 0;
}
