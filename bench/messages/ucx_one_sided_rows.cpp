// What UCX's puts, gets and atomics cost by themselves between two processes, with the settings of
// our transport: the floor beside which it is measured. One turn.
//
//   terrane_bench_ucx_one_sided_rows

#include <poll.h>

#include <cstring>
#include <memory>

#include "messages/one_sided_rows.h"
#include "ucx_side.h"

namespace terrane::bench {
namespace {

using conformance::require;

constexpr int kSleep_ms = 1000;

// One of the two.
class Side {
 public:
  explicit Side(conformance::Node& node);

  void put_quiet(std::size_t bytes) { ucx_->put_quiet(bytes); }
  void put_all(std::size_t bytes, std::uint64_t count) { ucx_->put_all(bytes, count); }
  void get(std::size_t bytes) { ucx_->get(bytes); }
  void fetch_add() { ucx_->fetch_add(); }
  void serve_once(Wait wait);

 private:
  std::unique_ptr<UcxSide> ucx_;
};

Side::Side(conformance::Node& node) {
  auto opened = UcxSide::open("lo", {node.regions[0], kOneSidedBytes});
  require(opened.ok(), opened.ok() ? "" : opened.error().message);
  ucx_ = std::move(opened).value();
  auto* cards = reinterpret_cast<std::byte*>(node.board.text);
  static_assert(sizeof node.board.text >= 2 * UcxSide::kCardBytes);
  std::memcpy(cards + UcxSide::kCardBytes * node.self.value, ucx_->card().data(),
              UcxSide::kCardBytes);
  node.barrier();
  auto connected = ucx_->connect(cards + UcxSide::kCardBytes * (1 - node.self.value));
  require(connected.ok(), connected.ok() ? "" : connected.error().message);
}

void Side::serve_once(Wait wait) {
  if (wait == Wait::kSleep && ucx_->arm()) {
    pollfd watched{.fd = ucx_->event_fd(), .events = POLLIN, .revents = 0};
    ::poll(&watched, 1, kSleep_ms);
  }
  for (std::uint32_t i = 0; i < (wait == Wait::kSleep ? 1 : kSpins); ++i) ucx_->progress();
  if (wait == Wait::kPoll) ::sched_yield();
}

void measure(conformance::Node& node) {
  take_own_processor(node.self.value);
  Side side(node);
  measure_one_sided(node, side);
}

}  // namespace
}  // namespace terrane::bench

int main() {
  // The nodes find each other by shared memory, which is not measured.
  auto wrong = terrane::conformance::run_job(
      {.transport = "shm", .region_bytes = {terrane::bench::kOneSidedBytes}, .timeout_s = 300},
      [](auto& node) { terrane::bench::measure(node); });
  fmt::print(stderr, "{}", wrong);
  return wrong.empty() ? 0 : 1;
}
