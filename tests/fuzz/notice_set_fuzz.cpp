// Notice sets that anyone may have sent: those that are believed can be learned and passed on.
#include "base/check.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_reader.h"
#include "fuzz/input_writer.h"
#include "protocol/core/interval_log.h"

namespace terrane::fuzz {
namespace {

constexpr NodeId kSelf{1};

}  // namespace

void run_one(std::span<const std::byte> input) {
  InputReader reader(input);
  std::uint32_t nodes = 2 + reader.below(6);
  std::uint64_t blocks = reader.take<std::uint32_t>();
  protocol::IntervalLog log(nodes, 16);
  while (!reader.empty()) {
    std::span<const std::byte> part = reader.take_part();
    std::vector<std::byte> set(part.begin(), part.end());
    if (!log.believable(set, kSelf, blocks)) continue;
    log.learn(set);
    log.append(kSelf.value, log.timestamp()[kSelf.value] + 1, {{0, 1}});
    log.check_invariants();
    std::vector<std::byte> passed_on;
    log.write_since(protocol::VectorTimestamp(nodes, 0), passed_on);
    TERRANE_CHECK(wire::valid_notice_set(passed_on, nodes, std::max<std::uint64_t>(blocks, 1)),
                  "what is passed on is valid");
    TERRANE_CHECK(log.believable(passed_on, kSelf, std::max<std::uint64_t>(blocks, 1)),
                  "what is passed on says no more of ourselves than we do");
    log.forget(protocol::VectorTimestamp(nodes, reader.take<std::uint8_t>()));
  }
}

std::vector<Input> seeds() {
  std::vector<std::byte> set;
  wire::NoticeWriter writer(set);
  writer.entry(0, 0, 4);
  writer.record(2);
  writer.range({5, 3});
  writer.range({100, 1});
  writer.record(4);
  writer.entry(2, 3, 3);
  std::vector<std::byte> next;
  wire::NoticeWriter later(next);
  later.entry(0, 7, 9);
  later.record(8);
  later.range({0, 1000});
  return {InputWriter().byte(1).put(std::uint32_t{1000}).part(set).byte(1).part(next).input(),
          InputWriter().byte(0).put(std::uint32_t{64}).part({}).input()};
}

}  // namespace terrane::fuzz
