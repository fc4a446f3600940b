// A node of a job of chunks; what it does is named by its argument. Prints "good".
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "modes.h"
#include "program.h"

namespace {

using namespace terrane::chunks_test;

// Every thread of every node makes versions; each is seen whole, and none is lost.
void scopes() {
  constexpr int kThreads = 3, kRounds = 200;
  std::vector<terrane_chunk> chunks;
  for (int c = 0; c < 5; ++c)
    chunks.push_back(create("scopes " + std::to_string(c), c == 0 ? 8 : 1000u << (2 * c)));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      std::vector<std::uint64_t> seen(chunks.size());
      for (int round = 0; round < kRounds; ++round) {
        std::size_t c = static_cast<std::size_t>(round * 7 + t + self()) % chunks.size();
        bool writes = (round + t) % 2 == 0;
        terrane_scope scope =
            open(chunks[c], writes ? TERRANE_CHUNK_READ_WRITE : TERRANE_CHUNK_READ);
        std::uint64_t now = whole(scope);
        EXPECT(now == scope.version);
        EXPECT(now >= seen[c]);
        if (writes) fill(scope, ++now);
        seen[c] = now;
        release(scope);
      }
    });
  for (std::thread& thread : threads) thread.join();
  meet("done");
  std::uint64_t all = 0;
  for (terrane_chunk chunk : chunks) {
    terrane_scope scope = open(chunk, TERRANE_CHUNK_READ);
    all += whole(scope);
    release(scope);
  }
  EXPECT(all == static_cast<std::uint64_t>(kThreads * kRounds / 2 * nodes()));
}

// Whoever writes all of it needs none of the old bytes.
void whole_writes() {
  terrane_chunk chunk = create("whole", 100'000);
  for (int round = 0; round < 50; ++round) {
    terrane_scope scope = open(chunk, TERRANE_CHUNK_WRITE);
    fill(scope, scope.version + 1);
    release(scope);
    scope = open(chunk, TERRANE_CHUNK_READ);
    EXPECT(whole(scope) == scope.version);
    release(scope);
    if (round % 10 == 0) EXPECT_OK(terrane_chunk_drop(chunk));
  }
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
    if (last % 50 == 0) ::usleep(2000);
    EXPECT(whole(scope) == scope.version);
    last = scope.version;
    release(scope);
  }
  terrane_scope scope;
  EXPECT(self() == 0 || terrane_chunk_take(chunk, TERRANE_TRY, &scope) == TERRANE_EBUSY);
  if (self() != 0) EXPECT_OK(terrane_chunk_unsubscribe(chunk));
  EXPECT(terrane_chunk_take(chunk, TERRANE_TRY, &scope) == TERRANE_EENDED);
}

void subscriptions() {
  for (auto coherence : {TERRANE_CHUNK_UPDATE, TERRANE_CHUNK_STREAM}) {
    subscribe(coherence, TERRANE_CHUNK_BLOCK, 1);
    subscribe(coherence, TERRANE_CHUNK_LATEST, 1);
    subscribe(coherence, TERRANE_CHUNK_DROP, 4);
  }
}

// Who comes late reads the newest version, and gets it when it subscribes.
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
    terrane_scope scope = open(chunk, TERRANE_CHUNK_READ);
    EXPECT(whole(scope) == 5);
    release(scope);
    EXPECT_OK(terrane_chunk_subscribe(chunk, TERRANE_CHUNK_BLOCK, 4, nullptr, nullptr));
    EXPECT_OK(terrane_chunk_take(chunk, TERRANE_FOREVER, &scope));
    EXPECT(whole(scope) == 5);
    release(scope);
  }
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
  for (int tries = 0; heard.last < kVersions && tries < 20'000; ++tries) ::usleep(1000);
  EXPECT(heard.calls == kVersions);
  EXPECT_OK(terrane_chunk_unsubscribe(heard_of));
  EXPECT(terrane_chunk_descriptor(heard_of) == TERRANE_EENDED);
}

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
    if (status == TERRANE_ETIMEDOUT) break;
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
  EXPECT(terrane_chunk_subscribe(other, TERRANE_CHUNK_BLOCK, 0, nullptr, nullptr) ==
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

// A scope that is held for long: who, and since when.
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
    EXPECT(terrane_chunk_find("nothing", kSecond, &nothing) == TERRANE_ETIMEDOUT);
  } else {
    scope = open(chunk, TERRANE_CHUNK_READ);
  }
  release(scope);
}

