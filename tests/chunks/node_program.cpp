// A node of a job of chunks; what it does is named by its argument. Prints "good".
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

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

// Parts of a chunk: each node writes its own, and hears of its neighbour's alone.
void parts() {
  constexpr std::uint64_t kVersions = 20;
  const auto part = static_cast<std::size_t>(8000);
  auto all = static_cast<std::size_t>(nodes());
  auto me = static_cast<std::size_t>(self()), other = (me + 1) % all;
  terrane_chunk chunk = create("parts", part * all, TERRANE_CHUNK_STREAM);
  EXPECT_OK(terrane_chunk_subscribe_range(chunk, other * part, part, TERRANE_CHUNK_BLOCK, 2,
                                          nullptr, nullptr));
  meet("ready");
  std::thread writer([&] {
    std::vector<std::uint64_t> words(part / 8);
    for (std::uint64_t v = 1; v <= kVersions; ++v) {
      if (v % 2 == 0) {
        for (std::uint64_t& word : words) word = v;
        EXPECT_OK(terrane_chunk_publish(chunk, me * part, part, words.data(), TERRANE_FOREVER));
        continue;
      }
      terrane_scope scope;
      EXPECT_OK(terrane_chunk_open_range(chunk, TERRANE_CHUNK_WRITE, me * part, part,
                                         TERRANE_FOREVER, &scope));
      EXPECT(scope.bytes == part && scope.offset == me * part);
      fill(scope, v);
      release(scope);
    }
  });
  for (std::uint64_t v = 1; v <= kVersions; ++v) {
    terrane_scope scope;
    EXPECT_OK(terrane_chunk_take(chunk, 20 * kSecond, &scope));
    EXPECT(scope.bytes == part && scope.offset == other * part && scope.missed == 0);
    EXPECT(scope.changed_offset == other * part && scope.changed_bytes == part);
    EXPECT(whole(scope) == v);
    release(scope);
  }
  writer.join();
  meet("done");
  for (std::size_t n = 0; n < all; ++n) {
    terrane_scope scope;
    EXPECT_OK(terrane_chunk_open_range(chunk, TERRANE_CHUNK_READ, n * part, part, TERRANE_FOREVER,
                                       &scope));
    EXPECT(nodes() == 1 || scope.version >= kVersions);
    release(scope);
  }
}

// Parts of a chunk that is not pushed: each node changes its own, and none is lost.
void shared_parts() {
  auto all = static_cast<std::size_t>(nodes());
  auto me = static_cast<std::size_t>(self());
  terrane_chunk chunk = create("shared parts", 64 * all);
  for (std::uint64_t v = 1; v <= 50; ++v) {
    terrane_scope scope;
    EXPECT_OK(
        terrane_chunk_open_range(chunk, TERRANE_CHUNK_WRITE, 64 * me, 64, TERRANE_FOREVER, &scope));
    fill(scope, v);
    release(scope);
  }
  meet("written");
  terrane_scope scope = open(chunk, TERRANE_CHUNK_READ);
  EXPECT(scope.offset == 0 && scope.bytes == 64 * all && whole(scope) == 50);
  release(scope);
}

