#include "partner.h"

#include <terrane/pages.h>

#include <atomic>
#include <cstring>
#include <thread>

namespace terrane::bench {
namespace {

constexpr std::size_t kRoom = 4096;
constexpr int kRequests = 256;  // of a sample, as many as a row has faults: both last as long

// Some microseconds of arithmetic.
void compute() {
  volatile double x = 1;
  for (int i = 0; i < 20'000; ++i) x = x * 1.0000001;
}

}  // namespace

base::Result<std::unique_ptr<Partner>> Partner::meet(std::uint8_t* shared, bool computes) {
  auto floor = UcxFloor::open("lo");
  if (!floor) return floor.error();
  auto self = static_cast<std::size_t>(terrane_node());
  const std::vector<std::byte>& address = floor.value()->address();
  if (address.size() > kRoom) return base::error("UCX's address is too long");
  std::memcpy(shared + self * kRoom, address.data(), address.size());
  terrane_barrier();
  std::vector<std::byte> other(kRoom);
  std::memcpy(other.data(), shared + (1 - self) * kRoom, kRoom);
  auto connected = floor.value()->connect(other.data());
  if (!connected) return connected.error();
  std::unique_ptr<Partner> partner(new Partner(std::move(floor).value(), computes));
  if (self == 0) partner->request_reply(0);  // connections are made by the first messages
  if (self == 1) partner->serve();
  terrane_barrier();
  return partner;
}

void Partner::pass_time() {
  if (!computes_) return;
  for (floor_->begin_waiting(); !floor_->was_stopped();) compute();
}

void Partner::measured() {
  if (computes_) floor_->stop_server();
}

void Partner::serve() {
  if (!computes_) {
    floor_->serve(false);
    return;
  }
  std::atomic<bool> done{false};
  std::thread server([&] {
    floor_->serve(true);
    done.store(true);
  });
  while (!done.load()) compute();
  server.join();
}

double Partner::request_reply(std::size_t bytes) {
  double sample = floor_->request_reply(bytes, kRequests);
  floor_->stop_server();
  return sample;
}

}  // namespace terrane::bench