// Locks exclude, barriers hold everybody, signals are counted; several threads of each node.
void meetings() {
  constexpr int kThreads = 3, kRounds = 40;
  auto all = static_cast<std::uint32_t>(kThreads * nodes());
  terrane_chunk sum = create("sum", 8);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (std::uint64_t round = 1; round <= kRounds; ++round) {
        terrane_scope lock;
        EXPECT_OK(terrane_chunk_lock("lock", 20 * kSecond, &lock));
        terrane_scope scope = open(sum, TERRANE_CHUNK_READ);
        std::uint64_t before = whole(scope);
        release(scope);
        scope = open(sum, TERRANE_CHUNK_WRITE);
        fill(scope, before + 1);
        release(scope);
        release(lock);
        EXPECT_OK(terrane_chunk_barrier("barrier", all, 20 * kSecond));
        scope = open(sum, TERRANE_CHUNK_READ);
        EXPECT(whole(scope) >= before + 1);
        release(scope);
        std::uint64_t now = 0;
        EXPECT_OK(terrane_chunk_signal("signal", &now));
        EXPECT_OK(terrane_chunk_await("signal", round * all, 20 * kSecond, &now));
        EXPECT(now >= round * all && now <= (round + 1) * all);
      }
    });
  for (std::thread& thread : threads) thread.join();
  terrane_scope scope = open(sum, TERRANE_CHUNK_READ);
  EXPECT(whole(scope) == kRounds * all);
  release(scope);
  EXPECT(terrane_chunk_barrier("barrier", all + 1, TERRANE_TRY) == TERRANE_EMISMATCH);
  EXPECT(terrane_chunk_barrier("other", 0, TERRANE_TRY) == TERRANE_EINVAL);
  EXPECT(terrane_chunk_await("never", 1, kSecond / 100, nullptr) == TERRANE_ETIMEDOUT);
  EXPECT(error_says("0 have come of 1"));
  EXPECT(terrane_chunk_lock(nullptr, TERRANE_TRY, &scope) == TERRANE_EINVAL);
  EXPECT(terrane_chunk_lock(std::string(250, 'n').c_str(), TERRANE_TRY, &scope) == TERRANE_EINVAL);
}

// More than the budget for copies: they come and go, and nothing is lost.
void crowded() {
  constexpr int kChunks = 40;
  std::vector<terrane_chunk> chunks;
  for (int c = 0; c < kChunks; ++c) chunks.push_back(create("crowd " + std::to_string(c), 1 << 20));
  for (int round = 0; round < 3; ++round)
    for (int c = 0; c < kChunks; ++c) {
      terrane_scope scope = open(chunks[static_cast<std::size_t>((c + 11 * self()) % kChunks)],
                                 TERRANE_CHUNK_READ_WRITE);
      fill(scope, whole(scope) + 1);
      release(scope);
    }
  meet("done");
  for (terrane_chunk chunk : chunks) {
    terrane_scope scope = open(chunk, TERRANE_CHUNK_READ);
    EXPECT(whole(scope) == static_cast<std::uint64_t>(3 * nodes()));
    release(scope);
  }
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

}  // namespace

int main(int count, char** arguments) {
  std::string mode = count > 1 ? arguments[1] : "scopes";
  terrane_chunk chunk;
  EXPECT(terrane_chunk_find("early", TERRANE_TRY, &chunk) == TERRANE_ESTATE);
  EXPECT(error_says("before terrane_chunks_init"));
  EXPECT_OK(terrane_chunks_init());
  if (mode == "scopes") scopes();
  if (mode == "whole") whole_writes();
  if (mode == "subscriptions") subscriptions();
  if (mode == "late") late();
  if (mode == "handlers") handlers();
  if (mode == "parts") parts();
  if (mode == "chains") chains();
  if (mode == "misused-chains") misused_chains();
  if (mode == "hints") hints();
  if (mode == "once") once();
  if (mode == "leaver") leaver();
  if (mode == "goers") goers();
  if (mode == "hosts") hosts();
  if (mode == "guest") guest();
  if (mode == "stop") stop();
  if (mode == "dying-guest") dying_guest();
  if (mode == "stalled") stalled();
  if (mode == "misuse") misuse();
  if (mode == "held") held();
  if (mode == "held-long") held_long();
  if (mode == "meetings") meetings();
  if (mode == "crowded") crowded();
  if (mode == "death") death();
  if (mode == "server-death") server_death();
  EXPECT_OK(terrane_chunks_finalize());
  EXPECT(terrane_chunks_finalize() == TERRANE_ESTATE);
  std::puts("good");
  return 0;
}
