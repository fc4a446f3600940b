// The launcher's side against hostile and unlucky nodes; ordinary jobs are in tests/launcher.
#include "bootstrap/relay.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

namespace terrane::bootstrap {
namespace {

// A node made of bare sockets, so that it can say what no real node would.
struct BareNode {
  base::UniqueFd place, channel, lifeline;
  PacketReader reader;

  void claim() {
    int pair[2], ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    channel.reset(pair[0]);
    lifeline.reset(ends[0]);
    base::UniqueFd theirs(pair[1]), write_end(ends[1]);
    const int fds[2] = {theirs.get(), write_end.get()};
    ASSERT_EQ(send_packet(place.get(), {.kind = MessageKind::kClaim}, {}, fds, 0),
              PacketStatus::kDone);
  }
  PacketStatus receive() { return reader.receive(channel.get(), MSG_DONTWAIT); }
  void send(MessageHeader header, std::string_view text = "") {
    send_text(channel.get(), header, text, 0);
  }
};

class RelayTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = Relay::create(map_, 0);
    ASSERT_TRUE(made.ok());
    relay_ = std::move(made).value();
    for (std::uint32_t node : {0u, 1u}) {
      auto place = relay_->open_place(NodeId{node});
      ASSERT_TRUE(place.ok());
      EXPECT_GE(place.value().get(), 100);
      nodes_[node].place = std::move(place).value();
    }
  }
  // Serves, and ends an exchange as the launcher of a job on one host does.
  std::vector<Relay::Change> serve() {
    std::vector<Relay::Change> changes;
    for (int i = 0; i < 4; ++i) {
      relay_->serve(changes);
      if (relay_->all_wait()) relay_->send_cards();
    }
    return changes;
  }
  void set_gone(std::uint32_t node) {
    std::vector<Relay::Change> changes;
    relay_->set_gone(NodeId{node}, changes);
  }
  void join_both() {
    for (BareNode& node : nodes_) {
      node.claim();
      serve();
      ASSERT_EQ(node.receive(), PacketStatus::kDone);
      ASSERT_EQ(node.reader.header().kind, MessageKind::kWelcome);
    }
  }
  const Place& place(std::uint32_t node) { return relay_->place(NodeId{node}); }

  JobMap map_ = map_of_one_host(2, "alpha");
  std::unique_ptr<Relay> relay_;
  BareNode nodes_[2];
};

constexpr MessageHeader kEmptyCard0{.kind = MessageKind::kCard, .node = 0};
constexpr MessageHeader kEmptyCard1{.kind = MessageKind::kCard, .node = 1};

TEST_F(RelayTest, AClaimIsAnsweredWithNumberMapAndNews) {
  nodes_[1].claim();
  EXPECT_EQ(serve(), (std::vector<Relay::Change>{{NodeId{1}, Relay::What::kJoined}}));
  ASSERT_EQ(nodes_[1].receive(), PacketStatus::kDone);
  EXPECT_EQ(nodes_[1].reader.header().node, 1u);
  EXPECT_EQ(decode_map(nodes_[1].reader.bytes()), map_);
  EXPECT_EQ(nodes_[1].reader.fds().size(), 1u);
  EXPECT_EQ(place(1).pid, ::getpid());
  EXPECT_EQ(place(0).presence, Place::Presence::kAbsent);
}

