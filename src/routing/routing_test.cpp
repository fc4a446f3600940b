#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "routing/inbound.h"
#include "routing/outbound.h"
#include "routing/router.h"

namespace terrane::routing {
namespace {

constexpr std::uint64_t kWindow = 4096;
constexpr std::size_t kAll = 1 << 30;
constexpr Address kA = Address::of_node(0), kB = Address::of_node(1), kC = Address::of_node(2);

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

struct Frame {
  FrameHeader header;
  std::vector<std::byte> payload;
};

std::vector<Frame> frames_of(const std::vector<std::byte>& bytes) {
  std::vector<Frame> frames;
  for (std::size_t at = 0; at < bytes.size();) {
    Frame frame;
    std::memcpy(&frame.header, bytes.data() + at, sizeof frame.header);
    const std::byte* payload = bytes.data() + at + sizeof frame.header;
    frame.payload.assign(payload, payload + frame.header.payload_bytes);
    at += frame_bytes(frame.header.payload_bytes);
    EXPECT_LE(at, bytes.size());
    frames.push_back(std::move(frame));
  }
  return frames;
}

std::vector<Frame> output(Outbound& out, std::uint32_t way) {
  std::vector<std::byte> bytes;
  out.fill(way, bytes, kAll);
  EXPECT_FALSE(out.has_output(way));
  return frames_of(bytes);
}

std::vector<Frame> output(Router& router, std::uint32_t port) {
  std::vector<std::byte> bytes;
  router.fill(port, bytes, kAll);
  EXPECT_FALSE(router.has_output(port));
  return frames_of(bytes);
}

std::vector<Frame> of_kind(FrameKind kind, std::vector<Frame> frames) {
  std::erase_if(frames, [&](const Frame& frame) { return frame.header.kind != kind; });
  return frames;
}

std::vector<ReachEntry> entries_of(const std::vector<Frame>& frames) {
  std::vector<ReachEntry> entries;
  for (const Frame& frame : of_kind(FrameKind::kReach, frames)) {
    std::size_t before = entries.size();
    entries.resize(before + frame.payload.size() / sizeof(ReachEntry));
    std::memcpy(entries.data() + before, frame.payload.data(), frame.payload.size());
  }
  return entries;
}

bool reach(Outbound& out, std::uint32_t way, Address address, std::uint8_t hops,
           bool again = false) {
  ReachEntry entry{.address = address, .hops = hops, .again = again};
  FrameHeader header{.payload_bytes = sizeof entry, .kind = FrameKind::kReach, .from = {9}};
  return out.control(way, header, std::as_bytes(std::span(&entry, 1)));
}

bool taken(Outbound& out, std::uint32_t way, Address from, Address to, std::uint64_t position) {
  return out.control(way, {.kind = FrameKind::kTaken, .from = from, .to = to, .position = position},
                     {});
}

class Messages : public Inbound::Receiver {
 public:
  void message(Address from, std::uint16_t tag, Bytes message) override {
    list.push_back(std::to_string(from.value) + ":" + std::to_string(tag) + ":" +
                   std::string(reinterpret_cast<const char*>(message.data()), message.size()));
    last = message.data();
  }
  void bye(Address from) override { list.push_back("bye " + std::to_string(from.value)); }
  void broken(Address from) override { list.push_back("broken " + std::to_string(from.value)); }

