#include "transport/message_queue.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "base/prng.h"

namespace terrane::transport {
namespace {

std::vector<std::byte> numbered(std::size_t bytes, std::uint64_t number) {
  std::vector<std::byte> message(bytes);
  for (std::size_t i = 0; i < bytes; ++i) message[i] = static_cast<std::byte>(number * 7 + i);
  return message;
}

TEST(MessageQueueTest, MessagesComeOutAsTheyWentInHoweverTheyAreTaken) {
  base::Prng prng(5);
  MessageQueue queue;
  std::deque<std::vector<std::byte>> expected;
  for (std::uint64_t step = 0; step < 20'000; ++step) {
    if (prng.chance(50)) {
      expected.push_back(numbered(prng.below(prng.chance(5) ? 50'000 : 300), step));
      Bytes bytes(expected.back());
      std::size_t cut = bytes.empty() ? 0 : prng.below(static_cast<std::uint32_t>(bytes.size()));
      queue.push(bytes.size(), Gather(bytes.first(cut), bytes.subspan(cut)));
    } else if (!expected.empty()) {
      std::vector<std::byte> whole;
      ASSERT_EQ(queue.front().total_bytes, expected.front().size());
      for (;;) {
        Bytes rest = queue.front().rest;
        if (rest.empty()) break;
        std::size_t piece = 1 + prng.below(static_cast<std::uint32_t>(rest.size()));
        whole.insert(whole.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(piece));
        queue.take(piece);
      }
      ASSERT_EQ(whole, expected.front());
      queue.pop();
      expected.pop_front();
    }
    ASSERT_EQ(queue.empty(), expected.empty());
  }
}

TEST(MessageQueueTest, AMessageThatWasBegunKeepsItsTotal) {
  MessageQueue queue;
  auto message = numbered(100, 1);
  Gather rest(message, {});
  std::vector<std::byte> gone(60);
  rest.copy_to(gone.data(), gone.size());
  queue.push(100, rest);
  EXPECT_EQ(queue.front().total_bytes, 100u);
  EXPECT_EQ(queue.front().rest.size(), 40u);
  EXPECT_EQ(queue.front().rest[0], message[60]);
}

TEST(MessageQueueTest, SwapExchangesTheMessages) {
  MessageQueue one;
  MessageQueue two;
  one.push(0, Gather({}, {}));
  one.swap(two);
  EXPECT_TRUE(one.empty());
  EXPECT_FALSE(two.empty());
  two.pop();
  EXPECT_TRUE(two.empty());
}

}  // namespace
}  // namespace terrane::transport