// Runs `test` in a child that has few descriptors and, where it was root, is nobody: the kernel
// holds root to no limit of descriptors on their way.
void as_nobody_with_few_descriptors(const std::function<void()>& test) {
  pid_t child = ::fork();
  if (child == 0) {
    rlimit files{200, 200};
    bool ready =
        ::setrlimit(RLIMIT_NOFILE, &files) == 0 && (::geteuid() != 0 || ::setuid(65534) == 0);
    if (ready) test();
    ::_exit(ready && !testing::Test::HasFailure() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// Takes up all that the user may have on their way.
class Flying {
 public:
  Flying() {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair_), 0);
    const std::vector<int> many(150, pair_[0]);
    auto send = [&] { return send_packet(pair_[0], {}, {}, many, MSG_DONTWAIT); };
    while (send() == PacketStatus::kDone) continue;
    EXPECT_EQ(send(), PacketStatus::kTooManyFlying);
  }
  ~Flying() {
    for (int fd : pair_) ::close(fd);
  }

 private:
  int pair_[2];
};

TEST_F(RelayTest, TheWelcomeWaitsForRoomForItsDescriptor) {
  as_nobody_with_few_descriptors([&] {
    nodes_[1].claim();
    {
      Flying all;
      EXPECT_EQ(serve(), (std::vector<Relay::Change>{{NodeId{1}, Relay::What::kJoined}}));
      EXPECT_TRUE(relay_->must_retry());
      EXPECT_EQ(nodes_[1].receive(), PacketStatus::kAgain);
    }
    while (nodes_[1].receive() == PacketStatus::kAgain) serve();
    EXPECT_EQ(nodes_[1].reader.header().kind, MessageKind::kWelcome);
    EXPECT_EQ(nodes_[1].reader.fds().size(), 1u);
    EXPECT_FALSE(relay_->must_retry());
  });
}

TEST_F(RelayTest, NonsenseOnAPlaceIsPassedOver) {
  for (const char* text : {"", "x", "0123456789012345678901234567890123456789"}) {
    ::send(nodes_[0].place.get(), text, strlen(text), 0);
  }
  send_text(nodes_[0].place.get(), {.kind = MessageKind::kClaim}, "without descriptors", 0);
  EXPECT_TRUE(serve().empty());
  nodes_[0].claim();
  EXPECT_EQ(serve().size(), 1u);
}

TEST_F(RelayTest, ASecondClaimIsRefusedAndTheFirstGoesOn) {
  join_both();
  BareNode rival;
  rival.place = std::move(nodes_[0].place);
  rival.claim();
  EXPECT_TRUE(serve().empty());
  ASSERT_EQ(rival.receive(), PacketStatus::kDone);
  EXPECT_EQ(rival.reader.header().kind, MessageKind::kRefused);
  EXPECT_EQ(rival.receive(), PacketStatus::kClosed);
  EXPECT_EQ(nodes_[0].receive(), PacketStatus::kAgain);
}

TEST_F(RelayTest, CardsGoToTheOthersOnceAllAreThere) {
  join_both();
  nodes_[0].send({.kind = MessageKind::kCard, .node = 0, .total_bytes = 4}, "zero");
  serve();
  EXPECT_EQ(nodes_[1].receive(), PacketStatus::kAgain);
  nodes_[1].send({.kind = MessageKind::kCard, .node = 1, .total_bytes = 3}, "one");
  serve();
  ASSERT_EQ(nodes_[1].receive(), PacketStatus::kDone);
  EXPECT_EQ(nodes_[1].reader.text(), "zero");
  ASSERT_EQ(nodes_[0].receive(), PacketStatus::kDone);
  EXPECT_EQ(nodes_[0].reader.text(), "one");
}

TEST_F(RelayTest, AMalformedMessageCostsItsSenderAloneItsChannel) {
  const MessageHeader malformed[] = {
      {.kind = MessageKind::kCard, .node = 1},  // another's card
      {.kind = MessageKind::kCard, .node = 0, .total_bytes = kMaxCardBytes + 1},
      {.kind = MessageKind::kCard, .node = 0, .total_fds = kMaxCardFds + 1},
      {.kind = MessageKind::kWelcome},
      {.kind = static_cast<MessageKind>(99)},
      {.magic = 1, .kind = MessageKind::kLeaving},
  };
  for (const MessageHeader& header : malformed) {
    SetUp();
    join_both();
    nodes_[0].send(header);
    serve();
    EXPECT_TRUE(place(0).failed);
    EXPECT_NE(place(0).sentence.find("malformed"), std::string::npos);
    EXPECT_EQ(nodes_[0].receive(), PacketStatus::kClosed);
    EXPECT_FALSE(place(1).failed);
    EXPECT_EQ(nodes_[1].receive(), PacketStatus::kAgain);
  }
}

TEST_F(RelayTest, MoreThanWasAnnouncedIsMalformed) {
  join_both();
  nodes_[0].send({.kind = MessageKind::kCard, .node = 0, .total_bytes = 2}, "three");
  serve();
  EXPECT_TRUE(place(0).failed);
}

TEST_F(RelayTest, ASecondCardBeforeTheFirstExchangeEndsIsMalformed) {
  join_both();
  nodes_[0].send(kEmptyCard0);
  nodes_[0].send(kEmptyCard0);
  serve();
  EXPECT_TRUE(place(0).failed);
}

TEST_F(RelayTest, TheOnlyNodeMayComeAgainBeforeItIsServed) {
  map_ = map_of_one_host(1, "alpha");
  relay_ = std::move(Relay::create(map_, 0)).value();
  nodes_[0].place = std::move(relay_->open_place(NodeId{0})).value();
  nodes_[0].claim();
  for (int time = 0; time < 3; ++time) {
    if (time > 0) nodes_[0].send({.kind = MessageKind::kLeaving});
    nodes_[0].send(kEmptyCard0);
  }
  std::vector<Relay::Change> changes = serve();
  EXPECT_FALSE(place(0).failed) << place(0).sentence;
  EXPECT_EQ(place(0).presence, Place::Presence::kJoined);
  EXPECT_EQ(
      std::count(changes.begin(), changes.end(), Relay::Change{NodeId{0}, Relay::What::kWaits}), 0);
}

TEST_F(RelayTest, LeavingAndFailingAreRemembered) {
  join_both();
  nodes_[0].send({.kind = MessageKind::kLeaving});
  nodes_[1].send({.kind = MessageKind::kFail, .code = 5}, "no memory");
  set_gone(1);  // what it said last is read first
  serve();
  EXPECT_EQ(place(0).presence, Place::Presence::kLeft);
  EXPECT_TRUE(place(1).failed);
  EXPECT_EQ(place(1).sentence, "no memory");
  EXPECT_EQ(place(1).code, 5);
}

TEST_F(RelayTest, AnExchangeThatCannotEndFailsForWhoWaits) {
  join_both();
  nodes_[0].send(kEmptyCard0);
  serve();
  relay_->fail_exchange("node 1 has ended");
  ASSERT_EQ(nodes_[0].receive(), PacketStatus::kDone);
  EXPECT_EQ(nodes_[0].reader.header().kind, MessageKind::kMissing);
  EXPECT_EQ(nodes_[0].reader.text(), "node 1 has ended");
}

TEST_F(RelayTest, CardsOfOtherHostsGoOutWithoutDescriptors) {
  map_ = {{"alpha", "beta"}, {0, 1, 0}};
  auto made = Relay::create(map_, 0);
  ASSERT_TRUE(made.ok());
  relay_ = std::move(made).value();
  for (std::uint32_t node : {0u, 2u}) {
    auto place = relay_->open_place(NodeId{node});
    ASSERT_TRUE(place.ok());
    nodes_[node / 2].place = std::move(place).value();
  }
  join_both();
  std::vector<Relay::Change> changes;
  for (std::uint32_t node : {0u, 2u}) {
    nodes_[node / 2].send({.kind = MessageKind::kCard, .node = node, .total_bytes = 1}, "x");
    relay_->serve(changes);
  }
  EXPECT_EQ(changes.back(), (Relay::Change{NodeId{2}, Relay::What::kWaits}));
  ASSERT_TRUE(relay_->all_wait());
  EXPECT_EQ(relay_->card(NodeId{2}).size(), 1u);
  EXPECT_EQ(nodes_[0].receive(), PacketStatus::kAgain);
  relay_->add_foreign(NodeId{1}, std::vector<std::byte>(3));
  relay_->send_cards();
  EXPECT_FALSE(relay_->all_wait());
  ASSERT_EQ(nodes_[1].receive(), PacketStatus::kDone);
  EXPECT_EQ(nodes_[1].reader.header().node, 0u);
  ASSERT_EQ(nodes_[1].receive(), PacketStatus::kDone);
  EXPECT_EQ(nodes_[1].reader.header().node, 1u);
  EXPECT_EQ(nodes_[1].reader.bytes().size(), 3u);
  EXPECT_TRUE(nodes_[1].reader.fds().empty());
}

TEST_F(RelayTest, ADeathThatTheJobSurvivesIsToldToTheOthers) {
  join_both();
  base::UniqueFd news = std::move(nodes_[0].reader.fds().at(0));
  relay_->tell_death(NodeId{1}, "killed");
  PacketReader reader;
  ASSERT_EQ(reader.receive(news.get(), MSG_DONTWAIT), PacketStatus::kDone);
  EXPECT_EQ(reader.header().node, 1u);
  EXPECT_EQ(reader.text(), "killed");
  EXPECT_EQ(reader.receive(news.get(), MSG_DONTWAIT), PacketStatus::kAgain);
}

TEST_F(RelayTest, WhoIsInTheJobIsAskedAndAnswers) {
  EXPECT_EQ(relay_->ask(), (std::vector<NodeId>{NodeId{0}, NodeId{1}}));
  join_both();
  base::UniqueFd news = std::move(nodes_[1].reader.fds()[0]);
  EXPECT_TRUE(relay_->ask().empty());
  ASSERT_EQ(nodes_[1].reader.receive(news.get(), MSG_DONTWAIT), PacketStatus::kDone);
  EXPECT_EQ(nodes_[1].reader.header().kind, MessageKind::kAsk);
  nodes_[1].send({.kind = MessageKind::kAnswer, .node = 1, .about = 2}, "counted");
  auto answered = std::vector<Relay::Change>{{NodeId{1}, Relay::What::kAnswered}};
  EXPECT_EQ(serve(), answered);
  auto answers = relay_->take_answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].of, 2u);
  EXPECT_EQ(answers[0].snapshot.size(), 7u);
  nodes_[1].send({.kind = MessageKind::kLeaving, .node = 1});
  serve();
  EXPECT_EQ(relay_->ask(), std::vector<NodeId>{NodeId{1}});
}

