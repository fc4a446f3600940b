#include "tools/report/node_log.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

#include "platform/wait.h"
#include "tools/report/job_log.h"
#include "tools/report/test_logs.h"

namespace terrane::tools::report {
namespace {

using runtime::trace::BlockHeader;
using runtime::trace::BlockKind;
using runtime::trace::EventLog;
using runtime::trace::FileHeader;

class NodeLogTest : public LogTest {
 protected:
  std::string path(std::uint32_t node = 0) const {
    return folder_ + "/" + std::to_string(node) + ".events";
  }
};

std::string refusal_of(std::span<const std::byte> bytes) {
  auto log = parse_log(bytes, "LOG");
  return log ? "" : log.error().message;
}

// A log as a node writes it, put together by hand.
class Bytes {
 public:
  template <typename T>
  Bytes& put(const T& value) {
    auto* at = reinterpret_cast<const std::byte*>(&value);
    all.insert(all.end(), at, at + sizeof value);
    return *this;
  }
  Bytes& records(std::uint32_t thread, const std::vector<Record>& records) {
    put(BlockHeader{.thread = thread,
                    .bytes = static_cast<std::uint32_t>(records.size() * sizeof(Record))});
    for (const Record& record : records) put(record);
    return *this;
  }
  std::vector<std::byte> all;
};

FileHeader header(std::uint32_t node = 0, std::uint32_t nodes = 1) {
  FileHeader header;
  header.node = node;
  header.nodes = nodes;
  return header;
}

TEST_F(NodeLogTest, EverythingThatThreadsNoteIsRead) {
  constexpr std::uint64_t kThreads = 4, kEach = 10'000;  // more than a ring holds
  auto log = create();
  for (int round = 0; round < 2; ++round) {
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        for (std::uint64_t i = 0; i < kEach; ++i)
          log->note(Event::kPublished, {.object = t, .value = i});
      });
    for (std::thread& thread : threads) thread.join();
  }
  log.reset();
  auto read = read_log(path());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read.value().host, "somewhere");
  EXPECT_TRUE(read.value().ended);
  EXPECT_EQ(read.value().left_out, "");
  ASSERT_EQ(read.value().entries.size(), 2 * kThreads * kEach);
  std::map<std::uint32_t, std::uint64_t> next;  // each thread's are in order
  std::uint64_t sum = 0;
  for (const Entry& entry : read.value().entries) {
    std::uint64_t& expected = next[entry.thread];
    EXPECT_EQ(entry.record.value, expected % kEach);
    ++expected;
    sum += entry.record.value;
  }
  EXPECT_EQ(sum, 2 * kThreads * (kEach * (kEach - 1) / 2));
}

// As a handler of exit does: the variables of its thread have been destroyed before it.
TEST_F(NodeLogTest, AThreadMayNoteMoreWhenItsVariablesAreDestroyed) {
  auto log = create();
  struct AtEnd {
    EventLog* log = nullptr;
    ~AtEnd() {
      std::this_thread::sleep_for(std::chrono::milliseconds(250));  // the log is drained
      log->note(Event::kState, {.object = 2});
    }
  };
  std::thread([&] {
    thread_local AtEnd at_end;  // destroyed after what the log makes
    at_end.log = log.get();
    log->note(Event::kState, {.object = 1});
  }).join();
  log.reset();
  auto read = read_log(path());
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read.value().entries.size(), 2u);
  EXPECT_EQ(read.value().entries[1].record.object, 2u);
}

TEST_F(NodeLogTest, NamesOfAnyLengthAreRead) {
  auto log = create();
  for (std::size_t length : {0, 1, 31, 32, 33, 64, 255})
    log->note_text(Event::kObjectName, {.object = length, .value = 7, .kind = 2},
                   std::string(length, 'n'));
  log->note(Event::kState, {.object = 33, .kind = 1});
  log.reset();
  auto read = read_log(path());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read.value().objects.size(), 7u);
  for (const auto& [length, object] : read.value().objects) {
    EXPECT_EQ(object.name, std::string(length, 'n'));
    EXPECT_EQ(object.bytes, 7u);
    EXPECT_EQ(object.kind, 2u);
  }
  EXPECT_EQ(read.value().entries.size(), 1u);
  EXPECT_EQ(read.value().events.at(103), "state");
  EXPECT_FALSE(read.value().threads.empty());
}

TEST_F(NodeLogTest, TimesAreOfTheClock) {
  std::uint64_t begin = platform::ticks(), begin_ns = platform::now_ns();
  auto log = create();
  while (platform::now_ns() - begin_ns < 200'000'000) {  // the log has been drained once
  }
  log->note(Event::kScope, {.value = platform::ticks() - begin});
  std::uint64_t end_ns = platform::now_ns();
  log.reset();
  auto read = read_log(path());
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read.value().entries.size(), 1u);
  const Record& record = read.value().entries[0].record;
  constexpr std::uint64_t kRoundingNs = 100'000;
  EXPECT_LE(record.time_ns, end_ns + kRoundingNs);
  EXPECT_GE(record.time_ns, begin_ns + 200'000'000 - kRoundingNs);
  EXPECT_GE(record.value, 200'000'000 - kRoundingNs);
  EXPECT_LE(record.value, end_ns - begin_ns + kRoundingNs);
}

