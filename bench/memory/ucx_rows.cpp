// What UCX itself does between two hosts, for bench_memory.py: node 0 asks, node 1 serves.
//   terrane run -H h0,h1 terrane_bench_memory_ucx_rows INTERFACE MIB PAGES
// Prints a line: stream_gbs= of messages of 64 KiB, and us of a request and its reply of 4 KiB,
// with a server that sleeps between them and with one that polls.
#include <terrane/pages.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ucx_floor.h"

namespace {

using terrane::bench::UcxFloor;

constexpr std::size_t kRoom = 4096;  // for an address
constexpr std::size_t kMessageBytes = 65536, kPageBytes = 4096;
constexpr int kInFlight = 16;

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "memory_ucx_rows: %s\n", what.c_str());
  std::exit(1);
}

std::unique_ptr<UcxFloor> meet(const char* devices) {
  auto opened = UcxFloor::open(devices);
  if (!opened) die(opened.error().message);
  std::unique_ptr<UcxFloor> floor = std::move(opened).value();
  auto* cards = static_cast<std::byte*>(terrane_alloc_all(2 * kRoom, nullptr));
  if (cards == nullptr || floor->address().size() > kRoom) die("no room for UCX's addresses");
  std::size_t self = terrane_node() == 0 ? 0 : kRoom;
  std::memcpy(cards + self, floor->address().data(), floor->address().size());
  terrane_barrier();
  std::vector<std::byte> other(cards + (kRoom - self), cards + (2 * kRoom - self));
  terrane_barrier();
  if (auto connected = floor->connect(other.data()); !connected) die(connected.error().message);
  return floor;
}

void ask(UcxFloor& floor, int messages, int pages) {
  floor.request_reply(kPageBytes, 10);  // connections are made by the first messages
  double bytes = static_cast<double>(kMessageBytes) * messages;
  floor.stream(kMessageBytes, kInFlight, messages / 10 + 1);
  std::printf("stream_gbs=%.3f ", bytes / floor.stream(kMessageBytes, kInFlight, messages));
  std::printf("polling_us=%.2f ", floor.request_reply(kPageBytes, pages) / 1e3);
  floor.stop_server();
  floor.request_reply(kPageBytes, 10);
  std::printf("asleep_us=%.2f\n", floor.request_reply(kPageBytes, pages) / 1e3);
  floor.stop_server();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) die("INTERFACE MIB PAGES");
  if (terrane_init() != TERRANE_OK || terrane_nodes() != 2) die("two nodes, each on a host");
  {
    auto floor = meet(argv[1]);
    if (terrane_node() == 0) {
      ask(*floor, std::atoi(argv[2]) * 16, std::atoi(argv[3]));
    } else {
      for (bool asleep : {false, true}) floor->serve(asleep);
    }
  }
  terrane_barrier();
  terrane_finalize();
}