  std::vector<std::string> list;
  const std::byte* last = nullptr;
};

// ---- Ends

TEST(OutboundTest, MessagesOfOnePairStayInOrderAndWhole) {
  Outbound out(kA, kWindow, 1);
  Inbound in(kB, kWindow);
  Messages messages;
  std::string large(3000, 'x');
  out.send(kB, 1, bytes_of("he"), bytes_of("ad"));
  out.send(kB, 2, {}, {});
  out.send(kB, 3, bytes_of("<"), bytes_of(large));
  EXPECT_FALSE(out.has_output(0)) << "no way leads there yet";
  out.open(0);
  ASSERT_TRUE(reach(out, 0, kB, 1));
  out.bye();
  for (const Frame& frame : output(out, 0)) {
    ASSERT_TRUE(in.frame(frame.header, frame.payload, messages));
    if (frame.header.tag != 1) continue;
    EXPECT_EQ(messages.last, frame.payload.data()) << "one that comes whole is not copied";
  }
  EXPECT_EQ(messages.list,
            (std::vector<std::string>{"0:1:head", "0:2:", "0:3:<" + large, "bye 0"}));
  EXPECT_FALSE(out.is_idle());
  for (const Inbound::Taken& t : in.take_taken()) EXPECT_TRUE(taken(out, 0, kB, kA, t.position));
  EXPECT_TRUE(out.is_idle());
}

TEST(OutboundTest, NoMoreThanAWindowIsOnItsWay) {
  Outbound out(kA, kWindow, 1);
  out.open(0);
  reach(out, 0, kB, 1);
  std::string large(100'000, 'x');
  out.send(kB, 1, {}, bytes_of(large));
  std::uint64_t sent = 0, position = 0;
  while (out.has_output(0)) {
    for (const Frame& frame : output(out, 0)) sent += frame_bytes(frame.header.payload_bytes);
    ASSERT_LE(sent, position + kWindow);
    position = sent;
    ASSERT_TRUE(taken(out, 0, kB, kA, position));
  }
  EXPECT_TRUE(out.is_idle());
}

TEST(OutboundTest, WhatWasNotTakenIsSentAgainOverAnotherWay) {
  Outbound out(kA, kWindow, 2);
  out.open(0);
  out.open(1);
  reach(out, 0, kB, 1);
  reach(out, 1, kB, 2);
  for (int i = 0; i < 3; ++i) out.send(kB, 1, {}, {});
  EXPECT_EQ(output(out, 0).size(), 3u);
  EXPECT_TRUE(taken(out, 0, kB, kA, 32));
  out.close(0);
  std::vector<Frame> again = output(out, 1);
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].header.position, 32u);
  // The gateways report that a path has changed.
  reach(out, 1, kB, 2, true);
  EXPECT_EQ(output(out, 1).size(), 2u);
  reach(out, 1, kB, 3);
  EXPECT_TRUE(output(out, 1).empty()) << "only the distance has changed";
}

TEST(OutboundTest, WhatWasTakenIsToldAgainAfterAChange) {
  Outbound out(kA, kWindow, 2);
  out.tell_taken(kB, 64);
  out.open(0);
  out.open(1);
  reach(out, 0, kB, 1);
  std::vector<Frame> told = output(out, 0);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].header.kind, FrameKind::kTaken);
  EXPECT_EQ(told[0].header.position, 64u);
  reach(out, 0, kB, 1, true);
  EXPECT_EQ(output(out, 0).size(), 1u);
  reach(out, 1, kB, 1);
  out.close(0);
  EXPECT_EQ(output(out, 1).size(), 1u);
}

TEST(OutboundTest, APeerThatCannotBeReachedForAWholeTickIsLost) {
  Outbound out(kA, kWindow, 1);
  out.open(0);
  reach(out, 0, kB, 1);
  reach(out, 0, kC, 1);
  out.send(kB, 1, {}, {});
  out.send(Address::of_node(7), 1, {}, {});
  reach(out, 0, kB, kUnreachable);
  out.tick();
  EXPECT_TRUE(out.take_lost().empty());
  reach(out, 0, kB, 3);
  out.tick();
  out.close(0);
  out.gone(kC);
  out.tick();
  out.tick();
  EXPECT_EQ(out.take_lost(), std::vector{kB});
  EXPECT_TRUE(out.is_lost(kB));
  out.open(0);
  reach(out, 0, kB, 1);
  EXPECT_FALSE(out.reaches(kB));
  out.send(kB, 1, {}, {});
  EXPECT_EQ(out.kept_bytes(kB), 0u);
  EXPECT_FALSE(out.is_idle()) << "node 7 has never been reached";
}

TEST(OutboundTest, APeerThatHasTakenWhatWasNotSentIsLost) {
  Outbound out(kA, kWindow, 1);
  out.open(0);
  reach(out, 0, kB, 1);
  reach(out, 0, kC, 1);
  out.send(kB, 1, {}, {});
  out.send(kC, 1, bytes_of("8 bytes."), {});
  output(out, 0);
  EXPECT_TRUE(taken(out, 0, kB, kA, 64));
  EXPECT_TRUE(taken(out, 0, kC, kA, 8)) << "inside of a frame";
  EXPECT_EQ(out.take_lost(), (std::vector{kB, kC}));
  EXPECT_FALSE(taken(out, 0, kB, kC, 0)) << "for another";
}

