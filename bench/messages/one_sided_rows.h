#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "forked_nodes.h"
#include "messages/rows.h"
#include "platform/wait.h"

namespace terrane::bench {

inline constexpr std::uint64_t kOneSidedBytes = 1 << 20;
inline constexpr std::array<std::size_t, 2> kOneSidedStreamBytes = {64 << 10, 1 << 20};
inline constexpr std::uint64_t kFallAsleep_ns = 100'000;

enum class Wait : std::uint8_t { kPoll, kSleep };

// What both programs measure: node 0 puts to, gets from and adds to node 1, which polls or sleeps.
// `Side` has put_quiet, put_all, get and fetch_add for node 0, and serve_once(Wait) for node 1.
template <typename Side>
void measure_one_sided(conformance::Node& node, Side& side) {
  auto time = [&](const char* row, std::size_t bytes, Wait wait, auto call) {
    std::uint64_t count = wait == Wait::kSleep ? kSleptRoundTrips : kRoundTrips;
    std::uint64_t total_ns = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t start_ns = platform::now_ns();
      if (wait == Wait::kSleep) {
        while (platform::now_ns() - start_ns < kFallAsleep_ns) ::sched_yield();
        start_ns = platform::now_ns();
      }
      call();
      total_ns += platform::now_ns() - start_ns;
    }
    print_row(row, bytes, wait == Wait::kPoll ? "poll" : "sleep",
              static_cast<double>(total_ns) / static_cast<double>(count));
  };
  auto stream = [](const char* row, std::size_t bytes, auto call) {
    std::uint64_t count = stream_messages(bytes);
    std::uint64_t start_ns = platform::now_ns();
    call(count);
    print_row(row, bytes, "poll",
              static_cast<double>(platform::now_ns() - start_ns) / static_cast<double>(count));
  };
  for (Wait wait : {Wait::kPoll, Wait::kSleep}) {
    auto& over = node.board.words[wait == Wait::kPoll ? 0 : 1];
    if (node.self.value == 1) {
      while (over.load() == 0) side.serve_once(wait);
      continue;
    }
    for (int i = 0; i < 100; ++i) side.get(8);  // warm
    time("put+quiet", 8, wait, [&] { side.put_quiet(8); });
    time("get", 8, wait, [&] { side.get(8); });
    time("fetch-add", 8, wait, [&] { side.fetch_add(); });
    for (std::size_t bytes : kOneSidedStreamBytes) {
      if (wait == Wait::kSleep) break;
      stream("puts", bytes, [&](std::uint64_t count) { side.put_all(bytes, count); });
      stream("gets", bytes, [&](std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) side.get(bytes);
      });
    }
    over.store(1);
    side.put_quiet(8);  // wakes a sleeper
  }
  // Node 1 serves until that last put is complete: at the barrier it would answer nobody.
  auto& complete = node.board.words[2];
  if (node.self.value == 0) complete.store(1);
  while (complete.load() == 0) side.serve_once(Wait::kPoll);
  node.barrier();
}

}  // namespace terrane::bench
