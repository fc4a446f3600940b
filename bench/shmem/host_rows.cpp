// What gets, puts and atomics cost between PEs of two hosts, beside UCX's own between the same
// processes: samples of both in turn. By bench_shmem.py; by hand, in hosts of test_hosts:
//   terrane run -H h0:1,h1:1 terrane_bench_shmem_host_rows [INTERFACE]
// A row: row=NAME side=ours|UCX wait=poll|compute bytes=N ns=X. PE 1 waits in the library (poll),
// or does not call it (compute); of UCX's own, it polls.
#include <sched.h>
#include <shmem.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "shmem/sides.h"
#include "ucx_side.h"

namespace {

using terrane::bench::UcxSide;
namespace sides = terrane::bench::sides;

constexpr std::size_t kBytes = std::size_t{1} << 20;
constexpr int kTurns = 9;
// Calls in a sample: longer than waiting PEs poll; of those that stream, longer than a connection
// that was idle takes to find its speed again.
constexpr int kCalls = 1000, kStreamed = 200;

// What PE 1 does until the next command.
enum Command : long { kPolls = 1, kComputes, kServesUcx, kEnds };

long* command;  // symmetric: number of the command * 8 + the command
long commands;

void tell(Command what) {
  shmem_long_p(command, ++commands * 8 + what, 1);
  shmem_quiet();
}

void serve(UcxSide& ucx) {
  long seen = 0;
  auto* word = reinterpret_cast<volatile long*>(command);
  for (;;) {
    shmem_long_wait_until(command, SHMEM_CMP_NE, seen);
    seen = *word;
    if (seen % 8 == kEnds) return;
    while (seen % 8 == kComputes && *word == seen) {
      __builtin_ia32_pause();
    }
    for (unsigned turn = 1; seen % 8 == kServesUcx && *word == seen; ++turn) {
      if (ucx.progress() == 0 && turn % 500 == 0) sched_yield();
    }
  }
}

struct HostRow {
  const char* name;
  std::size_t bytes;
  int calls;
  std::function<void(int)> ours, ucx;  // so many calls
};

double time_of(const std::function<void(int)>& repeat, int calls) {
  double start = sides::now_ns();
  repeat(calls);
  return (sides::now_ns() - start) / calls;
}

std::vector<HostRow> rows_of(char* heap, char* here, UcxSide& ucx) {
  auto each = [](auto call) {
    return [call](int calls) {
      for (int i = 0; i < calls; ++i) call();
    };
  };
  auto* word = reinterpret_cast<long*>(heap);
  std::vector<HostRow> rows;
  rows.push_back({"get", 8, kCalls, each([=] { sides::sink = shmem_long_g(word, 1); }),
                  each([&ucx] { ucx.get(8); })});
  rows.push_back({"put+quiet", 8, kCalls, each([=] {
                    shmem_long_p(word, 1, 1);
                    shmem_quiet();
                  }),
                  each([&ucx] { ucx.put_quiet(8); })});
  rows.push_back({"fetch-add", 8, kCalls,
                  each([=] { sides::sink = shmem_long_atomic_fetch_add(word, 1, 1); }),
                  each([&ucx] { ucx.fetch_add(); })});
  rows.push_back({"gets", kBytes, kStreamed, each([=] { shmem_getmem(here, heap, kBytes, 1); }),
                  each([&ucx] { ucx.get(kBytes); })});
  rows.push_back({"puts", kBytes, kStreamed,
                  [=](int calls) {
                    for (int i = 0; i < calls; ++i) shmem_putmem(heap, here, kBytes, 1);
                    shmem_quiet();
                  },
                  [&ucx](int calls) { ucx.put_all(kBytes, static_cast<std::uint64_t>(calls)); }});
  return rows;
}

void measure(char* heap, UcxSide& ucx) {
  std::vector<char> here(kBytes, 1);
  std::map<std::string, std::vector<double>> samples;
  auto sample = [&](const HostRow& row, const char* side, const char* wait, int turn) {
    double ns = time_of(*side == 'o' ? row.ours : row.ucx, turn < 0 ? 5 : row.calls);
    std::string key = std::string("row=") + row.name + " side=" + side + " wait=" + wait +
                      " bytes=" + std::to_string(row.bytes);
    if (turn >= 0) samples[key].push_back(ns);
  };
  for (int turn = -1; turn < kTurns; ++turn) {
    for (const HostRow& row : rows_of(heap, here.data(), ucx)) {
      tell(kPolls);
      sample(row, "ours", "poll", turn);
      tell(kServesUcx);
      sample(row, "UCX", "poll", turn);
      tell(kComputes);
      sample(row, "ours", "compute", turn);
    }
  }
  tell(kEnds);
  for (auto& [key, values] : samples)
    std::printf("%s ns=%.1f\n", key.c_str(), sides::median(values));
}

// UCX's own two ends find each other through our symmetric memory.
std::unique_ptr<UcxSide> open_ucx(const char* devices, std::vector<std::byte>& memory) {
  auto* cards = static_cast<std::byte*>(shmem_malloc(2 * UcxSide::kCardBytes));
  auto opened = UcxSide::open(devices, memory);
  if (!opened) {
    std::fprintf(stderr, "host_rows: %s\n", opened.error().message.c_str());
    shmem_global_exit(1);
  }
  auto ucx = std::move(opened).value();
  int other = 1 - shmem_my_pe();
  shmem_putmem(cards, ucx->card().data(), UcxSide::kCardBytes, other);
  shmem_barrier_all();
  if (auto connected = ucx->connect(cards); !connected) {
    std::fprintf(stderr, "host_rows: %s\n", connected.error().message.c_str());
    shmem_global_exit(1);
  }
  return ucx;
}

}  // namespace

int main(int argc, char** argv) {
  shmem_init();
  if (shmem_n_pes() != 2) {
    std::fprintf(stderr, "host_rows: two PEs, each on a host of its own\n");
    shmem_global_exit(1);
  }
  auto* heap = static_cast<char*>(shmem_calloc(1, kBytes));
  command = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  std::vector<std::byte> memory(kBytes);
  {
    auto ucx = open_ucx(argc > 1 ? argv[1] : "eth0", memory);
    if (shmem_my_pe() == 0) {
      measure(heap, *ucx);
    } else {
      serve(*ucx);
    }
    shmem_barrier_all();
  }
  shmem_finalize();
}