TEST(OutboundTest, PairsTakeTurnsByBytes) {
  Outbound out(kA, 1 << 20, 1);
  out.open(0);
  reach(out, 0, kB, 1);
  reach(out, 0, kC, 1);
  std::string large(400'000, 'x'), small(1000, 'y');
  out.send(kB, 1, {}, bytes_of(large));
  for (int i = 0; i < 200; ++i) out.send(kC, 1, {}, bytes_of(small));
  std::map<Address, std::int64_t> sent;
  std::vector<std::byte> bytes;
  out.fill(0, bytes, 300'000);
  for (const Frame& frame : frames_of(bytes))
    sent[frame.header.to] += static_cast<std::int64_t>(frame_bytes(frame.header.payload_bytes));
  EXPECT_LE(std::abs(sent[kB] - sent[kC]), 2 * static_cast<std::int64_t>(kMaxPayloadBytes) + 64);
}

TEST(InboundTest, DuplicatesAndWhatStandsBehindAGapAreDropped) {
  Inbound in(kB, kWindow);
  Messages messages;
  FrameHeader header{.kind = FrameKind::kData, .from = kA, .to = kB};
  EXPECT_TRUE(in.frame(header, {}, messages));
  EXPECT_TRUE(in.take_taken().empty()) << "less than a quarter of the window";
  EXPECT_TRUE(in.frame(header, {}, messages));
  auto told = in.take_taken();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].position, 32u);
  header.position = 64;
  EXPECT_TRUE(in.frame(header, {}, messages));
  EXPECT_EQ(messages.list.size(), 1u);
}

TEST(InboundTest, APeerThatContradictsItselfIsBroken) {
  std::vector<std::byte> payload(8);
  FrameHeader first{
      .payload_bytes = 8, .kind = FrameKind::kData, .tag = 1, .from = kA, .to = kB, .rest = 8};
  FrameHeader other_tag{
      .payload_bytes = 8, .kind = FrameKind::kData, .tag = 2, .from = kA, .to = kB, .position = 40};
  FrameHeader too_short = other_tag, too_long = other_tag;
  too_short.tag = too_long.tag = 1;
  too_short.rest = 1;
  too_long.payload_bytes = 16;
  FrameHeader bye{.kind = FrameKind::kBye, .from = kA, .to = kB, .position = 40};
  for (const FrameHeader& second : {other_tag, too_short, too_long, bye}) {
    Inbound in(kB, kWindow);
    Messages messages;
    payload.resize(8);
    EXPECT_TRUE(in.frame(first, payload, messages));
    payload.resize(second.payload_bytes);
    EXPECT_TRUE(in.frame(second, payload, messages));
    EXPECT_EQ(messages.list, std::vector<std::string>{"broken 0"});
    EXPECT_TRUE(in.take_taken().empty());
  }
}

TEST(InboundTest, FramesThatMakeNoSenseAreRefused) {
  Inbound in(kB, kWindow);
  Messages messages;
  std::vector<std::byte> payload(8);
  FrameHeader right{.payload_bytes = 8, .kind = FrameKind::kData, .from = kA, .to = kB};
  auto wrong = [&](auto change) {
    FrameHeader header = right;
    change(header);
    return !in.frame(header, payload, messages);
  };
  EXPECT_TRUE(wrong([](FrameHeader& h) { h.kind = FrameKind{0}; }));
  EXPECT_TRUE(wrong([](FrameHeader& h) { h.kind = FrameKind::kReach; }));
  EXPECT_TRUE(wrong([](FrameHeader& h) { h.kind = FrameKind::kBye; }));
  EXPECT_TRUE(wrong([](FrameHeader& h) { h.to = kC; }));
  EXPECT_TRUE(wrong([](FrameHeader& h) { h.from = kB; }));
  EXPECT_TRUE(wrong([](FrameHeader& h) { h.position = 4; }));
  EXPECT_TRUE(wrong([](FrameHeader& h) { h.position = std::uint64_t{1} << 63; }));
  EXPECT_TRUE(wrong([](FrameHeader& h) { h.payload_bytes = 16; }));
  EXPECT_TRUE(wrong([](FrameHeader& h) { h.payload_bytes = kMaxPayloadBytes + 8; }));
  EXPECT_TRUE(messages.list.empty());
  EXPECT_TRUE(in.frame(right, payload, messages));
  EXPECT_FALSE(in.frame({.kind = FrameKind::kData, .from = kA, .to = kB, .position = 40, .rest = 8},
                        {}, messages))
      << "a message that never ends";
}

// ---- Gateways

constexpr Address kG0 = Address::of_gateway(0), kG1 = Address::of_gateway(1),
                  kG2 = Address::of_gateway(2), kG3 = Address::of_gateway(3);

