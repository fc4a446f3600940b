// What puts, gets and atomics cost between two processes by one of our transports. One turn.
//
//   terrane_bench_transport_one_sided_rows TRANSPORT

#include <cstdlib>
#include <vector>

#include "messages/one_sided_rows.h"

namespace terrane::bench {
namespace {

using conformance::require;

constexpr std::uint64_t kSleep_ns = 1'000'000'000;
constexpr NodeId kTarget{1};

struct Deaf final : transport::Receiver {
  void received(NodeId, transport::Bytes) override {}
  void lost(NodeId, std::string_view) override { std::_Exit(1); }
};

class Side {
 public:
  explicit Side(conformance::Node& node) : transport_(node.transport), buffer_(kOneSidedBytes) {}

  void put_quiet(std::size_t bytes) {
    require(transport_.put(kTarget, {0, 0}, {buffer_.data(), bytes}).ok(), "a put");
    require(transport_.quiet(kTarget).ok(), "a quiet");
  }
  void put_all(std::size_t bytes, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      require(transport_.put(kTarget, {0, 0}, {buffer_.data(), bytes}).ok(), "a put");
    }
    require(transport_.quiet(kTarget).ok(), "a quiet");
  }
  void get(std::size_t bytes) {
    require(transport_.get(kTarget, {0, 0}, {buffer_.data(), bytes}).ok(), "a get");
  }
  void fetch_add() {
    require(transport_.atomic_fetch(kTarget, {0, 0}, {transport::AtomicOp::kAdd, 8, 1}).ok(),
            "an addition");
  }
  void serve_once(Wait wait) {
    if (wait == Wait::kSleep) transport_.sleep(kSleep_ns);
    for (std::uint32_t i = 0; i < (wait == Wait::kSleep ? 1 : kSpins); ++i) transport_.poll(deaf_);
    if (wait == Wait::kPoll) ::sched_yield();
  }

 private:
  transport::Transport& transport_;
  std::vector<std::byte> buffer_;
  Deaf deaf_;
};

void measure(conformance::Node& node) {
  take_own_processor(node.self.value);
  Side side(node);
  measure_one_sided(node, side);
}

}  // namespace
}  // namespace terrane::bench

int main(int argc, char** argv) {
  std::string transport = argc > 1 ? argv[1] : "shm";
  auto wrong = terrane::conformance::run_job({.transport = transport,
                                              .region_bytes = {terrane::bench::kOneSidedBytes},
                                              .one_sided = true,
                                              .timeout_s = 300},
                                             [](auto& node) { terrane::bench::measure(node); });
  fmt::print(stderr, "{}", wrong);
  return wrong.empty() ? 0 : 1;
}
