#include "runtime/remote_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

#include "base/prng.h"
#include "protocol/serve/requests.h"

namespace terrane::runtime {
namespace {

// Keeps what is sent, for a test that plays the other node.
class Kept final : public transport::Transport {
 public:
  std::string_view name() const override { return "kept"; }
  void send(NodeId to, transport::Bytes head, transport::Bytes tail) override {
    std::vector<std::byte> message(head.begin(), head.end());
    message.insert(message.end(), tail.begin(), tail.end());
    sent.emplace_back(to, std::move(message));
  }
  std::size_t poll(transport::Receiver&) override { return 0; }
  bool pending() const override { return false; }
  void sleep(std::uint64_t) override {}
  void attend() override {}
  bool unattend() override { return false; }
  void interrupt() override {}
  std::byte* reach(NodeId, std::uint32_t) override { return nullptr; }
  std::uint64_t region_bytes(NodeId, std::uint32_t) const override { return 0; }

  std::vector<std::pair<NodeId, std::vector<std::byte>>> sent;
};

constexpr std::uint32_t kNodes = 9;

// One of some nodes, with what the engine has round it.
struct Side {
  explicit Side(std::uint32_t self, std::uint32_t nodes = 2) {
    Options options;
    options.space_bytes = 1 << 20;
    auto made = PageSpace::create(options, NodeId{self}, nodes);
    EXPECT_TRUE(made.ok());
    space = std::move(made).value();
    memory = space->protocol_memory();
    space->connect(kept, true);
    server.emplace(protocol::ServerConfig{.self = NodeId{self},
                                          .nodes = nodes,
                                          .blocks = space->blocks(),
                                          .block_bytes = space->unit()},
                   subscribers);
    remote = std::make_unique<RemotePages>(*space, kept, threads, *server);
  }

  std::unique_ptr<PageSpace> space;
  protocol::BlockMemory memory;
  Kept kept;
  ThreadRegistry threads;
  protocol::Subscribers subscribers{true, kNodes};
  std::optional<protocol::Server> server;
  std::unique_ptr<RemotePages> remote;
};

// A node's memory has its place in the address space, so a process holds one node; the other side
// of each exchange is written out here.
class RemotePagesTest : public testing::Test {
 protected:
  template <typename T>
  static transport::Bytes bytes_of(const T& value) {
    return std::as_bytes(std::span(&value, 1));
  }
  template <typename T>
  T last_sent() const {
    T value{};
    EXPECT_FALSE(side.kept.sent.empty());
    const auto& bytes = side.kept.sent.back().second;
    EXPECT_GE(bytes.size(), sizeof value);
    std::memcpy(static_cast<void*>(&value), bytes.data(), sizeof value);
    return value;
  }
  bool receive(transport::Bytes message) {
    return side.remote->received(NodeId{1}, message, context.counters);
  }
  static void set_origin(std::vector<std::byte>& flush, std::uint32_t origin) {
    std::memcpy(flush.data() + offsetof(wire::Flush, origin), &origin, sizeof origin);
  }
  std::vector<std::byte> with_tail(transport::Bytes head, std::size_t tail_bytes) {
    std::vector<std::byte> all(head.size() + tail_bytes, std::byte{0x5a});
    std::copy(head.begin(), head.end(), all.begin());
    return all;
  }
  // What a page of ours holds; it has memory as after a fault.
  void fill(std::uint64_t block, const std::byte* bytes) {
    protocol::Populate populate{{block, 1}};
    PageSteps(*side.space, context.counters).perform(populate);
    side.space->write_pages({block, 1}, bytes, false);
  }
  static protocol::Fetch fetch(std::uint64_t block) { return {NodeId{1}, {block, 1}}; }
  std::uint64_t post(std::uint64_t block) {
    return side.remote->post({NodeId{1}, BlockId{block}, kNoNode, true}, context);
  }
  bool is_wanted(std::uint64_t block) {
    protocol::SetWanted step{NodeId{0}, BlockId{block}};
    PageSteps(*side.space, context.counters).perform(step);
    return step.result;
  }
  std::uint32_t word(std::uint64_t block) {
    protocol::LoadWord step{NodeId{0}, BlockId{block}};
    PageSteps(*side.space, context.counters).perform(step);
    return step.result;
  }
  void set_word(std::uint64_t block, std::uint32_t word) {
    PageSteps(*side.space, context.counters).perform(protocol::StoreWord{BlockId{block}, word});
  }
  static bool came(const Exchange& exchange, std::uint32_t count, std::uint32_t tracked) {
    const auto* got = std::get_if<protocol::FetchResult>(&exchange.result);
    return got != nullptr && got->count == count && got->tracked == tracked && !got->own;
  }
  static bool is_elsewhere(const Exchange& exchange, NodeId ask) {
    const auto* got = std::get_if<protocol::FetchResult>(&exchange.result);
    return got != nullptr && got->count == 0 && got->ask == ask && got->same == 1;
  }

