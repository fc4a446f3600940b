// Nodes that join, leave and die while the others go on.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

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

constexpr std::uint64_t kGuestAdds = 10;

void add(terrane_chunk chunk, std::uint64_t more) {
  terrane_scope scope = open(chunk, TERRANE_CHUNK_READ_WRITE);
  fill(scope, whole(scope) + more);
  release(scope);
}

std::uint64_t value_of(terrane_chunk chunk) {
  terrane_scope scope = open(chunk, TERRANE_CHUNK_READ);
  std::uint64_t value = whole(scope);
  release(scope);
  return value;
}

}  // namespace

// The last node wants to leave at once, with what it wrote and a subscription that it does not
// serve; the others go on with all of it.
void leaver() {
  terrane_chunk left = create("left behind", 5000);
  terrane_chunk pushed = create("pushed on", 5000, TERRANE_CHUNK_STREAM);
  if (self() == nodes() - 1) {
    EXPECT_OK(terrane_chunk_subscribe(pushed, TERRANE_CHUNK_BLOCK, 1, nullptr, nullptr));
    terrane_scope scope = open(left, TERRANE_CHUNK_WRITE);
    fill(scope, 5);
    release(scope);
    create("the leaver", 8);
    return;
  }
  terrane_chunk found;
  EXPECT_OK(terrane_chunk_find("the leaver", TERRANE_FOREVER, &found));
  auto rest = static_cast<std::uint32_t>(nodes() - 1);
  for (int round = 0; round < 50; ++round)
    for (terrane_chunk chunk : {left, pushed}) {
      terrane_scope scope = open(chunk, TERRANE_CHUNK_READ_WRITE);
      fill(scope, whole(scope) + 1);
      release(scope);
    }
  EXPECT_OK(terrane_chunk_barrier("the rest", rest, 20 * kSecond));
  terrane_scope scope = open(left, TERRANE_CHUNK_READ);
  EXPECT(whole(scope) == 5 + 50 * rest);
  release(scope);
}

// One after the other, from the last to the second, each process ends. What it alone had written,
// and its version of a pushed chunk, are there for the other processes, which write on.
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
      if (n < nodes() - 1) {  // the process that ended before has written one
        EXPECT_OK(terrane_chunk_take(pushed, TERRANE_FOREVER, &scope));
        release(scope);
      }
      for (int i = 0; i < 10; ++i) add(kept, 1);
      add(pushed, 1);
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

