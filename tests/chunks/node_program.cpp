// A node of a job of chunks; what it does is named by its argument. Prints "good".
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

// A writer of the whole chunk needs none of the old bytes.
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
  EXPECT(error_says("0 of 1 signals have come"));
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
  if (mode == "window-near") measured_window(false);
  if (mode == "window-far") measured_window(true);
  if (mode == "late") late();
  if (mode == "crossing") crossing();
  if (mode == "handlers") handlers();
  if (mode == "parts") parts();
  if (mode == "chains") chains();
  if (mode == "misused-chains") misused_chains();
  if (mode == "hints") hints();
  if (mode == "once") once();
  if (mode == "placed") placed(false);
  if (mode == "placed-by-messages") placed(true);
  if (mode == "unplaced") unplaced();
  if (mode == "placed-death") placed_death();
  if (mode == "placed-leaver") placed_leaver();
  if (mode == "recorded") recorded();
  if (mode == "leaver") leaver();
  if (mode == "goers") goers();
  if (mode == "hosts") hosts();
  if (mode == "guest") guest();
  if (mode == "stop") stop();
  if (mode == "dying-guest") dying_guest();
  if (mode == "stalled") stalled();
  if (mode == "misuse") misuse();
  if (mode == "unknown-chunk") unknown_chunk();
  if (mode == "interrupted") interrupted();
  if (mode == "cramped") cramped();
  if (mode == "held") held();
  if (mode == "held-long") held_long();
  if (mode == "long-waits") long_waits();
  if (mode == "silent-server") silent_server();
  if (mode == "full-window") full_window();
  if (mode == "meetings") meetings();
  if (mode == "crowded") crowded();
  if (mode == "death") death();
  if (mode == "server-death") server_death();
  EXPECT_OK(terrane_chunks_finalize());
  EXPECT(terrane_chunks_finalize() == TERRANE_ESTATE);
  std::puts("good");
  return 0;
}