// A neighbour sends the links of a gateway.
bool links(Router& router, std::uint32_t port, Address from, Address gateway,
           std::vector<Address> neighbours, std::uint64_t version = 1) {
  std::sort(neighbours.begin(), neighbours.end());
  Links head{.gateway = gateway, .version = version};
  std::vector<std::byte> payload(sizeof head + neighbours.size() * sizeof(Address));
  std::memcpy(payload.data(), &head, sizeof head);
  std::memcpy(payload.data() + sizeof head, neighbours.data(), neighbours.size() * sizeof(Address));
  FrameHeader header{.payload_bytes = static_cast<std::uint32_t>(payload.size()),
                     .kind = FrameKind::kLinks,
                     .from = from};
  return router.received(port, header, payload);
}

bool again(Router& router, std::uint32_t port, Address from, Address address) {
  ReachEntry entry{.address = address, .hops = 1, .again = 1};
  FrameHeader header{.payload_bytes = sizeof entry, .kind = FrameKind::kReach, .from = from};
  return router.received(port, header, std::as_bytes(std::span(&entry, 1)));
}

// Gateways whose links are in the frames, in order.
std::vector<std::pair<Address, std::uint64_t>> links_of(const std::vector<Frame>& frames) {
  std::vector<std::pair<Address, std::uint64_t>> list;
  for (const Frame& frame : of_kind(FrameKind::kLinks, frames)) {
    Links head;
    std::memcpy(&head, frame.payload.data(), sizeof head);
    list.push_back({head.gateway, head.version});
  }
  return list;
}

bool data(Router& router, std::uint32_t port, Address from, Address to, std::uint64_t position,
          std::uint32_t bytes = 0) {
  std::vector<std::byte> payload(bytes);
  return router.received(port,
                         {.payload_bytes = bytes,
                          .kind = FrameKind::kData,
                          .from = from,
                          .to = to,
                          .position = position},
                         payload);
}

TEST(RouterTest, EndsAreToldWhatCanBeReachedAndGatewaysOfLinks) {
  Router router(kG0, {kWindow});
  ASSERT_TRUE(router.open(0, kA));
  EXPECT_TRUE(entries_of(output(router, 0)).empty()) << "an end is not told of itself";
  ASSERT_TRUE(router.open(1, kG1));
  EXPECT_EQ(links_of(output(router, 1)), (std::vector{std::pair(kG0, std::uint64_t{2})}));
  ASSERT_TRUE(links(router, 1, kG1, kG1, {kB}));
  EXPECT_FALSE(router.reaches(kB)) << "the other gateway does not know of the link";
  ASSERT_TRUE(links(router, 1, kG1, kG1, {kB, kG0, kG2}, 2));
  ASSERT_TRUE(links(router, 1, kG1, kG2, {kC, kG1}));
  auto told = entries_of(output(router, 0));
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].address, kB);
  EXPECT_EQ(told[0].hops, 2);
  EXPECT_EQ(told[1].address, kC);
  EXPECT_EQ(told[1].hops, 3);
  EXPECT_TRUE(links_of(output(router, 1)).empty()) << "it knows its own";
  EXPECT_FALSE(router.open(2, kA)) << "there already";
  ASSERT_TRUE(router.open(2, kG2));
  EXPECT_EQ(links_of(output(router, 2)).size(), 3u);
  router.close(1);
  told = entries_of(output(router, 0));
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].hops, kUnreachable) << "the link to the second gateway has one side";
}

TEST(RouterTest, OlderLinksAreAnsweredByNewerOnes) {
  Router router(kG0, {kWindow});
  router.open(1, kG1);
  router.open(2, kG2);
  links(router, 1, kG1, kG1, {kG0, kB}, 7);
  output(router, 1);
  EXPECT_EQ(links_of(output(router, 2)).size(), 2u);
  links(router, 2, kG2, kG1, {kG0}, 6);
  EXPECT_TRUE(router.reaches(kB));
  EXPECT_EQ(links_of(output(router, 2)), (std::vector{std::pair(kG1, std::uint64_t{7})}));
  // The gateway was restarted, and others know its former links.
  links(router, 1, kG1, kG0, {kC}, 50);
  EXPECT_FALSE(router.reaches(kC));
  EXPECT_EQ(links_of(output(router, 2)), (std::vector{std::pair(kG0, std::uint64_t{51})}));
}