// The nodes with which a job starts that guests join: they write on and on, until a guest says
// stop. In the end all that anybody wrote is there.
void hosts() {
  terrane_chunk kept = create("kept", 50'000), guests = create("guests", 8);
  terrane_chunk feed = create("feed", 5'000, TERRANE_CHUNK_UPDATE), rounds = create("rounds", 8);
  meet("begun");
  if (self() == 0) {
    std::puts("ready");
    std::fflush(stdout);
  }
  terrane_chunk stop;
  std::uint64_t mine = 0;
  for (; terrane_chunk_find("stop", TERRANE_TRY, &stop) == TERRANE_EUNKNOWN; ++mine) {
    add(kept, 1);
    if (self() == 0) add(feed, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  add(rounds, mine);
  EXPECT_OK(terrane_chunk_barrier("all", static_cast<std::uint32_t>(nodes()), 20 * kSecond));
  if (self() == 0) EXPECT(value_of(kept) == value_of(rounds) + kGuestAdds * value_of(guests));
}

// Finds what is there, though no node reports it, and hears of what comes.
void guest() {
  EXPECT(self() >= nodes());
  terrane_chunk kept, guests, feed;
  EXPECT_OK(terrane_chunk_find("kept", TERRANE_TRY, &kept));
  EXPECT_OK(terrane_chunk_find("guests", TERRANE_TRY, &guests));
  EXPECT_OK(terrane_chunk_find("feed", TERRANE_TRY, &feed));
  std::uint64_t before = value_of(kept);
  EXPECT_OK(terrane_chunk_subscribe(feed, TERRANE_CHUNK_LATEST, 1, nullptr, nullptr));
  std::uint64_t seen = 0;
  for (int takes = 0; takes < 3; ++takes) {
    terrane_scope scope;
    EXPECT_OK(terrane_chunk_take(feed, 20 * kSecond, &scope));
    EXPECT(whole(scope) > seen);
    seen = whole(scope);
    release(scope);
  }
  for (std::uint64_t i = 0; i < kGuestAdds; ++i) add(kept, 1);
  EXPECT(value_of(kept) >= before + kGuestAdds);
  add(guests, 1);
}

void stop() { create("stop", 8); }

// Is killed with a scope open, and what it has written at its place alone.
void dying_guest() {
  terrane_chunk kept, own, lost = create("lost", 5'000);
  EXPECT_OK(terrane_chunk_create_at("own", 5'000, TERRANE_CHUNK_INVALIDATE, self(), &own, nullptr));
  EXPECT(terrane_chunk_home(own) == self());
  add(own, 1);
  EXPECT_OK(terrane_chunk_find("kept", TERRANE_TRY, &kept));
  add(lost, 1);
  open(kept, TERRANE_CHUNK_READ);
  ::kill(::getpid(), SIGKILL);
}

// The last node dies while it writes; the others find the version before, and go on.
void death() {
  terrane_chunk chunk = create("left", 50'000);
  terrane_chunk pushed = create("pushed", 50'000, TERRANE_CHUNK_STREAM);
  bool dies = self() == nodes() - 1;
  if (!dies) EXPECT_OK(terrane_chunk_subscribe(pushed, TERRANE_CHUNK_BLOCK, 4, nullptr, nullptr));
  for (int round = 0; round < 20; ++round) {
    terrane_scope scope = open(chunk, TERRANE_CHUNK_READ_WRITE);
    fill(scope, whole(scope) + 1);
    release(scope);
  }
  terrane_scope scope;
  if (dies) {
    scope = open(pushed, TERRANE_CHUNK_WRITE);
    fill(scope, 1);
    release(scope);
  } else {
    EXPECT_OK(terrane_chunk_take(pushed, TERRANE_FOREVER, &scope));
    EXPECT(whole(scope) == 1);
    release(scope);
  }
  meet("written");
  if (dies) {
    for (terrane_chunk both : {chunk, pushed}) {
      scope = open(both, TERRANE_CHUNK_READ_WRITE);
      fill(scope, 99);
      static_cast<std::uint64_t*>(scope.data)[7] = 98;
    }
    create("dying", 8);
    std::_Exit(3);
  }
  terrane_chunk dying;
  EXPECT_OK(terrane_chunk_find("dying", TERRANE_FOREVER, &dying));
  scope = open(chunk, TERRANE_CHUNK_READ);
  std::uint64_t left = whole(scope);  // what it alone had died with it
  auto all = static_cast<std::uint64_t>(20 * nodes());
  EXPECT(left + 20 >= all && left < all + static_cast<std::uint64_t>(nodes()));
  release(scope);
  scope = open(chunk, TERRANE_CHUNK_READ_WRITE);
  EXPECT(whole(scope) >= left);
  fill(scope, whole(scope) + 1);
  release(scope);
  scope = open(pushed, TERRANE_CHUNK_READ_WRITE);
  EXPECT(whole(scope) >= 1 && whole(scope) <= static_cast<std::uint64_t>(nodes()));
  fill(scope, whole(scope) + 1);
  release(scope);
}

// A server dies; the successor has what it held, and names that it served are asked of it.
void server_death() {
  std::vector<terrane_chunk> chunks;
  for (int c = 0; c < 30; ++c) {
    chunks.push_back(create("chunk " + std::to_string(c), 3000));
    terrane_scope scope = open(chunks.back(), TERRANE_CHUNK_READ_WRITE);
    fill(scope, whole(scope) + 1);
    release(scope);
  }
  meet("written");
  for (terrane_chunk chunk : chunks) {
    terrane_scope scope = open(chunk, TERRANE_CHUNK_READ);
    EXPECT(whole(scope) == static_cast<std::uint64_t>(nodes()));
    release(scope);
  }
  meet("read");
  // It goes when nobody waits for it any more; the others go on at once, whether they know or not.
  terrane_chunk seen;
  if (self() == 0) {
    for (int n = 1; n < nodes(); ++n)
      EXPECT_OK(terrane_chunk_find(("seen " + std::to_string(n)).c_str(), TERRANE_FOREVER, &seen));
    std::_Exit(3);
  }
  create("seen " + std::to_string(self()), 8);
  for (terrane_chunk chunk : chunks) {
    terrane_scope scope = open(chunk, TERRANE_CHUNK_READ_WRITE);
    EXPECT(whole(scope) >= static_cast<std::uint64_t>(nodes()));
    fill(scope, whole(scope) + 1);
    release(scope);
  }
  terrane_chunk found;
  EXPECT_OK(terrane_chunk_find("chunk 7", TERRANE_TRY, &found));
  EXPECT(found.id == chunks[7].id);
}

}  // namespace terrane::chunks_test
