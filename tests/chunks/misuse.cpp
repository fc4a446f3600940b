// Calls that make no sense, and scopes that are held for long.
#include <sys/time.h>

#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "modes.h"
#include "program.h"

namespace terrane::chunks_test {

namespace {

terrane_chunk struck;
volatile std::sig_atomic_t served, refused, wrong;

// Outside of a call it is served, inside it is refused; it never hangs.
void strike(int) {
  terrane_scope scope;
  int status = terrane_chunk_open(struck, TERRANE_CHUNK_WRITE, TERRANE_TRY, &scope);
  if (status == TERRANE_OK) {
    served = served + 1;
    terrane_chunk_release(&scope);
  } else if (status == TERRANE_ESTATE && error_says("signal handler")) {
    refused = refused + 1;
  } else if (status != TERRANE_EBUSY) {
    wrong = wrong + 1;
  }
}

}  // namespace

void interrupted() {
  struck = create("struck", 8, TERRANE_CHUNK_UPDATE);
  if (self() == 0) {
    std::signal(SIGALRM, strike);
    itimerval often{{0, 200}, {0, 200}}, never{};
    ::setitimer(ITIMER_REAL, &often, nullptr);
    for (std::uint64_t i = 0; refused < 20 && wrong == 0; ++i)
      EXPECT_OK(terrane_chunk_publish(struck, 0, sizeof i, &i, TERRANE_FOREVER));
    ::setitimer(ITIMER_REAL, &never, nullptr);
    EXPECT(wrong == 0);
  }
  EXPECT_OK(terrane_chunk_barrier("struck", static_cast<std::uint32_t>(nodes()), TERRANE_FOREVER));
}

void misuse() {
  terrane_chunk chunk, other;
  terrane_scope scope;
  EXPECT(terrane_chunks_init() == TERRANE_ESTATE && error_says("twice"));
  EXPECT(terrane_chunk_create("none", 0, TERRANE_CHUNK_UPDATE, &chunk, nullptr) == TERRANE_EINVAL);
  EXPECT(error_says("0 bytes"));
  EXPECT(terrane_chunk_create("", 8, TERRANE_CHUNK_UPDATE, &chunk, nullptr) == TERRANE_EINVAL);
  EXPECT(terrane_chunk_create(nullptr, 8, TERRANE_CHUNK_UPDATE, &chunk, nullptr) == TERRANE_EINVAL);
  std::string longest(255, 'n'), too_long(256, 'n');
  EXPECT_OK(terrane_chunk_create(longest.c_str(), 8, TERRANE_CHUNK_UPDATE, &chunk, nullptr));
  EXPECT(terrane_chunk_find(too_long.c_str(), TERRANE_TRY, &chunk) == TERRANE_EINVAL);
  EXPECT(terrane_chunk_create("huge", ~std::size_t{0}, TERRANE_CHUNK_INVALIDATE, &chunk, nullptr) ==
         TERRANE_EINVAL);
  EXPECT(terrane_chunk_create("large", std::size_t{1} << 39, TERRANE_CHUNK_INVALIDATE, &chunk,
                              nullptr) == TERRANE_ENOMEM);
  EXPECT(error_says("--memory"));
  EXPECT(terrane_chunk_create("odd", 8, static_cast<terrane_chunk_coherence>(4), &chunk, nullptr) ==
         TERRANE_EINVAL);
  EXPECT(terrane_chunk_find("nobody's", TERRANE_TRY, &chunk) == TERRANE_EUNKNOWN);
  EXPECT(error_says("nobody's"));
  EXPECT(terrane_chunk_find("nobody's", kSecond / 100, &chunk) == TERRANE_ETIMEDOUT);
  EXPECT(terrane_chunk_find("nobody's", -7, &chunk) == TERRANE_EINVAL);

  chunk = create("good", 64);
  EXPECT(terrane_chunk_create("good", 65, TERRANE_CHUNK_INVALIDATE, &other, nullptr) ==
         TERRANE_EMISMATCH);
  EXPECT(error_says("64 bytes") && error_says("65"));
  EXPECT(terrane_chunk_create("good", 64, TERRANE_CHUNK_STREAM, &other, nullptr) ==
         TERRANE_EMISMATCH);
  EXPECT(error_says("invalidate") && error_says("stream"));
  EXPECT(terrane_chunk_open({77}, TERRANE_CHUNK_READ, TERRANE_FOREVER, &scope) == TERRANE_EINVAL);
  EXPECT(terrane_chunk_open(chunk, static_cast<terrane_chunk_mode>(0), TERRANE_TRY, &scope) ==
         TERRANE_EINVAL);
  EXPECT(terrane_chunk_open(chunk, TERRANE_CHUNK_READ, TERRANE_TRY, nullptr) == TERRANE_EINVAL);
  for (auto [offset, bytes] : {std::pair<std::size_t, std::size_t>{0, 0},
                               {0, 65},
                               {64, 1},
                               {60, 5},
                               {~std::size_t{0}, 2}}) {
    EXPECT(terrane_chunk_open_range(chunk, TERRANE_CHUNK_READ, offset, bytes, TERRANE_TRY,
                                    &scope) == TERRANE_EINVAL);
    EXPECT(error_says("of chunk 'good', which has 64 bytes"));
    EXPECT(terrane_chunk_publish(chunk, offset, bytes, &scope, TERRANE_TRY) == TERRANE_EINVAL);
  }
  EXPECT(terrane_chunk_publish(chunk, 0, 8, nullptr, TERRANE_TRY) == TERRANE_EINVAL);
  EXPECT(terrane_chunk_publish({77}, 0, 8, &scope, TERRANE_TRY) == TERRANE_EINVAL);
  EXPECT(terrane_chunk_release(nullptr) == TERRANE_EINVAL);
  scope = {};
  EXPECT(terrane_chunk_release(&scope) == TERRANE_ENOTHELD && error_says("never opened"));
  scope = open(chunk, TERRANE_CHUNK_READ);
  terrane_scope copy = scope;
  release(scope);
  EXPECT(terrane_chunk_release(&copy) == TERRANE_ENOTHELD && error_says("already"));
  EXPECT(terrane_chunk_subscribe(chunk, TERRANE_CHUNK_BLOCK, 1, nullptr, nullptr) ==
         TERRANE_EINVAL);
  EXPECT(error_says("invalidate"));
  other = create("pushed", 64, TERRANE_CHUNK_UPDATE);
  EXPECT(terrane_chunk_subscribe(other, TERRANE_CHUNK_BLOCK, 1025, nullptr, nullptr) ==
         TERRANE_EINVAL);
  EXPECT(terrane_chunk_take(other, TERRANE_TRY, &scope) == TERRANE_EENDED);
  other = create("wide", 4 << 20, TERRANE_CHUNK_STREAM);
  EXPECT(terrane_chunk_subscribe(other, TERRANE_CHUNK_BLOCK, 1024, nullptr, nullptr) ==
         TERRANE_ENOMEM);
  EXPECT(error_says("1028 buffers of 4194304 bytes"));
  EXPECT(terrane_chunk_bytes({99}) == 0);
  scope = open(create("mine " + std::to_string(self()), 8), TERRANE_CHUNK_WRITE);
  EXPECT(terrane_chunks_finalize() == TERRANE_ESTATE && error_says("mine"));
  release(scope);
}

// A chunk that this node has neither created nor found.
void unknown_chunk() {
  terrane_chunk none{99};
  terrane_scope scope;
  EXPECT(terrane_chunk_take(none, TERRANE_TRY, &scope) == TERRANE_EINVAL);
  EXPECT(error_says("0x63 is no chunk that this node has created or found"));
  EXPECT(terrane_chunk_descriptor(none) == TERRANE_EINVAL);
  EXPECT(terrane_chunk_unsubscribe(none) == TERRANE_EINVAL);
}

// The last node looks at more at a time than it has memory for: it gets an error, and loses
// nothing.
void cramped() {
  constexpr int kChunks = 24;
  bool last = self() == nodes() - 1;
  for (int c = 0; c < kChunks; ++c) {
    terrane_chunk chunk = create("cramped " + std::to_string(c), 64 << 10);
    if (c % nodes() != self()) continue;
    terrane_scope scope = open(chunk, TERRANE_CHUNK_WRITE);
    fill(scope, static_cast<std::uint64_t>(c + 1));
    release(scope);
  }
  meet("written");
  for (int round = 0; last && round < 3; ++round) {
    std::vector<terrane_scope> held;
    int refused = 0;
    for (int c = 0; c < kChunks; ++c) {
      terrane_scope scope;
      terrane_chunk chunk = create("cramped " + std::to_string(c), 64 << 10);
      int status = terrane_chunk_open(chunk, TERRANE_CHUNK_READ, TERRANE_FOREVER, &scope);
      if (status == TERRANE_OK) {
        EXPECT(whole(scope) == static_cast<std::uint64_t>(c + 1));
        held.push_back(scope);
      } else {
        EXPECT(status == TERRANE_ENOMEM && error_says("cramped") && error_says("--memory"));
        ++refused;
      }
    }
    EXPECT(refused > 0 && !held.empty());
    for (terrane_scope& scope : held) release(scope);
    for (int c = 0; c < kChunks; ++c) {
      terrane_scope scope =
          open(create("cramped " + std::to_string(c), 64 << 10), TERRANE_CHUNK_READ_WRITE);
      EXPECT(whole(scope) == static_cast<std::uint64_t>(c + 1));
      release(scope);
    }
  }
  meet("read");
}

// A scope that is held for long: the error says by which node, and since when.
void held() {
  terrane_chunk chunk = create("held", 64);
  terrane_scope scope;
  if (self() == 1) scope = open(chunk, TERRANE_CHUNK_WRITE);
  meet("held");
  // Also while another node waits.
  for (int tries = 0; self() != 1 && tries < 3; ++tries) {
    EXPECT(terrane_chunk_open(chunk, TERRANE_CHUNK_READ, TERRANE_TRY, &scope) == TERRANE_EBUSY);
    EXPECT(terrane_chunk_open(chunk, TERRANE_CHUNK_READ, kSecond / 5, &scope) == TERRANE_ETIMEDOUT);
    EXPECT(error_says("node 1 on") && error_says("write scope for 0."));
  }
  meet("told");
  if (self() == 1) release(scope);
  scope = open(chunk, TERRANE_CHUNK_READ);
  release(scope);
}

// A scope that is held longer than the others have patience.
void held_long() {
  terrane_chunk chunk = create("held", 64);
  terrane_scope scope;
  if (self() == 1) scope = open(chunk, TERRANE_CHUNK_WRITE);
  meet("held");
  if (self() == 1) {
    terrane_chunk nothing;
    EXPECT(terrane_chunk_find("nothing", 2 * kSecond, &nothing) == TERRANE_ETIMEDOUT);
  } else {
    scope = open(chunk, TERRANE_CHUNK_READ);
  }
  release(scope);
}

}  // namespace terrane::chunks_test
