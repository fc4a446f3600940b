#include "tools/report/page_totals.h"

#include <chrono>
#include <thread>

#include "runtime/page_trace.h"
#include "tools/report/html.h"
#include "tools/report/page_section.h"
#include "tools/report/test_logs.h"

namespace terrane::tools::report {
namespace {

using namespace runtime::trace;
using runtime::Counters;
using runtime::PageTrace;
using runtime::ThreadContext;
using runtime::ThreadRegistry;

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kAddress = 0x7000'0000;

template <typename Kind>
constexpr std::uint8_t number_of(Kind kind) {
  return static_cast<std::uint8_t>(kind);
}

class PageTotalsTest : public LogTest {
 protected:
  // A log of shared pages.
  std::unique_ptr<EventLog> begin(std::uint32_t node, std::uint32_t nodes = 2) {
    auto log = EventLog::create({.folder = folder_,
                                 .node = NodeId{node},
                                 .nodes = nodes,
                                 .host = "somewhere",
                                 .front_end = ".pages"});
    EXPECT_TRUE(log.ok()) << log.error().message;
    log.value()->note(Event::kPages, {.object = kAddress, .value = 1 << 20, .number = 4096});
    return std::move(log).value();
  }
  JobLog read() {
    auto job = read_job(folder_);
    EXPECT_TRUE(job.ok()) << job.error().message;
    return std::move(job).value();
  }
  PageTotals totals() { return count_pages(read(), 100); }
  std::string page() {
    JobLog job = read();
    return as_html(job, count(job));
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
};

// A name's calls at one PE.
void note_call(EventLog& log, std::uint64_t number, std::string_view name, TimeKind kind,
               std::uint64_t calls, std::uint64_t ns) {
  log.note_text(Event::kCall, {.object = number, .value = ns, .kind = number_of(kind)}, name);
  log.note(Event::kCalls, {.object = number, .value = calls});
}

void pass(std::uint64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// Its counter is added to at the end of a wait, which covers the steps before.
TEST_F(PageTotalsTest, ALongWaitLiesWhereItWas) {
  auto log = begin(0, 1);
  log->note_text(Event::kStrip, {.object = 3, .kind = 1}, "thread 3");
  log->note(Event::kLives, {.object = 3, .kind = 1});
  pass(100);
  log->note(Event::kTime, {.object = 3,
                           .value = 50 * kMillisecond,
                           .kind = number_of(TimeKind::kBarrier),
                           .number = 2000});
  log->note(Event::kLives, {.object = 3, .kind = 0});
  log.reset();
  PageTotals found = totals();
  ASSERT_EQ(found.strips.size(), 1u);
  const Strip& strip = found.strips[0];
  EXPECT_EQ(strip.name, "thread 3");
  constexpr auto kBarrier = static_cast<std::size_t>(TimeKind::kBarrier);
  EXPECT_EQ(strip.all[kBarrier], 50.0 * kMillisecond);
  EXPECT_EQ(strip.steps[10].ns[kBarrier], 0);
  EXPECT_GT(strip.steps[90].ns[kBarrier], 0.9 * strip.steps[90].lived_ns);
  EXPECT_NEAR(strip.computing(), strip.lived_ns - 50.0 * kMillisecond, 1);
}

// As a node records it. A step that lasts as long as the waits in it is full of them.
TEST_F(PageTotalsTest, WhatAThreadWaitsForIsInTheStrip) {
  ThreadRegistry threads;
  auto trace = std::make_unique<PageTrace>(begin(0, 1), threads);
  std::thread worker([&] {
    ThreadContext& context = threads.current();
    for (int i = 0; i < 50; ++i) {
      pass(2);
      context.counters.lock_ns.add(2 * kMillisecond);
      trace->waited(context, TimeKind::kLock, 7, 2 * kMillisecond);
      trace->waited(context, TimeKind::kLock, 8, 10);  // too short for a record
    }
  });
  worker.join();
  trace->stop();
  trace->close();
  PageTotals found = totals();
  ASSERT_EQ(found.strips.size(), 1u);
  EXPECT_TRUE(found.strips[0].is_program);
  EXPECT_EQ(found.strips[0].all[static_cast<std::size_t>(TimeKind::kLock)], 100.0 * kMillisecond);
  EXPECT_LT(found.strips[0].computing(), 0.7 * found.strips[0].lived_ns);
  ASSERT_FALSE(found.waits.empty());
  for (const Wait& one : found.waits) EXPECT_EQ(one.record.object, 7u);
}

TEST_F(PageTotalsTest, AThreadOfTerraneIsNoThreadOfTheProgram) {
  ThreadRegistry threads;
  auto trace = std::make_unique<PageTrace>(begin(0, 1), threads);
  std::thread handler([&] {
    threads.current().role = "handler";
    pass(20);
    threads.current().counters.handler_ns.add(kMillisecond);
    pass(20);
  });
  handler.join();
  trace->stop();
  trace->close();
  PageTotals found = totals();
  ASSERT_EQ(found.strips.size(), 1u);
  EXPECT_EQ(found.strips[0].name, "handler");
  EXPECT_FALSE(found.strips[0].is_program);
  EXPECT_TRUE(strips_of_nodes(found.strips).empty());
}

// However many waits there are.
TEST_F(PageTotalsTest, ALogIsBounded) {
  ThreadRegistry threads;
  auto trace = std::make_unique<PageTrace>(begin(0, 1), threads);
  ThreadContext& context = threads.current();
  constexpr std::uint64_t kMany = 200'000;
  for (std::uint64_t i = 0; i < kMany; ++i)
    trace->waited(context, TimeKind::kFault, kAddress, kMillisecond);
  trace->stop();
  trace->close();
  JobLog job = read();
  std::uint64_t recorded = 0;
  for (const Entry& entry : job.logs[0].entries) recorded += entry.record.event == Event::kWait;
  EXPECT_LT(recorded, kMany);
  EXPECT_EQ(recorded + count_pages(job, 100).waits_without_record, kMany);
  EXPECT_TRUE(has(page(), "long waits have no record of their own"));
}

constexpr std::uint64_t kLock = (std::uint64_t{1} << 56) + 17;

// What a node has counted at the end of its job.
void write_numbers(EventLog& log, std::uint32_t node) {
  log.note(Event::kLock, {.object = kLock, .value = 1000 * (node + 1), .number = 5});
  log.note(Event::kLockTravels, {.object = kLock, .number = 2});
  log.note(
      Event::kMemory,
      {.object = kAddress + 65536 * node, .value = 30, .kind = number_of(MemoryCount::kFetched)});
  log.note(Event::kMoved, {.value = 100, .kind = number_of(Moved::kSent), .number = 1 - node});
  log.note(Event::kMoved,
           {.value = 4096 * (node + 1), .kind = number_of(Moved::kCame), .number = 1 - node});
  log.note(Event::kHomes, {.object = kAddress, .value = 65536, .number = 3 + node});
}

// What node 0 adds.
void write_names(EventLog& log) {
  log.note_text(Event::kNamed, {.object = kLock}, "the lock <u>");
  log.note_text(Event::kNamed, {.object = kAddress, .value = 1 << 20}, "grid.c:7");
  log.note_text(Event::kSlow, {}, "node 1 waited 50 % of its time for the lock <u>");
  log.note_text(Event::kShared, {.object = kAddress + 8, .value = 9, .kind = 0, .detail = 1},
                "node 0 writes a; node 1 writes b\n70 60 1 4\n00..11\nput them apart");
  log.note_text(Event::kRegion, {.object = 2, .value = 77}, "main.c:5");
  log.note(Event::kRegionCount, {.object = 2, .value = 12, .kind = number_of(RegionCount::kCalls)});
}

// Each node writes what it has counted, node 0 the names.
TEST_F(PageTotalsTest, NumbersOfAllNodesMeetTheirNames) {
  for (std::uint32_t node = 0; node < 2; ++node) {
    auto log = begin(node);
    write_numbers(*log, node);
    if (node == 0) write_names(*log);
  }
  PageTotals found = totals();
  ASSERT_EQ(found.locks.size(), 1u);
  EXPECT_EQ(found.locks[0].name, "the lock <u>");
  EXPECT_EQ(found.locks[0].wait_ns, 3000u);
  EXPECT_EQ(found.locks[0].times, 10u);
  EXPECT_EQ(found.locks[0].travels, 4u);
  ASSERT_EQ(found.memory.size(), 1u);
  EXPECT_EQ(found.memory[0].name, "grid.c:7");
  EXPECT_EQ(found.memory[0].counts[static_cast<std::size_t>(MemoryCount::kFetched)], 60u);
  EXPECT_EQ(found.moved[0][1], 100u + 8192u);
  EXPECT_EQ(found.moved[1][0], 100u + 4096u);
  ASSERT_EQ(found.homes.size(), 1u);
  EXPECT_EQ(found.homes[0].pages.at(1), 4u);
  ASSERT_EQ(found.shared.size(), 1u);
  EXPECT_EQ(found.shared[0].again, 70u);
  EXPECT_EQ(found.shared[0].scale, 4u);
  EXPECT_EQ(found.shared[0].remedy, "put them apart");
}

TEST_F(PageTotalsTest, ThePageShowsThem) {
  auto log = begin(0, 1);
  write_numbers(*log, 0);
  write_names(*log);
  log.reset();
  std::string text = page();
  EXPECT_TRUE(has(text, "Node 1 waited 50 % of its time for the lock &lt;u&gt;. ")) << text;
  EXPECT_TRUE(has(text, "<b>false sharing</b>: node 0 writes a; node 1 writes b")) << text;
  EXPECT_TRUE(has(text, "title=\"node 1, 8 bytes\"")) << text;
  EXPECT_TRUE(has(text, "</span>main.c:5</td><td>12</td><td>77 ns</td>")) << text;
  EXPECT_FALSE(has(text, "Addresses stand where")) << text;
}

TEST_F(PageTotalsTest, WithoutNamesThePageSaysHowToGetThem) {
  auto log = begin(0, 1);
  log->note(Event::kMemory, {.object = kAddress, .value = 3, .kind = 0});
  log.reset();
  std::string text = page();
  EXPECT_TRUE(has(text, "<td>0x70000000</td>")) << text;
  EXPECT_TRUE(has(text, "Addresses stand where the program has no names: compile with -g")) << text;
}

// Nobody has written its end, nor a sentence.
TEST_F(PageTotalsTest, AJobThatDidNotEndIsReadAsFarAsItGoes) {
  auto log = begin(0);
  log->note_text(Event::kStrip, {.object = 0, .kind = 1}, "thread 0");
  log->note(Event::kLives, {.object = 0, .kind = 1});
  pass(30);
  log->note(Event::kTime, {.object = 0,
                           .value = 20 * kMillisecond,
                           .kind = number_of(TimeKind::kLock),
                           .number = 30000});
  log.reset();
  std::string file = folder_ + "/0.pages.events";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - sizeof(BlockHeader));
  JobLog job = read();
  ASSERT_EQ(job.notes.size(), 2u);
  EXPECT_TRUE(has(job.notes[0], "its log reads up to ")) << job.notes[0];
  EXPECT_GE(job.length_ns, 30 * kMillisecond);
  std::string text = page();
  EXPECT_TRUE(has(text, "The job did not end in order")) << text;
  EXPECT_TRUE(has(text, "lock took most")) << text;
}

TEST_F(PageTotalsTest, ANodeMayHaveALogOfPagesAndOneOfChunks) {
  begin(0, 1).reset();
  create(0, 1)->note(Event::kState, {.object = 1, .kind = 1});
  JobLog job = read();
  EXPECT_TRUE(job.has_chunks && job.has_strips);
  EXPECT_EQ(job.logs.size(), 2u);
  EXPECT_EQ(job.notes.size(), 0u);
}

TEST_F(PageTotalsTest, LogsOfTwoJobsInOneFolderAreRefused) {
  for (std::uint32_t node = 0; node < 2; ++node) {
    ::setenv(kJobVariable, node == 0 ? "one" : "other", 1);
    begin(node).reset();
  }
  ::unsetenv(kJobVariable);
  auto job = read_job(folder_);
  ASSERT_FALSE(job.ok());
  EXPECT_TRUE(has(job.error().message, "are logs of different jobs")) << job.error().message;
}

// With many threads a strip is a node's.
TEST_F(PageTotalsTest, ManyThreadsAreOneStripForEachNode) {
  for (std::uint32_t node = 0; node < 2; ++node) {
    auto log = begin(node);
    for (std::uint64_t i = 0; i < 40; ++i) {
      log->note_text(Event::kStrip, {.object = i, .kind = 1}, "thread");
      log->note(Event::kLives, {.object = i, .kind = 1});
    }
    pass(5);
  }
  std::string text = page();
  EXPECT_TRUE(has(text, "<span>node 0, 40 threads</span>")) << text;
  EXPECT_TRUE(has(text, "<span>node 1, 40 threads</span>")) << text;
}

// Calls are added up by name, waits by place, whatever numbers each PE gives them.
TEST_F(PageTotalsTest, CallsOfOpenShmemAreAddedUp) {
  for (std::uint32_t pe : {0u, 1u}) {
    auto log = EventLog::create({.folder = folder_,
                                 .node = NodeId{pe},
                                 .nodes = 2,
                                 .host = "somewhere",
                                 .front_end = ".shmem"});
    ASSERT_TRUE(log.ok()) << log.error().message;
    EventLog& to = *log.value();
    to.note(Event::kShmem, {});
    to.note_text(Event::kStrip, {.object = 0, .kind = 1}, "thread 0");
    to.note(Event::kLives, {.object = 0, .kind = 1});
    constexpr std::uint64_t kPlace = std::uint64_t{1} << 63;
    to.note(Event::kWait, {.object = kPlace | (pe + 1),
                           .value = (pe + 1) * kMillisecond,
                           .kind = number_of(TimeKind::kLock)});
    to.note_text(Event::kNamed, {.object = kPlace | (pe + 1), .value = 1}, "shmem_wait at a.c:1");
    pass(10);
    note_call(to, 1 - pe, "shmem_wait", TimeKind::kLock, 10 + pe, (1 + 2 * pe) * kMillisecond);
    note_call(to, pe, "shmem_get", TimeKind::kFault, 5, kMillisecond);
    to.note(Event::kLives, {.object = 0, .kind = 0});
  }
  PageTotals found = totals();
  EXPECT_TRUE(found.has_shmem && !found.has_pages);
  ASSERT_EQ(found.calls.size(), 2u);
  EXPECT_EQ(found.calls[0].name, "shmem_wait");
  EXPECT_EQ(found.calls[0].calls, 21u);
  EXPECT_EQ(found.calls[0].ns, 4 * kMillisecond);
  EXPECT_EQ(found.calls[0].most_ns, 3 * kMillisecond);
  EXPECT_EQ(found.calls[0].most_pe, 1u);
  EXPECT_EQ(found.calls[1].calls, 10u);
  ASSERT_EQ(found.places.size(), 1u);
  EXPECT_EQ(found.places[0].waits, 2u);
  EXPECT_EQ(found.places[0].longest_ns, 2 * kMillisecond);
  std::string text = page();
  EXPECT_TRUE(has(text, "They waited longest in shmem_wait at a.c:1: 3.0 ms in 2 long waits"))
      << text;
  EXPECT_TRUE(has(text, "<td>shmem_get</td><td class=\"t\">transfer</td><td>10</td>")) << text;
  EXPECT_FALSE(has(text, "node 0 named nothing")) << text;
}

}  // namespace
}  // namespace terrane::tools::report
