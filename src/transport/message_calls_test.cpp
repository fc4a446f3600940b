#include "transport/message_calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <vector>

namespace terrane::transport {
namespace {

constexpr std::size_t kRegionBytes = 256;
constexpr std::size_t kPieceBytes = 64;
constexpr NodeId kCaller{0}, kTarget{1};

// Two nodes in one thread. A message arrives when a caller waits.
class Pair {
 public:
  class Side final : public OneSided, public CallCarrier {
   public:
    Side(Pair& pair, NodeId self) : pair_(pair), self_(self) {}

    std::byte* reach(NodeId node, std::uint32_t region) override {
      return node == self_ && region == 0 ? memory.data() : nullptr;
    }
    std::uint64_t region_bytes(NodeId, std::uint32_t region) const override {
      return region == 0 ? memory.size() : 0;
    }
    void send_call(NodeId to, const CallHeader& header, Bytes data) override {
      std::vector<std::byte> call(sizeof header + data.size());
      std::memcpy(call.data(), &header, sizeof header);
      if (!data.empty()) std::memcpy(call.data() + sizeof header, data.data(), data.size());
      pair_.travelling.push_back({self_, to, std::move(call)});
    }
    void wait_until(const std::function<bool()>& done) override {
      while (!done()) ASSERT_TRUE(pair_.move());
    }
    bool is_in_receiver() const override { return in_receiver; }
    bool is_full(NodeId) const override { return pair_.travelling.size() > 2; }
    bool is_served(NodeId, std::uint32_t region) const override { return region == 0; }

   private:
    Pair& pair_;
    NodeId self_;

   public:
    std::array<std::byte, kRegionBytes> memory{};
    bool in_receiver = false;
    MessageCalls calls{*this, *this, self_, 2, kPieceBytes};
  };
  struct Travelling {
    NodeId from, to;
    std::vector<std::byte> call;
  };

  bool move() {
    if (travelling.empty()) return false;
    Travelling first = std::move(travelling.front());
    travelling.pop_front();
    longest = std::max(longest, first.call.size() - sizeof(CallHeader));
    MessageCalls& calls = (first.to == kCaller ? caller : target).calls;
    if (MessageCalls::is_answer(first.call)) return calls.take_answer(first.from, first.call);
    calls.serve(first.from, first.call);
    return true;
  }

  std::deque<Travelling> travelling;
  std::size_t longest = 0;
  Side caller{*this, kCaller}, target{*this, kTarget};
};

TEST(MessageCallsTest, PutsAndGetsGoInPiecesAndArriveWhole) {
  Pair pair;
  std::array<std::byte, 200> from{}, into{};
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i + 1);
  ASSERT_TRUE(pair.caller.calls.put(kTarget, {0, 8}, from).ok());
  ASSERT_TRUE(pair.caller.calls.flush(0, 2).ok());
  EXPECT_EQ(std::memcmp(pair.target.memory.data() + 8, from.data(), from.size()), 0);
  ASSERT_TRUE(pair.caller.calls.get(kTarget, {0, 8}, into).ok());
  EXPECT_EQ(from, into);
  EXPECT_EQ(pair.longest, kPieceBytes);
}

TEST(MessageCallsTest, AFlushWaitsForAtomicsWithoutAResult) {
  Pair pair;
  ASSERT_TRUE(pair.caller.calls.post(kTarget, {0, 16}, {AtomicOp::kAdd, 8, 3}).ok());
  ASSERT_TRUE(pair.caller.calls.flush(0, 2).ok());
  auto before = pair.caller.calls.fetch(kTarget, {0, 16}, {AtomicOp::kSwap, 8, 9});
  ASSERT_TRUE(before.ok());
  EXPECT_EQ(before.value(), 3u);
}

TEST(MessageCallsTest, TheTargetServesNothingOutsideOfItsRegion) {
  Pair pair;
  std::array<std::byte, 16> bytes{};
  EXPECT_FALSE(pair.caller.calls.get(kTarget, {0, kRegionBytes - 8}, bytes).ok());
  EXPECT_FALSE(pair.caller.calls.get(kTarget, {0, ~std::uint64_t{0} - 4}, bytes).ok());
  EXPECT_FALSE(pair.caller.calls.get(kTarget, {1, 0}, bytes).ok());
  EXPECT_FALSE(pair.caller.calls.fetch(kTarget, {0, 4}, {AtomicOp::kAdd, 8, 1}).ok());
}

TEST(MessageCallsTest, AnAnswerToNothingIsRefused) {
  Pair pair;
  CallHeader header{.kind = CallKind::kAnswer, .call = 7};
  EXPECT_FALSE(pair.caller.calls.take_answer(kTarget, std::as_bytes(std::span(&header, 1))));
  EXPECT_FALSE(pair.caller.calls.take_answer(kTarget, {}));
}

TEST(MessageCallsTest, AReceiverNeverWaitsAndALostPeerFailsCalls) {
  Pair pair;
  std::array<std::byte, 16> bytes{};
  pair.caller.in_receiver = true;
  EXPECT_FALSE(pair.caller.calls.get(kTarget, {0, 0}, bytes).ok());
  EXPECT_FALSE(pair.caller.calls.flush(0, 2).ok());
  for (int i = 0; i < 100; ++i)
    EXPECT_TRUE(pair.caller.calls.post(kTarget, {0, 0}, {AtomicOp::kAdd, 8, 1}).ok());
  pair.caller.in_receiver = false;
  pair.caller.calls.lose(kTarget);
  EXPECT_FALSE(pair.caller.calls.put(kTarget, {0, 0}, bytes).ok());
  EXPECT_FALSE(pair.caller.calls.flush(0, 2).ok());
}

}  // namespace
}  // namespace terrane::transport
