// Versions on their way from publishers to subscribers, as logs tell of them.
#include "tools/report/streams.h"

#include <gtest/gtest.h>

#include "runtime/trace/log_format.h"
#include "tools/report/stream_section.h"
#include "tools/report/trace_events.h"

namespace terrane::tools::report {
namespace {

constexpr std::uint64_t kFrames = 7;

Entry published(std::uint64_t time_ns, std::uint32_t version) {
  return {{.time_ns = time_ns,
           .object = kFrames,
           .value = 100,
           .event = Event::kPublished,
           .number = version},
          11};
}

Entry taken(std::uint64_t time_ns, std::uint32_t version) {
  return {{.time_ns = time_ns,
           .object = kFrames,
           .event = Event::kScopeOpened,
           .detail = static_cast<std::uint8_t>(runtime::trace::ScopeOrigin::kTake),
           .number = version},
          12};
}

Entry missed(std::uint64_t time_ns, std::uint64_t versions) {
  return {{.time_ns = time_ns, .object = kFrames, .value = versions, .event = Event::kMissed}, 12};
}

// Node 0 publishes versions 1 to 10, one each 1,000 ns.
JobLog job_of(std::vector<std::vector<Entry>> subscribers) {
  JobLog job;
  job.logs.push_back({.host = "alpha", .node = 0});
  for (std::uint32_t v = 1; v <= 10; ++v) job.logs[0].entries.push_back(published(v * 1000, v));
  for (auto& entries : subscribers) {
    NodeLog& log = job.logs.emplace_back();
    log.host = "beta";
    log.node = static_cast<std::uint32_t>(job.logs.size() - 1);
    log.entries = std::move(entries);
  }
  job.nodes = static_cast<std::uint32_t>(job.logs.size());
  job.objects[kFrames] = {"frames", 100, 2};
  job.length_ns = 20'000;
  return job;
}

std::vector<Entry> all_after(std::uint64_t latency_ns) {
  std::vector<Entry> entries;
  for (std::uint32_t v = 1; v <= 10; ++v) entries.push_back(taken(v * 1000 + latency_ns, v));
  return entries;
}

TEST(StreamsTest, LatencyIsFromThePublicationUntilTheVersionIsTaken) {
  auto all = streams(job_of({all_after(300), {missed(5100, 4), taken(5100, 5), taken(9000, 6)}}));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].published.size(), 10u);
  EXPECT_EQ(all[0].bytes, 1000u);
  ASSERT_EQ(all[0].subscribers.size(), 2u);
  EXPECT_EQ(all[0].subscribers[0].latency_ns(50), 300u);
  EXPECT_EQ(all[0].subscribers[0].left_out, 0u);
  EXPECT_EQ(all[0].subscribers[1].left_out, 4u);
  EXPECT_EQ(all[0].subscribers[1].latency_ns(0), 100u);
  EXPECT_EQ(all[0].subscribers[1].latency_ns(100), 3000u);
}

TEST(StreamsTest, AVersionWhosePublicationIsInNoLogHasNoLatency) {
  auto all = streams(job_of({{taken(100, 77)}}));
  ASSERT_EQ(all[0].subscribers.size(), 1u);
  EXPECT_EQ(all[0].subscribers[0].unknown, 1u);
  EXPECT_TRUE(all[0].subscribers[0].taken.empty());
}

// Two hosts' clocks may differ.
TEST(StreamsTest, AVersionThatSeemsTakenBeforeItsPublicationHasTheLatencyZero) {
  auto all = streams(job_of({{taken(900, 1)}}));
  EXPECT_EQ(all[0].subscribers[0].latency_ns(100), 0u);
}

TEST(StreamsTest, TheSlowestSubscriberIsNamedWhereAnotherIsFasterByHalf) {
  JobLog job = job_of({all_after(300), all_after(900)});
  std::string said = slowest_subscriber(job, streams(job));
  EXPECT_NE(said.find("node 2 on beta: it took the versions of frames 900 ns"), std::string::npos)
      << said;
  JobLog even = job_of({all_after(300), all_after(310)});
  EXPECT_EQ(slowest_subscriber(even, streams(even)), "");
}

TEST(StreamsTest, WhatABarrierIsMadeOfIsNoStream) {
  JobLog job = job_of({all_after(300), all_after(900)});
  job.objects[kFrames].name = "\1barrier all";
  EXPECT_TRUE(streams(job).empty());
}

TEST(StreamsTest, AJobWithoutStreamsHasNoSection) {
  JobLog job = job_of({});
  EXPECT_EQ(stream_section(job, streams(job)), "");
}

TEST(StreamsTest, AnArrowLeadsFromEachPublicationToEachSubscriber) {
  JobLog job = job_of({all_after(300), all_after(900)});
  std::string text;
  TraceLeftOut left_out = write_trace_events(job, [&](std::string_view part) { text += part; });
  std::size_t begun = 0;
  for (std::size_t at = 0; (at = text.find("\"ph\":\"s\"", at)) != std::string::npos; ++at) ++begun;
  EXPECT_EQ(begun, 20u);
  EXPECT_EQ(left_out.arrows + left_out.events, 0u);
  EXPECT_NE(text.find("{\"ph\":\"s\",\"ts\":1.000,\"pid\":0,\"tid\":11,"), std::string::npos)
      << text;
  EXPECT_NE(text.find("{\"ph\":\"f\",\"ts\":1.300,\"pid\":1,\"tid\":12,"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace terrane::tools::report