  Side side{0};
  ThreadContext& context = side.threads.current();
};

TEST_F(RemotePagesTest, AFetchedBlockIsWantedUnlessItIsTracked) {
  std::vector<std::byte> bytes(side.space->unit(), std::byte{7});
  fill(3, bytes.data());
  ASSERT_TRUE(receive(bytes_of(wire::PageFetch{.waiter = 9, .block = 3})));
  auto answer = last_sent<wire::PageData>();
  EXPECT_EQ(answer.waiter, 9u);
  EXPECT_EQ(answer.tracked, 0u);
  EXPECT_EQ(side.kept.sent.back().second.size(), sizeof answer + bytes.size());
  EXPECT_EQ(side.kept.sent.back().second.back(), std::byte{7});
  EXPECT_TRUE(is_wanted(3)) << "the reader's wish is kept";

  set_word(4, protocol::kTracked);
  ASSERT_TRUE(receive(bytes_of(wire::PageFetch{.waiter = 9, .block = 4})));
  EXPECT_EQ(last_sent<wire::PageData>().tracked, 1u);
  EXPECT_EQ(side.kept.sent.back().second.back(), std::byte{0});
  EXPECT_EQ(side.space->kept_bytes(NodeId{0}), side.space->unit())
      << "what nobody has written takes no memory";
  EXPECT_FALSE(is_wanted(4)) << "nobody wished for it";

  ASSERT_TRUE(receive(bytes_of(wire::PageFetch{.blocks = 3, .waiter = 9, .block = 2})));
  EXPECT_EQ(last_sent<wire::PageData>().tracked, 4u) << "the third of the run";
  EXPECT_EQ(side.kept.sent.back().second.size(), sizeof answer + 3 * bytes.size());
  std::uint64_t last = side.space->blocks() - 1;
  EXPECT_FALSE(receive(bytes_of(wire::PageFetch{.blocks = 2, .block = last})));
  EXPECT_FALSE(receive(bytes_of(wire::PageFetch{.blocks = 0, .block = 1})));
  EXPECT_FALSE(receive(bytes_of(wire::PageFetch{.blocks = 17, .block = 1})));
}

TEST_F(RemotePagesTest, AnExchangeEndsWithTheAnswerThatWasAskedFor) {
  side.remote->ask(fetch(5), context);
  auto asked = last_sent<wire::PageFetch>();
  EXPECT_EQ(asked.block, 5u);
  wire::PageData other{.waiter = asked.waiter, .block = 6};
  EXPECT_FALSE(receive(with_tail(bytes_of(other), side.space->unit()))) << "another block";
  EXPECT_FALSE(receive(bytes_of(wire::OwnerReply{.waiter = asked.waiter, .block = 5})));
  wire::PageData answer{.waiter = asked.waiter, .block = 5, .tracked = 1};
  EXPECT_FALSE(receive(with_tail(bytes_of(answer), side.space->unit() - 1))) << "too short";
  EXPECT_EQ(context.exchange.done.load(), 0u);
  EXPECT_TRUE(receive(with_tail(bytes_of(answer), side.space->unit())));
  EXPECT_EQ(context.exchange.done.load(), 1u);
  EXPECT_TRUE(came(context.exchange, 1, 1));
  EXPECT_FALSE(receive(with_tail(bytes_of(answer), side.space->unit()))) << "nobody asks any more";
}

TEST_F(RemotePagesTest, WhatWasPostedIsAnsweredInAnyOrderAndKeptUntilItIsAskedFor) {
  std::size_t unit = side.space->unit();
  for (std::uint64_t block : {5, 6, 7}) side.remote->post_fetch({NodeId{1}, {block, 1}}, context);
  EXPECT_EQ(side.kept.sent.size(), 3u);
  EXPECT_NE(context.open_exchange(), nullptr);
  std::uint32_t waiter = last_sent<wire::PageFetch>().waiter;
  for (std::uint64_t block : {7, 5}) {
    wire::PageData answer{.waiter = waiter, .block = block, .tracked = block == 7 ? 1u : 0u};
    EXPECT_TRUE(receive(with_tail(bytes_of(answer), unit)));
    EXPECT_FALSE(receive(with_tail(bytes_of(answer), unit))) << "answered already";
  }
  Exchange& seven = side.remote->ask(fetch(7), context);
  EXPECT_EQ(side.kept.sent.size(), 3u) << "it was asked for before";
  EXPECT_EQ(seven.done.load(), 1u);
  EXPECT_TRUE(came(seven, 1, 1));
  Exchange& six = side.remote->ask(fetch(6), context);
  EXPECT_EQ(six.done.load(), 0u);
  wire::PageData nothing{
      .blocks = 0, .same_owner = 1, .waiter = waiter, .block = 6, .subscribed = 1};
  EXPECT_TRUE(receive(bytes_of(nothing)));
  EXPECT_TRUE(is_elsewhere(six, NodeId{1}));
  EXPECT_EQ(context.open_exchange(), nullptr);
  side.remote->ask(fetch(8), context);
  EXPECT_EQ(side.kept.sent.size(), 4u);
  EXPECT_EQ(context.open_exchange(), &context.exchange);
}

TEST_F(RemotePagesTest, AClaimIsDecidedOnceByTheDirectory) {
  ASSERT_TRUE(receive(bytes_of(wire::OwnerRequest{.block = 8})));
  EXPECT_EQ(last_sent<wire::OwnerReply>().owner, 0u);
  ASSERT_TRUE(receive(bytes_of(wire::OwnerRequest{.block = 8, .claim = 2})));
  EXPECT_EQ(last_sent<wire::OwnerReply>().owner, 2u);
  ASSERT_TRUE(receive(bytes_of(wire::OwnerRequest{.block = 8, .claim = 1})));
  EXPECT_EQ(last_sent<wire::OwnerReply>().owner, 2u) << "the first keeps it";
  EXPECT_FALSE(receive(bytes_of(wire::OwnerRequest{.block = 8, .claim = 3}))) << "no such node";
  EXPECT_FALSE(receive(bytes_of(wire::OwnerRequest{.block = side.space->blocks()})));
}

TEST_F(RemotePagesTest, DifferencesOfAReleaseTravelTogetherAndAreStoredByteByByte) {
  std::vector<std::byte> bytes(side.space->unit());
  for (std::uint64_t block : {1, 2}) {
    bytes[block] = std::byte{9};
    fill(block, bytes.data());
    EXPECT_GT(post(block), 0u);
    EXPECT_EQ(post(block), 0u) << "the twin has followed";
  }
  EXPECT_TRUE(side.kept.sent.empty());
  side.remote->send_posted(context);
  ASSERT_EQ(side.kept.sent.size(), 1u);
  EXPECT_EQ(context.flushes.unanswered(), 1u);

  // The same message, as another node's: what was not changed stays.
  std::vector<std::byte> message = side.kept.sent.back().second;
  std::vector<std::byte> others(side.space->unit(), std::byte{4});
  fill(1, others.data());
  EXPECT_FALSE(receive(message)) << "ours, from another";
  set_origin(message, 1);
  ASSERT_TRUE(receive(message));
  EXPECT_EQ(last_sent<wire::Flush>().kind, wire::Kind::kFlushed);
  EXPECT_EQ(last_sent<wire::Flush>().passed, 0u);
  EXPECT_FALSE(context.flushes.over());
  EXPECT_TRUE(receive(side.kept.sent.back().second));
  EXPECT_TRUE(context.flushes.over());
  EXPECT_FALSE(receive(side.kept.sent.back().second)) << "answered already";
  std::vector<Line> now(side.space->unit() / sizeof(Line));
  side.space->read_page(1, now[0].bytes);
  EXPECT_EQ(now[0].bytes[1], std::byte{9});
  EXPECT_EQ(now[0].bytes[2], std::byte{4});
}

TEST_F(RemotePagesTest, WhatHasMovedIsAskedForWhereItIs) {
  std::uint32_t moved = protocol::word_for(NodeId{1}) | protocol::kMoved;
  for (std::uint64_t block : {3, 4}) set_word(block, moved);
  ASSERT_TRUE(receive(bytes_of(wire::PageFetch{.blocks = 4, .waiter = 9, .block = 3})));
  auto answer = last_sent<wire::PageData>();
  EXPECT_EQ(answer.blocks, 0u);
  EXPECT_EQ(answer.subscribed, 1u) << "the node to ask";
  EXPECT_EQ(answer.same_owner, 2u);
  EXPECT_EQ(side.kept.sent.back().second.size(), sizeof answer);
  ASSERT_TRUE(receive(bytes_of(wire::PageFetch{.blocks = 3, .waiter = 9, .block = 1})));
  EXPECT_EQ(last_sent<wire::PageData>().blocks, 2u) << "as far as they are here";

  // A requester that was sent to this node waits until the block has come.
  wire::PageFetch follows{.how = protocol::kFollows, .waiter = 9, .block = 7};
  ASSERT_TRUE(receive(bytes_of(follows)));
  EXPECT_EQ(last_sent<wire::PageData>().blocks, 0u);
  EXPECT_EQ(last_sent<wire::PageData>().subscribed, 0u) << "this node, once more";
  set_word(7, protocol::kHere);
  ASSERT_TRUE(receive(bytes_of(follows)));
  EXPECT_EQ(last_sent<wire::PageData>().blocks, 1u);

  side.remote->ask(fetch(5), context);
  wire::PageData elsewhere{.blocks = 0, .same_owner = 1, .waiter = 0, .block = 5, .subscribed = 2};
  EXPECT_FALSE(receive(bytes_of(elsewhere))) << "no such node";
  elsewhere.subscribed = 0;
  EXPECT_TRUE(receive(bytes_of(elsewhere)));
  EXPECT_TRUE(is_elsewhere(context.exchange, NodeId{0}));
}

TEST_F(RemotePagesTest, AnOfferIsTakenWithTheFetch) {
  std::uint32_t offered = protocol::word_for(NodeId{1}) | protocol::kOffered;
  set_word(3, offered);
  wire::PageFetch fetch{.how = protocol::kMayTake, .waiter = 9, .block = 3};
  ASSERT_TRUE(receive(bytes_of(fetch)));
  EXPECT_EQ(last_sent<wire::PageData>().own, 0u) << "not armed";
  set_word(3, offered | protocol::kArmed | protocol::kTracked);
  ASSERT_TRUE(receive(bytes_of(fetch)));
  EXPECT_EQ(last_sent<wire::PageData>().own, 1u);
  EXPECT_EQ(last_sent<wire::PageData>().tracked, 1u);
  EXPECT_EQ(word(3), protocol::word_for(NodeId{1}) | protocol::kMoved);
}

TEST_F(RemotePagesTest, ADifferenceIsPassedOnToWhereItsBlockIs) {
  std::vector<std::byte> bytes(side.space->unit(), std::byte{9});
  fill(1, bytes.data());
  EXPECT_GT(post(1), 0u);
  side.remote->send_posted(context);
  std::vector<std::byte> message = side.kept.sent.back().second;
  set_origin(message, 1);
  std::vector<std::byte> others(side.space->unit(), std::byte{4});
  fill(1, others.data());
  set_word(1, protocol::word_for(NodeId{1}) | protocol::kMoved);
  side.kept.sent.clear();
  ASSERT_TRUE(receive(message));
  ASSERT_EQ(side.kept.sent.size(), 2u);
  EXPECT_EQ(last_sent<wire::Flush>().passed, 1u);
  wire::Flush passed;
  wire::FlushedBlock block;
  transport::Bytes rest = side.kept.sent.front().second;
  ASSERT_TRUE(wire::take(rest, passed) && wire::take(rest, block));
  EXPECT_EQ(passed.was_passed, 1u);
  EXPECT_EQ(block.via, 0u);
  EXPECT_EQ(block.diff_bytes, rest.size());
  std::vector<Line> now(side.space->unit() / sizeof(Line));
  side.space->read_page(1, now[0].bytes);
  EXPECT_EQ(now[0].bytes[1], std::byte{4}) << "the former home stays as it is";

  // Our own release: the answers may come in either order.
  wire::Flush first{.kind = wire::Kind::kFlushed, .origin = 0, .passed = 1};
  wire::Flush second{.kind = wire::Kind::kFlushed, .was_passed = 1, .origin = 0};
  EXPECT_TRUE(receive(bytes_of(second)));
  EXPECT_FALSE(context.flushes.over());
  EXPECT_TRUE(receive(bytes_of(first)));
  EXPECT_TRUE(context.flushes.over());
}

// Node 1 was this block's home before it moved here and on to node 1 again, which has not its bytes
// yet: its word tells of the earlier move, and our difference comes round.
TEST_F(RemotePagesTest, OurDifferenceMayComeRoundAndIsPassedOn) {
  std::vector<std::byte> bytes(side.space->unit(), std::byte{9});
  fill(1, bytes.data());
  EXPECT_GT(post(1), 0u);
  side.remote->send_posted(context);
  std::vector<std::byte> message = side.kept.sent.back().second;
  std::uint32_t via = 1;
  std::memcpy(message.data() + sizeof(wire::Flush) + offsetof(wire::FlushedBlock, via), &via,
              sizeof via);
  EXPECT_FALSE(receive(message)) << "not passed on by anybody";
  message[offsetof(wire::Flush, was_passed)] = std::byte{1};
  EXPECT_TRUE(receive(bytes_of(wire::Flush{.kind = wire::Kind::kFlushed, .passed = 1})));
  set_word(1, protocol::word_for(NodeId{1}) | protocol::kMoved);
  side.kept.sent.clear();
  ASSERT_TRUE(receive(message));
  ASSERT_EQ(side.kept.sent.size(), 1u) << "the difference alone: we need no answer from ourselves";
  EXPECT_EQ(last_sent<wire::Flush>().kind, wire::Kind::kFlush);
  EXPECT_FALSE(context.flushes.over()) << "it is under way again";
  EXPECT_TRUE(receive(bytes_of(wire::Flush{.kind = wire::Kind::kFlushed, .was_passed = 1})));
  EXPECT_TRUE(context.flushes.over());
  set_word(1, protocol::kHere);
  EXPECT_FALSE(receive(message)) << "who has the block sends no difference of it";
}

// News of a run for eight readers: they go to four, each with one more to pass them on to.
class NewsTest : public testing::Test {
 protected:
  using Sent = std::vector<std::pair<NodeId, std::vector<std::byte>>>;

