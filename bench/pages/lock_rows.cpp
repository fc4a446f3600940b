// A lock that all nodes want: how long the hand-off takes, how even it is, and which node overtakes
// which. Prints one line of key=value pairs. Usage: terrane run -n 8 terrane_bench_lock_rows
// [--times N]
#include <terrane/pages.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "platform/wait.h"

namespace {

using terrane::platform::now_ns;

constexpr std::uint32_t kLock = 5;
constexpr std::uint64_t kMaxNodes = 64;

struct Shared {
  std::uint64_t turns;
  std::uint64_t released_ns;  // when the last holder was about to unlock
  std::uint32_t holders[1 << 17];
  std::uint64_t handoff_ns[1 << 17];
  std::uint64_t asked_ns[1 << 17];
};

// The most turns of others that came before a node's although they asked after it did. A request
// that is on its way, or whose node has lost its processor before it was sent, counts as asked.
std::uint64_t most_overtaken(const Shared& shared) {
  std::uint64_t most = 0;
  for (std::uint64_t i = shared.turns / 4; i < shared.turns * 3 / 4; ++i) {
    std::uint64_t overtaken = 0;
    for (std::uint64_t j = i; j-- > 0 && shared.holders[j] != shared.holders[i];)
      if (shared.asked_ns[j] > shared.asked_ns[i]) ++overtaken;
    most = std::max(most, overtaken);
  }
  return most;
}

// The hand-offs from one node to another, sorted.
std::vector<std::uint64_t> between_nodes(const Shared& shared) {
  std::vector<std::uint64_t> moves;
  for (std::uint64_t i = 1; i < shared.turns; ++i)
    if (shared.holders[i] != shared.holders[i - 1]) moves.push_back(shared.handoff_ns[i]);
  std::sort(moves.begin(), moves.end());
  return moves;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t times = 2000;
  if (argc == 3 && std::strcmp(argv[1], "--times") == 0)
    times = std::strtoull(argv[2], nullptr, 10);
  if (terrane_init() != TERRANE_OK) return std::fprintf(stderr, "%s\n", terrane_error()), 1;
  auto nodes = static_cast<std::uint64_t>(terrane_nodes());
  if (nodes > kMaxNodes || times * nodes > (1 << 17)) {
    std::fprintf(stderr, "terrane_bench_lock_rows: at most 64 nodes and %d turns in all\n",
                 1 << 17);
    return 2;
  }
  auto* shared = static_cast<Shared*>(terrane_alloc_all(sizeof(Shared), nullptr));
  if (shared == nullptr) {
    std::fprintf(stderr, "terrane_bench_lock_rows: %s\n", terrane_error());
    return 1;
  }
  terrane_barrier();
  for (std::uint64_t i = 0; i < times; ++i) {
    std::uint64_t asked_ns = now_ns();
    terrane_lock(kLock);
    std::uint64_t turn = shared->turns++;
    shared->holders[turn] = static_cast<std::uint32_t>(terrane_node());
    shared->asked_ns[turn] = asked_ns;
    shared->handoff_ns[turn] = turn == 0 ? 0 : now_ns() - shared->released_ns;
    shared->released_ns = now_ns();
    terrane_unlock(kLock);
  }
  terrane_barrier();
  if (terrane_node() == 0) {
    std::vector<std::uint64_t> handoffs(shared->handoff_ns + 1, shared->handoff_ns + shared->turns);
    std::sort(handoffs.begin(), handoffs.end());
    std::vector<std::uint64_t> moves = between_nodes(*shared);
    std::printf(
        "row=lock-hand-off nodes=%llu median=%llu p99=%llu most_overtaken=%llu moves=%llu "
        "moved_median=%llu\n",
        static_cast<unsigned long long>(nodes),
        static_cast<unsigned long long>(handoffs[handoffs.size() / 2]),
        static_cast<unsigned long long>(handoffs[handoffs.size() * 99 / 100]),
        static_cast<unsigned long long>(most_overtaken(*shared)),
        static_cast<unsigned long long>(moves.size()),
        static_cast<unsigned long long>(moves.empty() ? 0 : moves[moves.size() / 2]));
  }
  return terrane_finalize() == TERRANE_OK ? 0 : 1;
}