TEST_F(NodeLogTest, AFolderWithALogOfThisNodeIsRefused) {
  create().reset();
  auto again = EventLog::create({.folder = folder_, .node = NodeId{0}, .nodes = 2});
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.error().message.find("another job"), std::string::npos);
  auto nowhere = EventLog::create({.folder = "/proc/none", .node = NodeId{0}, .nodes = 2});
  ASSERT_FALSE(nowhere.ok());
}

// The file may not grow any more: the process goes on, and what was written can be read.
TEST_F(NodeLogTest, ALogThatCannotGrowEndsThere) {
  pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{400'000, 400'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto log = create();
    for (std::uint64_t i = 0; i < 50'000; ++i) log->note(Event::kState, {.value = i});
    log.reset();
    std::_Exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  auto read = read_log(path());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_FALSE(read.value().ended);
  EXPECT_GT(read.value().entries.size(), 4'000u);
  for (std::size_t i = 0; i < read.value().entries.size(); ++i)
    EXPECT_EQ(read.value().entries[i].record.value, i);
}

TEST(NodeLogBytesTest, ATornEndIsLeftOutWithAWord) {
  Bytes bytes;
  bytes.put(header()).records(
      5, {{.time_ns = 1, .event = Event::kState}, {.time_ns = 2, .event = Event::kState}});
  std::size_t whole = bytes.all.size();
  for (std::size_t cut = sizeof(FileHeader) + 1; cut < whole; ++cut) {
    auto log = parse_log(std::span(bytes.all).first(cut), "LOG");
    ASSERT_TRUE(log.ok());
    std::size_t body = sizeof(FileHeader) + sizeof(BlockHeader);
    EXPECT_EQ(log.value().entries.size(), cut < body ? 0 : (cut - body) / sizeof(Record));
    EXPECT_NE(log.value().left_out.find("LOG breaks off"), std::string::npos) << cut;
  }
  auto log = parse_log(bytes.all, "LOG");
  EXPECT_EQ(log.value().left_out, "");
  EXPECT_FALSE(log.value().ended);
}

TEST(NodeLogBytesTest, WhatIsDamagedIsLeftOutWithAWord) {
  Bytes bytes;
  bytes.put(header()).records(5, {{.event = Event::kState}}).put(std::uint64_t{77});
  bytes.put(std::uint64_t{78}).records(5, {{.event = Event::kState}});
  auto log = parse_log(bytes.all, "LOG");
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(log.value().entries.size(), 1u);
  EXPECT_NE(log.value().left_out.find("damaged at byte"), std::string::npos);
}

TEST(NodeLogBytesTest, ANameMaySpanBlocksOfItsThread) {
  Record piece;
  std::memset(static_cast<void*>(&piece), 'x', sizeof piece);
  Bytes bytes;
  bytes.put(header())
      .records(5, {{.object = 9, .event = Event::kObjectName, .number = 40}, piece})
      .records(6, {{.event = Event::kState}})
      .records(5, {piece, {.event = Event::kState}});
  auto log = parse_log(bytes.all, "LOG");
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(log.value().objects.at(9).name, std::string(40, 'x'));
  EXPECT_EQ(log.value().entries.size(), 2u);
}

TEST(NodeLogBytesTest, WhatIsNoLogOfThisVersionIsRefused) {
  EXPECT_NE(refusal_of({}).find("empty"), std::string::npos);
  std::string text =
      "just some text that is longer than the header of a log, so that it could be one "
      "by its length alone, could it not?";
  EXPECT_NE(refusal_of(std::as_bytes(std::span(text))).find("not an event log"), std::string::npos);
  FileHeader other = header();
  other.version = 2;
  EXPECT_NE(refusal_of(Bytes().put(other).all).find("version 2"), std::string::npos);
  other = header();
  other.byte_order = 0x04030201;
  EXPECT_NE(refusal_of(Bytes().put(other).all).find("order of bytes"), std::string::npos);
  EXPECT_NE(refusal_of(Bytes().put(header(3, 2)).all).find("node 3 of 2"), std::string::npos);
  Bytes cut;
  cut.put(header());
  EXPECT_NE(refusal_of(std::span(cut.all).first(50)).find("breaks off"), std::string::npos);
}

TEST(JobLogTest, LogsOfDifferentJobsAreRefused) {
  auto log_of = [](std::uint32_t node, std::uint32_t nodes) {
    return parse_log(Bytes().put(header(node, nodes)).all, "LOG").value();
  };
  EXPECT_TRUE(join_logs({log_of(0, 2), log_of(1, 2)}).ok());
  EXPECT_FALSE(join_logs({log_of(0, 2), log_of(0, 2)}).ok());
  EXPECT_FALSE(join_logs({log_of(0, 2), log_of(1, 3)}).ok());
  auto part = join_logs({log_of(1, 3)});
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part.value().notes.size(), 2u);  // did not end; two are missing
}

TEST(JobLogTest, NamesBecomeTextThatMayStandAnywhere) {
  EXPECT_EQ(printable("caf\xc3\xa9 1"), "caf\xc3\xa9 1");
  EXPECT_EQ(printable("\xff\x01<\n"), "\\xff\\x01<\\x0a");
  EXPECT_EQ(printable("\xc3"), "\\xc3");
  EXPECT_EQ(printable("\xc0\x80"), "\\xc0\\x80");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(making_of("\1lock x"), Making::kLock);
  EXPECT_EQ(making_of("lock x"), Making::kChunk);
}

}  // namespace
}  // namespace terrane::tools::report