  bool receive(const std::vector<std::byte>& message) {
    return side.remote->received(NodeId{1}, message, context.counters);
  }
  // As node 3 sends a block of its own to this one and `further`.
  std::vector<std::byte> push(std::vector<NodeId> further, wire::PagePush head = {}) {
    if (head.block == 0) head = {.number = 7, .block = 5, .tracked = 1, .home = 3};
    std::vector<std::byte> message;
    protocol::PushPart part{.head = head};
    if (head.gone == 0) part.versions = {9};
    protocol::put_push_head(message, part, further);
    if (head.gone == 0) message.resize(message.size() + side.space->unit(), std::byte{8});
    return message;
  }
  std::optional<protocol::TakenPush> take() {
    std::vector<std::uint32_t> versions;
    protocol::TakePush step{NodeId{3}, {5, 1}, 7, &versions};
    if (!side.remote->take_push(step, context)) return std::nullopt;
    return step.result;
  }

  Side side{0, kNodes};
  ThreadContext& context = side.threads.current();
};

TEST_F(NewsTest, GoToAFewOfManyReadersWithTheOthersThatAreLeftToThem) {
  std::vector<NodeId> readers;
  for (std::uint32_t n = 1; n < kNodes; ++n) readers.emplace_back(n);
  RemotePages::Out out{context.push_pages, context.pushes_out, context.counters};
  protocol::Strand& strand = context.strand;
  for (std::uint64_t block : {3, 6}) {
    auto push = side.server->push(strand, {block, 1}, readers, 7, false);
    for (strand.start(push); !push.done(); strand.move_on())
      std::visit([&](auto& step) { side.remote->perform(step, out); }, strand.step());
  }
  EXPECT_TRUE(side.kept.sent.empty()) << "short runs travel together";
  protocol::SendPushes all_go;
  side.remote->perform(all_go, out);
  ASSERT_EQ(side.kept.sent.size(), protocol::kPushArity);
  for (std::uint32_t i = 0; i < protocol::kPushArity; ++i) {
    const auto& [to, message] = side.kept.sent[i];
    EXPECT_EQ(to, NodeId{1 + 2 * i});
    transport::Bytes rest = message;
    protocol::PushPart part;
    for (std::uint64_t block : {3, 6}) {
      ASSERT_TRUE(protocol::take_push_part(rest, side.space->unit(), part));
      EXPECT_EQ(part.head.block, block);
      EXPECT_EQ(part.head.home, 0u);
      EXPECT_EQ(part.further, std::vector<NodeId>{NodeId{2 + 2 * i}});
    }
    EXPECT_TRUE(rest.empty());
  }
}

TEST_F(NewsTest, ArePassedOnAndKeptAsTheirHomes) {
  ASSERT_TRUE(receive(push({NodeId{2}, NodeId{7}})));
  ASSERT_EQ(side.kept.sent.size(), 2u);
  EXPECT_EQ(side.kept.sent[0].first, NodeId{2});
  EXPECT_EQ(side.kept.sent[1].first, NodeId{7});
  EXPECT_EQ(side.kept.sent[1].second, push({}));
  auto pushed = take();
  ASSERT_TRUE(pushed) << "though node 1 has sent them";
  EXPECT_EQ(pushed->tracked, 1u);
}

TEST_F(NewsTest, ThatTheHomeHasNoneToSendIsPassedOnToo) {
  ASSERT_TRUE(receive(push({NodeId{2}}, {.gone = 1, .number = 7, .block = 5, .home = 3})));
  ASSERT_EQ(side.kept.sent.size(), 1u);
  auto pushed = take();
  ASSERT_TRUE(pushed);
  EXPECT_TRUE(pushed->gone);
}

TEST_F(NewsTest, AreRefusedWhereTheyNameWhoCannotReadThem) {
  EXPECT_FALSE(receive(push({NodeId{0}}))) << "this node";
  EXPECT_FALSE(receive(push({NodeId{3}}))) << "their home";
  EXPECT_FALSE(receive(push({NodeId{kNodes}}))) << "nobody";
  EXPECT_FALSE(receive(push(std::vector<NodeId>(kNodes, NodeId{2})))) << "more than there are";
  EXPECT_FALSE(receive(push({}, {.block = 5, .home = kNodes}))) << "of nobody";
  EXPECT_FALSE(receive(push({}, {.block = 5, .home = 0}))) << "of this node";
  std::vector<std::byte> cut = push({NodeId{2}});
  cut.pop_back();
  EXPECT_FALSE(receive(cut));
  EXPECT_TRUE(side.kept.sent.empty());
  EXPECT_FALSE(take());
}

TEST_F(RemotePagesTest, AReaderEndsWhatItWasPromised) {
  auto due = [&] { return side.subscribers.due(1); };
  side.subscribers.make(NodeId{1}, {4, 2});
  side.subscribers.make(NodeId{2}, {4, 2});
  ASSERT_TRUE(receive(bytes_of(wire::SubscriptionEnd{.blocks = 2, .block = 4})));
  EXPECT_EQ(due(), (std::vector<protocol::Subscribed>{{{4, 2}, NodeId{2}}}));
  EXPECT_TRUE(receive(bytes_of(wire::SubscriptionEnd{.blocks = 2, .block = 4})))
      << "nor is that wrong";
  EXPECT_FALSE(receive(bytes_of(wire::SubscriptionEnd{.blocks = 0, .block = 4})));
  EXPECT_FALSE(
      receive(bytes_of(wire::SubscriptionEnd{.blocks = 1, .block = side.space->blocks()})));
  EXPECT_FALSE(receive(with_tail(bytes_of(wire::SubscriptionEnd{.block = 4}), 1)));
  side.remote->end_subscription({NodeId{1}, {7, 1}}, context);
  EXPECT_EQ(last_sent<wire::SubscriptionEnd>().block, 7u);
}

TEST_F(RemotePagesTest, NoBytesFromTheNetworkDoHarm) {
  base::Prng rng(1);
  std::vector<std::byte> message;
  for (int i = 0; i < 20000; ++i) {
    message.resize(1 + rng.below(i % 3 == 0 ? 4200 : 80));
    for (std::byte& byte : message) byte = static_cast<std::byte>(rng.chance(40) ? 0 : rng.next());
    message[0] =
        static_cast<std::byte>(static_cast<unsigned>(wire::Kind::kPageFetch) + rng.below(8));
    receive(message);
    side.kept.sent.clear();
  }
}

}  // namespace
}  // namespace terrane::runtime
