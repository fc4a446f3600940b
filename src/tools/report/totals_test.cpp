// Scopes as chunks trace them, and what a report counts of that.
#include "tools/report/totals.h"

#include <gtest/gtest.h>

#include <memory>

#include "runtime/chunks/chunk_trace.h"
#include "tools/report/test_logs.h"
#include "tools/report/trace_events.h"

namespace terrane::tools::report {
namespace {

using protocol::chunks::ChunkId;
using protocol::chunks::Mode;
using protocol::chunks::Status;
using runtime::chunks::ChunkTrace;
using runtime::trace::EventLog;
using runtime::trace::ScopeOrigin;

class TotalsTest : public LogTest {
 protected:
  void SetUp() override {
    LogTest::SetUp();
    log_ = create(0, 1);
    for (std::uint32_t i = 0; i < 2; ++i) {
      copies_[i].name = "chunk " + std::to_string(i);
      copies_[i].ordinal = i;
    }
  }

  void trace_every(std::uint32_t every) {
    trace_ = std::make_unique<ChunkTrace>(*log_, every);
    for (std::uint32_t i = 0; i < 2; ++i) trace_->look(ChunkId{i}, copies_[i]);
  }
  void opened_at_once(std::uint32_t chunk, Mode mode, std::uint64_t open_ticks = 1) {
    trace_->closed({.copy = copies_[chunk],
                    .chunk = ChunkId{chunk},
                    .mode = mode,
                    .version = 1,
                    .since = platform::ticks() - open_ticks,
                    .noted = false});
  }
  void waited(std::uint32_t chunk, Status status, std::uint64_t ticks) {
    trace_->answered({.chunk = ChunkId{chunk},
                      .mode = Mode::kRead,
                      .origin = ScopeOrigin::kOpen,
                      .status = status,
                      .version = 1,
                      .missed = 0,
                      .time = platform::ticks(),
                      .waited = ticks});
    if (status == Status::kOk)
      trace_->closed({.copy = copies_[chunk],
                      .chunk = ChunkId{chunk},
                      .mode = Mode::kRead,
                      .version = 1,
                      .since = platform::ticks(),
                      .noted = true});
  }
  // The node leaves.
  const Totals& count_all() {
    trace_.reset();
    log_.reset();
    auto job = read_job(folder_);
    EXPECT_TRUE(job.ok()) << job.error().message;
    job_ = std::move(job).value();
    totals_ = count(job_);
    return totals_;
  }
  std::string events() const {
    std::string text;
    write_trace_events(job_, [&](std::string_view part) { text += part; });
    return text;
  }
  std::uint64_t records_of(Event event) const {
    std::uint64_t times = 0;
    for (const Entry& entry : job_.logs.at(0).entries) times += entry.record.event == event;
    return times;
  }

  ChunkTrace::Copy copies_[2];
  std::unique_ptr<EventLog> log_;
  std::unique_ptr<ChunkTrace> trace_;
  JobLog job_;
  Totals totals_;
};

TEST_F(TotalsTest, NumbersAreExactWhereSomeScopesHaveARecord) {
  trace_every(16);
  for (int i = 0; i < 20'011; ++i) {
    opened_at_once(0, Mode::kRead);
    if (i % 3 == 0) opened_at_once(0, Mode::kReadWrite);
    if (i % 5'000 == 0) opened_at_once(1, Mode::kWrite);
  }
  const Tally& node = count_all().nodes.at(0).tally;
  EXPECT_EQ(node.opened[0], 20'011u);
  EXPECT_EQ(node.opened[1], 5u);
  EXPECT_EQ(node.opened[2], 6'671u);
  for (const ChunkTotals& chunk : totals_.chunks)
    EXPECT_EQ(chunk.calls(), chunk.object == 0 ? 26'682u : 5u);
  // One of 16 is 1,668.
  EXPECT_GT(records_of(Event::kScope), 1'300u);
  EXPECT_LT(records_of(Event::kScope), 2'100u);
  EXPECT_EQ(job_.scopes_every, 16u);
  std::string trace = events();
  EXPECT_NE(trace.find("\"stands_for\":"), std::string::npos);
  EXPECT_NE(trace.find("about one of 16 is here"), std::string::npos);
}

TEST_F(TotalsTest, EachHasARecordWhereThatIsAskedFor) {
  trace_every(1);
  for (int i = 0; i < 1'000; ++i) opened_at_once(i % 2, Mode::kRead);
  EXPECT_EQ(count_all().nodes.at(0).tally.opened[0], 1'000u);
  EXPECT_EQ(records_of(Event::kScope), 1'000u);
  EXPECT_EQ(records_of(Event::kScopesMore), 0u);
  std::string trace = events();
  EXPECT_EQ(trace.find("stands_for"), std::string::npos);
}

TEST_F(TotalsTest, WhatWaitedOrFailedHasARecordEach) {
  trace_every(ChunkTrace::kMostEvery);
  for (int i = 0; i < 300; ++i) {
    for (int k = 0; k < 9; ++k) opened_at_once(0, Mode::kRead);
    waited(0, i % 3 == 0 ? Status::kBusy : Status::kOk, 1'000'000);
  }
  const ChunkTotals& chunk = count_all().chunks.at(0);
  EXPECT_EQ(chunk.calls(), 3'000u);
  EXPECT_EQ(chunk.waits.size(), 300u);
  EXPECT_EQ(chunk.tally.refused, 100u);
  EXPECT_EQ(chunk.tally.opened[0], 2'900u);
  EXPECT_EQ(records_of(Event::kScopeOpened), 200u);
  EXPECT_EQ(records_of(Event::kScopeClosed), 200u);
  EXPECT_EQ(chunk.wait_ns(50), 0u);  // nine of ten calls
  EXPECT_EQ(chunk.wait_ns(89), 0u);
  EXPECT_GT(chunk.wait_ns(99), 0u);
}

// Every 16th scope is long, and one of 16 has a record: not the same ones.
TEST_F(TotalsTest, AProgramsPeriodDoesNotChooseWhichScopesAreSeen) {
  constexpr std::uint64_t kScopes = 160'000, kPeriod = 16, kLong = 1'000'000'000;
  trace_every(kPeriod);
  for (std::uint64_t i = 0; i < kScopes; ++i)
    opened_at_once(0, Mode::kRead, i % kPeriod == 0 ? kLong : 1);
  std::uint64_t held = count_all().chunks.at(0).tally.held_ns();
  std::uint64_t longest = 0;
  for (const Entry& entry : job_.logs.at(0).entries)
    if (entry.record.event == Event::kScope) longest = std::max(longest, entry.record.value);
  std::uint64_t all = kScopes / kPeriod * longest;
  EXPECT_GT(held, all / 4 * 3);
  EXPECT_LT(held, all / 4 * 5);
}

}  // namespace
}  // namespace terrane::tools::report