TEST_F(RelayTest, ANodeThatDoesNotAnswerIsSeldomAsked) {
  join_both();
  base::UniqueFd news = std::move(nodes_[1].reader.fds()[0]);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(relay_->ask().empty());
  int questions = 0;
  while (nodes_[1].reader.receive(news.get(), MSG_DONTWAIT) == PacketStatus::kDone) ++questions;
  EXPECT_EQ(questions, 11);
}

TEST_F(RelayTest, TheJobsEndMakesTheNewsReadableForEveryone) {
  join_both();
  for (BareNode& node : nodes_) {
    pollfd news{node.reader.fds().at(0).get(), POLLIN, 0};
    EXPECT_EQ(::poll(&news, 1, 0), 0);
  }
  relay_->announce_end();
  for (BareNode& node : nodes_) {
    pollfd news{node.reader.fds().at(0).get(), POLLIN, 0};
    EXPECT_EQ(::poll(&news, 1, 0), 1);
  }
}

TEST_F(RelayTest, TheLifelineEndsWithTheRelay) {
  join_both();
  pollfd lifeline{nodes_[0].lifeline.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&lifeline, 1, 0), 0);
  relay_.reset();
  EXPECT_EQ(::poll(&lifeline, 1, 0), 1);
}

TEST_F(RelayTest, ANodeThatDoesNotReadHoldsUpNobody) {
  join_both();
  constexpr std::size_t kBytes = 1u << 20;
  std::string piece(kMaxPacketBytes, 'x');
  nodes_[1].send(kEmptyCard1);
  for (std::size_t sent = 0; sent < kBytes; sent += piece.size()) {
    nodes_[0].send({.kind = MessageKind::kCard, .node = 0, .total_bytes = kBytes}, piece);
    serve();
  }
  ASSERT_EQ(nodes_[0].receive(),
            PacketStatus::kDone);  // the other's card, though that one reads nothing
  std::size_t got = 0;
  for (int i = 0; i < 200 && got < kBytes; ++i) {
    serve();
    while (nodes_[1].receive() == PacketStatus::kDone) got += nodes_[1].reader.bytes().size();
  }
  EXPECT_EQ(got, kBytes);
}

}  // namespace
}  // namespace terrane::bootstrap