TEST(RouterTest, AChangedPathIsToldWithAgainAndItsFramesAreDropped) {
  Router router(kG0, {kWindow});
  router.open(0, kA);
  router.open(1, kG1);
  router.open(2, kG2);
  links(router, 1, kG1, kG1, {kG0, kB});
  links(router, 2, kG2, kG2, {kG0, kG3});
  links(router, 2, kG2, kG3, {kG2, kB});
  for (std::uint32_t port : {0, 1, 2}) output(router, port);
  EXPECT_TRUE(data(router, 0, kA, kB, 0));
  EXPECT_EQ(router.counters().held_bytes, 32u);
  EXPECT_TRUE(again(router, 2, kG2, kB));
  EXPECT_TRUE(entries_of(output(router, 0)).empty()) << "of another gateway than its path's";
  EXPECT_TRUE(again(router, 1, kG1, kB));
  auto told = entries_of(output(router, 0));
  ASSERT_EQ(told.size(), 1u) << "`again` is passed on";
  EXPECT_EQ(told[0].again, 1);
  EXPECT_EQ(entries_of(output(router, 2)).size(), 1u);
  EXPECT_EQ(router.counters().held_bytes, 32u) << "its neighbour is the same";
  router.close(1);
  EXPECT_EQ(router.counters().held_bytes, 0u);
  told = entries_of(output(router, 0));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].hops, 3);
  EXPECT_EQ(told[0].again, 1);
  EXPECT_TRUE(data(router, 0, kA, kB, 0));
  EXPECT_EQ(of_kind(FrameKind::kData, output(router, 2)).size(), 1u);
}

TEST(RouterTest, HoldsAtMostAWindowOfEachPair) {
  Router router(kG0, {kWindow});
  router.open(0, kA);
  router.open(1, kB);
  output(router, 1);
  auto held = [&] { return router.counters().held_bytes; };
  for (std::uint64_t p = 1024; p < 4096; p += 1024) data(router, 0, kA, kB, p, 992);
  EXPECT_EQ(held(), 3 * 1024u);
  for (std::uint64_t p = 0; p < 4096; p += 1024) data(router, 0, kA, kB, p, 992);
  EXPECT_EQ(held(), 4 * 1024u) << "after a rewind";
  data(router, 0, kA, kB, 8, 992);
  EXPECT_EQ(held(), 4 * 1024u) << "overlaps";
  data(router, 0, kA, kB, 4096, 992);
  EXPECT_EQ(held(), 4 * 1024u) << "the first must have been taken";
  data(router, 0, kA, kB, 0, 992);
  EXPECT_EQ(held(), 4 * 1024u) << "... so it is of no use";
  std::uint64_t position = 1024;
  for (const Frame& frame : of_kind(FrameKind::kData, output(router, 1))) {
    EXPECT_EQ(frame.header.position, position);
    EXPECT_EQ(frame.header.hops, 1);
    position += 1024;
  }
  EXPECT_EQ(position, 5 * 1024u);
  EXPECT_EQ(held(), 0u);
}

TEST(RouterTest, OnlyTheLatestOfWhatAPairHasTakenWaits) {
  Router router(kG0, {kWindow});
  router.open(0, kA);
  router.open(1, kB);
  for (std::uint64_t p : {64, 128, 96})
    router.received(0, {.kind = FrameKind::kTaken, .from = kA, .to = kB, .position = p}, {});
  auto told = of_kind(FrameKind::kTaken, output(router, 1));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].header.position, 128u);
}

TEST(RouterTest, FramesThatMakeNoSenseAreRefused) {
  Router router(kG0, {kWindow});
  router.open(0, kA);
  router.open(1, kG1);
  links(router, 1, kG1, kG1, {kG0, kB});
  EXPECT_FALSE(data(router, 0, kC, kB, 0)) << "of another end";
  EXPECT_FALSE(data(router, 0, kA, kB, 4)) << "a position inside of a word";
  EXPECT_FALSE(again(router, 0, kA, kC)) << "an end tells of others";
  EXPECT_FALSE(again(router, 1, kG2, kC)) << "in the name of another gateway";
  EXPECT_FALSE(links(router, 1, kG1, kC, {kG0})) << "an end has no links";
  EXPECT_FALSE(data(router, 7, kA, kB, 0)) << "a port that is not open";
  EXPECT_TRUE(data(router, 0, kA, kC, 0)) << "no way leads there";
  EXPECT_TRUE(data(router, 1, kC, kB, 0)) << "back where it came from";
  EXPECT_FALSE(router.received(
      1, {.kind = FrameKind::kData, .hops = 14, .from = kB, .to = kB, .position = 3}, {}));
  EXPECT_EQ(router.counters().dropped, 2u);
  EXPECT_TRUE(router.received(1, {.kind = FrameKind::kData, .hops = 15, .from = kB, .to = kA}, {}));
  EXPECT_EQ(router.counters().dropped, 3u) << "it has gone round in circles";
}

}  // namespace
}  // namespace terrane::routing
