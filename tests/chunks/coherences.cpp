#include <poll.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "modes.h"
#include "program.h"

namespace terrane::chunks_test {
namespace {

// A chunk that keeps to one coherence after the other while all nodes use it.
void changing_chunk() {
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

// A subscription ends where the chunk is pushed no more; a thread that polls hears of that, too.
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

// All threads want to write what is written once. One does, and the others are refused with its
// node.
void written_once() {
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

}  // namespace

void hints() {
  changing_chunk();
  hinted_subscription();
}

void once() { written_once(); }

}  // namespace terrane::chunks_test
