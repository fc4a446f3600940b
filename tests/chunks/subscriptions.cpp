// Versions that come by subscription.
#include <poll.h>

#include <atomic>
#include <string>

#include "modes.h"
#include "program.h"

namespace terrane::chunks_test {
namespace {

// The version that a reader of this node sees.
std::uint64_t newest(terrane_chunk chunk) {
  terrane_scope scope = open(chunk, TERRANE_CHUNK_READ);
  std::uint64_t version = scope.version;
  release(scope);
  return version;
}

// A writer, and subscribers by each policy.
void subscribe(terrane_chunk_coherence coherence, terrane_chunk_policy policy,
               std::uint32_t window) {
  constexpr std::uint64_t kVersions = 300;
  std::string name = "pushed " + std::to_string(coherence) + std::to_string(policy);
  terrane_chunk chunk = create(name, 20'000, coherence);
  if (self() != 0) EXPECT_OK(terrane_chunk_subscribe(chunk, policy, window, nullptr, nullptr));
  meet(name + " ready");
  if (self() == 0) {
    for (std::uint64_t v = 1; v <= kVersions; ++v) {
      terrane_scope scope = open(chunk, v % 3 ? TERRANE_CHUNK_WRITE : TERRANE_CHUNK_READ_WRITE);
      EXPECT(scope.version == v - 1);
      if (v % 3 == 0) EXPECT(whole(scope) == v - 1);
      fill(scope, v);
      release(scope);
    }
  }
  std::uint64_t last = 0;
  while (self() != 0 && last < kVersions) {
    terrane_scope scope;
    EXPECT_OK(terrane_chunk_take(chunk, 20 * kSecond, &scope));
    EXPECT(scope.version == last + 1 + scope.missed);
    EXPECT(policy != TERRANE_CHUNK_BLOCK || scope.missed == 0);
    EXPECT(whole(scope) == scope.version);
    // Sometimes it holds a version until the next has come.
    if (last % 50 == 0 && scope.version < kVersions)
      wait_until([&] { return newest(chunk) > scope.version; });
    EXPECT(whole(scope) == scope.version);
    last = scope.version;
    release(scope);
  }
  terrane_scope scope;
  EXPECT(self() == 0 || terrane_chunk_take(chunk, TERRANE_TRY, &scope) == TERRANE_EBUSY);
  if (self() != 0) EXPECT_OK(terrane_chunk_unsubscribe(chunk));
  EXPECT(terrane_chunk_take(chunk, TERRANE_TRY, &scope) == TERRANE_EENDED);
}

struct Heard {
  std::atomic<std::uint64_t> last{0}, calls{0};
};

void hear(const terrane_scope* scope, void* context) {
  auto* heard = static_cast<Heard*>(context);
  EXPECT(whole(*scope) == scope->version);
  EXPECT(scope->version == heard->last + 1 + scope->missed);
  heard->last = scope->version;
  ++heard->calls;
}

}  // namespace

void subscriptions() {
  for (auto coherence : {TERRANE_CHUNK_UPDATE, TERRANE_CHUNK_STREAM}) {
    bool measured = coherence == TERRANE_CHUNK_STREAM;
    subscribe(coherence, TERRANE_CHUNK_BLOCK, measured ? 0 : 1);
    subscribe(coherence, TERRANE_CHUNK_LATEST, measured ? 0 : 1);
    subscribe(coherence, TERRANE_CHUNK_DROP, measured ? 0 : 4);
  }
}

// What a writer has under way to a subscriber that takes nothing is the window, and what its home
// keeps: two versions where there is no network between, and as many as fit the way where there is.
void measured_window(bool far) {
  terrane_chunk chunk = create("small", 64, TERRANE_CHUNK_STREAM);
  bool subscribes = self() == nodes() - 1;
  if (subscribes)
    EXPECT_OK(terrane_chunk_subscribe(chunk, TERRANE_CHUNK_BLOCK, 0, nullptr, nullptr));
  meet("subscribed");
  std::uint64_t written = 0;
  terrane_scope scope;
  while (self() == 0 && terrane_chunk_open(chunk, TERRANE_CHUNK_WRITE, kSecond, &scope) == 0) {
    fill(scope, ++written);
    release(scope);
  }
  EXPECT(self() != 0 || (far ? written > 20 : written <= 8));
  meet("full");
  while (subscribes && terrane_chunk_take(chunk, kSecond, &scope) == 0) release(scope);
}

// Node 0 writes; the nodes of the other half subscribe. It sends each version once.
void crossing() {
  constexpr std::uint64_t kVersions = 20, kBytes = 100'000;
  for (int c = 0; c < 8; ++c) {
    terrane_chunk chunk = create("crossing " + std::to_string(c), kBytes, TERRANE_CHUNK_STREAM);
    bool subscribes = self() >= nodes() / 2;
    if (subscribes)
      EXPECT_OK(terrane_chunk_subscribe(chunk, TERRANE_CHUNK_BLOCK, 2, nullptr, nullptr));
    meet("subscribed " + std::to_string(c));
    terrane_chunk_counters before, after;
    EXPECT_OK(terrane_chunks_counters(&before));
    terrane_scope scope;
    for (std::uint64_t v = 1; v <= kVersions && self() == 0; ++v) {
      scope = open(chunk, TERRANE_CHUNK_WRITE);
      fill(scope, v);
      release(scope);
    }
    for (std::uint64_t v = 1; v <= kVersions && subscribes; ++v) {
      EXPECT_OK(terrane_chunk_take(chunk, 20 * kSecond, &scope));
      EXPECT(whole(scope) == v && scope.missed == 0);
      release(scope);
    }
    meet("taken " + std::to_string(c));
    EXPECT_OK(terrane_chunks_counters(&after));
    std::uint64_t sent = after.data_bytes_sent - before.data_bytes_sent;
    EXPECT(self() != 0 || (sent >= kVersions * kBytes && sent < (kVersions + 1) * kBytes));
  }
}

// A node that comes late reads the newest version, and gets it when it subscribes.
void late() {
  if (self() == 0) {
    terrane_chunk chunk = create("history", 4096, TERRANE_CHUNK_UPDATE);
    for (std::uint64_t v = 1; v <= 5; ++v) {
      terrane_scope scope = open(chunk, TERRANE_CHUNK_WRITE);
      fill(scope, v);
      release(scope);
    }
    create("written", 8);
  } else {
    terrane_chunk chunk;
    EXPECT_OK(terrane_chunk_find("written", TERRANE_FOREVER, &chunk));
    EXPECT_OK(terrane_chunk_find("history", TERRANE_TRY, &chunk));
    EXPECT(terrane_chunk_bytes(chunk) == 4096);
    // The last version may still be on its way to its server when "written" is there.
    terrane_scope scope;
    wait_until([&] {
      scope = open(chunk, TERRANE_CHUNK_READ);
      std::uint64_t version = whole(scope);
      release(scope);
      return version == 5;
    });
    EXPECT_OK(terrane_chunk_subscribe(chunk, TERRANE_CHUNK_BLOCK, 4, nullptr, nullptr));
    EXPECT_OK(terrane_chunk_take(chunk, TERRANE_FOREVER, &scope));
    EXPECT(whole(scope) == 5);
    release(scope);
  }
}

// Handlers and scopes in one program, and a descriptor.
void handlers() {
  constexpr std::uint64_t kVersions = 100;
  terrane_chunk heard_of = create("heard of", 2000, TERRANE_CHUNK_STREAM);
  terrane_chunk polled = create("polled", 2000, TERRANE_CHUNK_UPDATE);
  Heard heard;
  EXPECT_OK(terrane_chunk_subscribe(heard_of, TERRANE_CHUNK_BLOCK, 2, hear, &heard));
  EXPECT_OK(terrane_chunk_subscribe(polled, TERRANE_CHUNK_LATEST, 1, nullptr, nullptr));
  EXPECT(terrane_chunk_subscribe(polled, TERRANE_CHUNK_LATEST, 1, nullptr, nullptr) ==
         TERRANE_ESTATE);
  int fd = terrane_chunk_descriptor(polled);
  EXPECT(fd >= 0);
  meet("ready");
  for (std::uint64_t v = 1; self() == nodes() - 1 && v <= kVersions; ++v)
    for (terrane_chunk chunk : {heard_of, polled}) {
      terrane_scope scope = open(chunk, TERRANE_CHUNK_WRITE);
      fill(scope, v);
      release(scope);
    }
  for (std::uint64_t last = 0; last < kVersions;) {
    pollfd wait{fd, POLLIN, 0};
    EXPECT(::poll(&wait, 1, 20'000) == 1);
    terrane_scope scope;
    int status = terrane_chunk_take(polled, TERRANE_TRY, &scope);
    if (status == TERRANE_EBUSY) continue;
    EXPECT_OK(status);
    EXPECT(whole(scope) > last);
    last = whole(scope);
    release(scope);
  }
  wait_until([&] { return heard.last == kVersions; });
  EXPECT(heard.calls == kVersions);
  EXPECT_OK(terrane_chunk_unsubscribe(heard_of));
  EXPECT(terrane_chunk_descriptor(heard_of) == TERRANE_EENDED);
}

// A subscriber that does not take stops a writer, and memory stays bounded.
void stalled() {
  terrane_chunk chunk = create("stalled", 1 << 20, TERRANE_CHUNK_STREAM);
  if (self() == 1)
    EXPECT_OK(terrane_chunk_subscribe(chunk, TERRANE_CHUNK_BLOCK, 2, nullptr, nullptr));
  meet("ready");
  int written = 0;
  terrane_scope scope;
  while (self() == 0 && written < 100) {
    int status = terrane_chunk_open(chunk, TERRANE_CHUNK_WRITE, kSecond / 4, &scope);
    if (status == TERRANE_ETIMEDOUT) {
      EXPECT(error_says("has subscribed, and not taken the last"));
      break;
    }
    EXPECT_OK(status);
    fill(scope, scope.version + 1);
    release(scope);
    ++written;
  }
  EXPECT(self() != 0 || (written >= 3 && written <= 8));
  meet("stopped");
  if (self() == 0) {
    scope = open(chunk, TERRANE_CHUNK_WRITE);
    fill(scope, scope.version + 1);
    release(scope);
  } else if (self() == 1) {
    for (std::uint64_t v = 1; v <= 4; ++v) {
      EXPECT_OK(terrane_chunk_take(chunk, TERRANE_FOREVER, &scope));
      EXPECT(whole(scope) == v && scope.missed == 0);
      release(scope);
    }
  }
}

}  // namespace terrane::chunks_test
