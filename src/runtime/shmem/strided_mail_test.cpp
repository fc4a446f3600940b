#include "runtime/shmem/strided_mail.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <vector>

namespace terrane::runtime::shmem {
namespace {

// Keeps what is sent.
class Box final : public transport::Transport {
 public:
  std::string_view name() const override { return "box"; }
  void send(NodeId, transport::Bytes head, transport::Bytes tail) override {
    auto& made = letters.emplace_back(head.begin(), head.end());
    made.insert(made.end(), tail.begin(), tail.end());
  }
  std::size_t poll(transport::Receiver&) override { return 0; }
  bool pending() const override { return false; }
  void sleep(std::uint64_t) override {}
  void attend() override {}
  bool unattend() override { return false; }
  void interrupt() override {}
  std::byte* reach(NodeId, std::uint32_t) override { return nullptr; }
  std::uint64_t region_bytes(NodeId, std::uint32_t) const override { return 0; }

  std::deque<std::vector<std::byte>> letters;
};

constexpr std::uint64_t kRoom = 3 << 20;

// PE 0 writes to and reads from PE 1.
class StridedMailTest : public testing::Test {
 protected:
  void carry() {
    while (!to_one_.letters.empty() || !to_zero_.letters.empty()) {
      deliver(to_one_, one_, NodeId{0});
      deliver(to_zero_, zero_, NodeId{1});
    }
  }
  void deliver(Box& box, StridedMail& mail, NodeId from) {
    if (box.letters.empty()) return;
    ++carried_;
    auto letter = std::move(box.letters.front());
    box.letters.pop_front();
    auto result = mail.received(from, letter);
    EXPECT_TRUE(result.ok()) << result.error().message;
  }
  std::byte* find(SymmetricAddress place, std::uint64_t bytes) {
    bool there =
        place.part == Part::kHeap && place.offset <= kRoom && bytes <= kRoom - place.offset;
    return there ? memory_.data() + place.offset : nullptr;
  }
  void fill(std::vector<std::byte>& bytes) {
    for (std::byte& one : bytes) one = static_cast<std::byte>(random_());
  }

  std::mt19937 random_{3};
  std::vector<std::byte> memory_ = std::vector<std::byte>(kRoom);
  Box to_one_, to_zero_;
  StridedMail zero_{to_one_, [](SymmetricAddress, std::uint64_t) { return nullptr; }};
  StridedMail one_{to_zero_, [this](SymmetricAddress a, std::uint64_t n) { return find(a, n); }};
  int carried_ = 0;
};

TEST_F(StridedMailTest, BlocksArriveWhereTheyShould) {
  std::vector<std::byte> source(kRoom), wanted(kRoom), back(kRoom), wanted_back(kRoom);
  for (int round = 0; round < 5; ++round) {
    std::uint64_t block = 1 + random_() % 40;
    auto distance = [&] { return static_cast<std::ptrdiff_t>(block + random_() % 20); };
    Strides strides{distance(), distance(), block, 1 + random_() % 40000};
    fill(source);
    fill(memory_);
    wanted = memory_;
    copy_strided(wanted.data() + 7, source.data(), strides);
    std::uint64_t ticket = zero_.put(NodeId{1}, {Part::kHeap, 7}, source.data(), strides);
    EXPECT_FALSE(zero_.done(ticket));
    carry();
    EXPECT_TRUE(zero_.done(ticket));
    EXPECT_TRUE(memory_ == wanted) << round;
    fill(back);
    wanted_back = back;
    copy_strided(wanted_back.data(), memory_.data(), strides);
    ticket = zero_.get(NodeId{1}, {Part::kHeap, 0}, back.data(), strides);
    carry();
    EXPECT_TRUE(zero_.done(ticket));
    EXPECT_TRUE(back == wanted_back) << round;
  }
}

TEST_F(StridedMailTest, ManyElementsTakeFewMessages) {
  std::vector<std::byte> source(kRoom);
  zero_.put(NodeId{1}, {Part::kHeap, 0}, source.data(), {64, 8, 8, 40000});
  carry();
  EXPECT_EQ(carried_, 4);  // two with blocks, two answers
}

TEST_F(StridedMailTest, AMessageThatIsWrongIsAnError) {
  std::vector<std::byte> source(64);
  zero_.put(NodeId{1}, {Part::kHeap, kRoom - 8}, source.data(), {16, 8, 8, 2});
  zero_.get(NodeId{1}, {Part::kControl, 0}, source.data(), {8, 16, 8, 2});
  zero_.get(NodeId{1}, {Part::kHeap, UINT64_MAX - 4}, source.data(), {8, 16, 8, 2});
  EXPECT_EQ(to_one_.letters.size(), 3u);
  for (const auto& letter : to_one_.letters) EXPECT_FALSE(one_.received(NodeId{0}, letter).ok());
  auto cut = to_one_.letters.front();
  cut.pop_back();
  EXPECT_FALSE(one_.received(NodeId{0}, cut).ok());
  cut.resize(5);
  EXPECT_FALSE(one_.received(NodeId{0}, cut).ok());
  std::vector<std::byte> noise(100, std::byte{0x5a});
  EXPECT_FALSE(one_.received(NodeId{0}, noise).ok());
}

}  // namespace
}  // namespace terrane::runtime::shmem