// A chain that all make at once, each writes a share of, and all append to.
void chains() {
  auto all = static_cast<std::size_t>(nodes()), me = static_cast<std::size_t>(self());
  terrane_chain chain, found;
  int created = 0;
  EXPECT_OK(
      terrane_chain_create("chain", 8000 * 10, 8000, TERRANE_CHUNK_INVALIDATE, &chain, &created));
  EXPECT_OK(terrane_chain_find("chain", TERRANE_TRY, &found));
  EXPECT(found.id == chain.id);
  if (created) create("chain's maker", 8);
  terrane_chunk piece;
  for (std::size_t i = me; i < 10; i += all) {
    EXPECT_OK(terrane_chain_piece(chain, i, &piece));
    EXPECT(terrane_chunk_bytes(piece) == 8000);
    terrane_scope scope = open(piece, TERRANE_CHUNK_WRITE);
    fill(scope, i + 1);
    release(scope);
  }
  std::size_t first = 0;
  EXPECT_OK(terrane_chain_append(chain, 16'000, &first));
  EXPECT(first >= 10 && first % 2 == 0);
  for (std::size_t i = first; i < first + 2; ++i) {
    EXPECT_OK(terrane_chain_piece(chain, i, &piece));
    terrane_scope scope = open(piece, TERRANE_CHUNK_WRITE);
    fill(scope, i + 1);
    release(scope);
  }
  meet("chained");
  EXPECT_OK(terrane_chunk_find("chain's maker", TERRANE_TRY, &piece));
  terrane_chain_shape shape;
  EXPECT_OK(terrane_chain_look(chain, &shape));
  EXPECT(shape.bytes == 80'000 + 16'000 * all && shape.pieces == 10 + 2 * all);
  EXPECT(shape.piece_bytes == 8000 && shape.coherence == TERRANE_CHUNK_INVALIDATE);
  for (std::size_t i = 0; i < shape.pieces; ++i) {
    EXPECT_OK(terrane_chain_piece(chain, i, &piece));
    terrane_scope scope = open(piece, TERRANE_CHUNK_READ);
    EXPECT(whole(scope) == i + 1);
    release(scope);
  }
  EXPECT(terrane_chain_piece(chain, shape.pieces, &piece) == TERRANE_EINVAL);
  EXPECT(error_says("there is no piece"));
}

// Who looks for a chain waits until it has all its pieces.
void awaited_chain() {
  terrane_chain chain;
  if (self() == 0) {
    meet("asked");
    EXPECT_OK(terrane_chain_create("awaited", 1001, 100, TERRANE_CHUNK_STREAM, &chain, nullptr));
  } else {
    EXPECT(terrane_chain_find("awaited", TERRANE_TRY, &chain) == TERRANE_EUNKNOWN);
    meet("asked");
    EXPECT_OK(terrane_chain_find("awaited", TERRANE_FOREVER, &chain));
  }
  terrane_chunk last;
  EXPECT_OK(terrane_chain_piece(chain, 10, &last));
  EXPECT(terrane_chunk_bytes(last) == 1);
  EXPECT(terrane_chain_append(chain, 100, nullptr) == TERRANE_EINVAL);
  EXPECT(error_says("its last piece has 1 of 100 bytes"));
}

void misused_chains() {
  terrane_chain chain;
  terrane_chunk chunk;
  auto made = [&](const char* name, std::uint64_t bytes, std::size_t piece) {
    return terrane_chain_create(name, bytes, piece, TERRANE_CHUNK_INVALIDATE, &chain, nullptr);
  };
  EXPECT(made("none", 0, 8) == TERRANE_EINVAL && error_says("0 bytes"));
  EXPECT(made("none", 8, 0) == TERRANE_EINVAL && error_says("pieces of 0 bytes"));
  EXPECT(made("many", 1u << 30, 1) == TERRANE_EINVAL && error_says("make them larger"));
  EXPECT(made("huge", ~0ull, 1u << 30) == TERRANE_EINVAL);
  EXPECT(made("", 8, 8) == TERRANE_EINVAL && made(nullptr, 8, 8) == TERRANE_EINVAL);
  EXPECT(made(std::string(201, 'n').c_str(), 8, 8) == TERRANE_EINVAL);
  std::string crowded = "crowded " + std::to_string(self());
  EXPECT(made(crowded.c_str(), 1ull << 33, 1u << 28) == TERRANE_ENOMEM);
  EXPECT(error_says("of 32 pieces could be made") && error_says("--memory"));
  EXPECT(terrane_chain_find(crowded.c_str(), TERRANE_TRY, &chain) == TERRANE_EUNKNOWN);
  EXPECT(terrane_chain_find("no chain", kSecond / 100, &chain) == TERRANE_ETIMEDOUT);
  EXPECT_OK(made("shaped", 100, 10));
  EXPECT(made("shaped", 100, 20) == TERRANE_EMISMATCH && error_says("pieces of 10"));
  EXPECT(terrane_chain_append(chain, 0, nullptr) == TERRANE_EINVAL);
  chain.id = create("no chain either", 8).id;
  EXPECT(terrane_chain_piece(chain, 0, &chunk) == TERRANE_EINVAL && error_says("is no chain"));
}

// A chunk that keeps to one coherence after the other while all nodes use it.
void hints() {
  terrane_chunk chunk = create("hinted", 5000, TERRANE_CHUNK_INVALIDATE);
  std::uint64_t written = 0;
  int round = 0;
  for (auto coherence : {TERRANE_CHUNK_UPDATE, TERRANE_CHUNK_INVALIDATE, TERRANE_CHUNK_STREAM,
                         TERRANE_CHUNK_UPDATE, TERRANE_CHUNK_INVALIDATE}) {
    for (int i = 0; i < 20; ++i) {
      terrane_scope scope = open(chunk, TERRANE_CHUNK_READ_WRITE);
      fill(scope, whole(scope) + 1);
      EXPECT(whole(scope) == scope.version + 1);
      release(scope);
      if (i == 10 && self() == round % nodes())
        EXPECT_OK(terrane_chunk_hint(chunk, coherence, TERRANE_FOREVER));
    }
    written += static_cast<std::uint64_t>(20 * nodes());
    meet("hint " + std::to_string(round++));
    if (coherence == TERRANE_CHUNK_INVALIDATE) {
      terrane_scope scope = open(chunk, TERRANE_CHUNK_READ);
      EXPECT(whole(scope) == written && scope.version == written);
      release(scope);
      EXPECT(terrane_chunk_subscribe(chunk, TERRANE_CHUNK_BLOCK, 2, nullptr, nullptr) ==
             TERRANE_EINVAL);
    } else {
      EXPECT_OK(terrane_chunk_subscribe(chunk, TERRANE_CHUNK_LATEST, 1, nullptr, nullptr));
      for (std::uint64_t last = 0; last < written;) {
        terrane_scope scope;
        EXPECT_OK(terrane_chunk_take(chunk, 20 * kSecond, &scope));
        last = whole(scope);
        release(scope);
      }
      meet("taken " + std::to_string(round));
      EXPECT_OK(terrane_chunk_unsubscribe(chunk));
    }
    meet("used " + std::to_string(round));
  }
}

// A subscription ends where the chunk is pushed no more; who polls hears of that, too.
void hinted_subscription() {
  terrane_chunk chunk = create("ended", 64, TERRANE_CHUNK_STREAM);
  EXPECT_OK(terrane_chunk_subscribe(chunk, TERRANE_CHUNK_BLOCK, 2, nullptr, nullptr));
  int fd = terrane_chunk_descriptor(chunk);
  terrane_scope scope;
  EXPECT(terrane_chunk_take(chunk, TERRANE_TRY, &scope) == TERRANE_EBUSY);
  meet("subscribed");
  if (self() == 0) EXPECT_OK(terrane_chunk_hint(chunk, TERRANE_CHUNK_INVALIDATE, TERRANE_FOREVER));
  pollfd wait{fd, POLLIN, 0};
  EXPECT(::poll(&wait, 1, 20'000) == 1);
  EXPECT(terrane_chunk_take(chunk, TERRANE_FOREVER, &scope) == TERRANE_EENDED);
  meet("ended");
  EXPECT_OK(terrane_chunk_hint(chunk, TERRANE_CHUNK_UPDATE, TERRANE_FOREVER));
  EXPECT_OK(terrane_chunk_subscribe(chunk, TERRANE_CHUNK_BLOCK, 2, nullptr, nullptr));
  meet("again");
  if (self() == 0) {
    scope = open(chunk, TERRANE_CHUNK_WRITE);
    fill(scope, 7);
    release(scope);
  }
  EXPECT_OK(terrane_chunk_take(chunk, 20 * kSecond, &scope));
  EXPECT(whole(scope) == 7);
  release(scope);
  terrane_chunk held = create("held " + std::to_string(self()), 64);
  scope = open(held, TERRANE_CHUNK_WRITE);
  EXPECT(terrane_chunk_hint(held, TERRANE_CHUNK_STREAM, kSecond / 100) == TERRANE_ETIMEDOUT);
  EXPECT(error_says("has held a write scope") && error_says("once it can"));
  release(scope);
  EXPECT_OK(terrane_chunk_hint(held, TERRANE_CHUNK_STREAM, TERRANE_FOREVER));
  EXPECT(terrane_chunk_hint(held, static_cast<terrane_chunk_coherence>(4), 0) == TERRANE_EINVAL);
  EXPECT(terrane_chunk_hint({77}, TERRANE_CHUNK_UPDATE, 0) == TERRANE_EINVAL);
}

// All want to write what is written once; one does, and the others are told who.
void once() {
  constexpr int kThreads = 3;
  for (int round = 0; round < 10; ++round) {
    terrane_chunk chunk = create("once " + std::to_string(round), 4000, TERRANE_CHUNK_ONCE);
    terrane_chunk wrote = create("wrote " + std::to_string(round), 8);
    EXPECT_OK(terrane_chunk_subscribe(chunk, TERRANE_CHUNK_BLOCK, 1, nullptr, nullptr));
    meet("once " + std::to_string(round));
    std::vector<std::thread> threads;
    std::atomic<int> refused{0};
    std::string who;
    std::mutex mutex;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&] {
        terrane_scope scope;
        int status = terrane_chunk_open(chunk, TERRANE_CHUNK_WRITE, TERRANE_FOREVER, &scope);
        if (status == TERRANE_EWRITTEN) {
          std::lock_guard hold(mutex);
          who = terrane_chunks_error();
          ++refused;
          return;
        }
        EXPECT_OK(status);
        fill(scope, static_cast<std::uint64_t>(self() + 1));
        release(scope);
        scope = open(wrote, TERRANE_CHUNK_READ_WRITE);
        ++*static_cast<std::uint64_t*>(scope.data);
        release(scope);
      });
    for (std::thread& thread : threads) thread.join();
    terrane_scope scope;
    EXPECT_OK(terrane_chunk_take(chunk, 20 * kSecond, &scope));
    EXPECT(scope.version == 1);
    std::uint64_t writer = whole(scope) - 1;
    release(scope);
    EXPECT(refused >= kThreads - 1 &&
           (refused == kThreads || writer == static_cast<std::uint64_t>(self())));
    std::string sentence = "it is written once, and node " + std::to_string(writer) + " on ";
    EXPECT(who.find(sentence) != std::string::npos);
    meet("written " + std::to_string(round));
    scope = open(wrote, TERRANE_CHUNK_READ);
    EXPECT(whole(scope) == 1);
    release(scope);
  }
  terrane_chunk frozen = create("frozen " + std::to_string(self()), 8);
  terrane_scope scope = open(frozen, TERRANE_CHUNK_WRITE);
  fill(scope, 5);
  release(scope);
  EXPECT_OK(terrane_chunk_hint(frozen, TERRANE_CHUNK_ONCE, TERRANE_FOREVER));
  EXPECT(terrane_chunk_open(frozen, TERRANE_CHUNK_WRITE, TERRANE_TRY, &scope) == TERRANE_EWRITTEN);
  EXPECT(error_says("written before it became so"));
  scope = open(frozen, TERRANE_CHUNK_READ);
  EXPECT(whole(scope) == 5);
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
  if (mode == "parts") shared_parts();
  if (mode == "chains") chains();
  if (mode == "chains") awaited_chain();
  if (mode == "misused-chains") misused_chains();
  if (mode == "hints") hints();
  if (mode == "hints") hinted_subscription();
  if (mode == "once") once();
  if (mode == "stalled") stalled();
  if (mode == "misuse") misuse();
  if (mode == "held") held();
  if (mode == "meetings") meetings();
  if (mode == "crowded") crowded();
  if (mode == "death") death();
  if (mode == "server-death") server_death();
  EXPECT_OK(terrane_chunks_finalize());
  EXPECT(terrane_chunks_finalize() == TERRANE_ESTATE);
  std::puts("good");
  return 0;
}
