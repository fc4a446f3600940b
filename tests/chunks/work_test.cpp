// Work streams on real processes: pipelines, deaths in mid-stream, and what a frame costs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <sstream>

#include "../launcher/launched.h"

namespace terrane::cluster_test {
namespace {

const std::vector<std::string> kByMessages{"TERRANE_ONE_SIDED=0"};

struct Ran {
  Outcome outcome;
  std::uint64_t messages = 0, data = 0, shared = 0, taken = 0, again = 0;  // of all nodes
};

Ran run_work(const std::string& options, const std::string& mode,
             std::vector<std::string> environment = {}) {
  Launched job(words(fmt::format("{} run {} {} {}", kTerrane, options, WORK_PROGRAM, mode)),
               {.environment = std::move(environment)});
  Ran ran{.outcome = job.finish()};
  EXPECT_FALSE(ran.outcome.timed_out) << mode << " hangs: " << ran.outcome.err;
  EXPECT_GE(job.ms_until_all_gone(), 0) << mode << " leaves processes behind";
  std::istringstream lines(ran.outcome.out);
  for (std::string word; lines >> word;) {
    std::uint64_t* to = word == "messages" ? &ran.messages
                        : word == "data"   ? &ran.data
                        : word == "shared" ? &ran.shared
                        : word == "taken"  ? &ran.taken
                        : word == "again"  ? &ran.again
                                           : nullptr;
    std::uint64_t value = 0;
    if (to != nullptr && lines >> value) *to += value;
  }
  return ran;
}

void expect_good(int nodes, const std::string& mode, const std::string& options = "",
                 std::vector<std::string> environment = {}) {
  Ran ran = run_work(fmt::format("-n {} {}", nodes, options), mode, std::move(environment));
  EXPECT_EQ(ran.outcome.exit_code, 0) << mode << ": " << ran.outcome.err;
  EXPECT_EQ(count(ran.outcome.out, "good"), nodes) << ran.outcome.out << ran.outcome.err;
}

TEST(WorkStreamsTest, APipelineDeliversEachFrameOnceAndInOrder) {
  expect_good(3, "pipeline 300");
  expect_good(5, "pipeline 300");
  expect_good(5, "pipeline 300", "--servers 2");
  expect_good(4, "pipeline 300", "", kByMessages);
}

TEST(WorkStreamsTest, AFrameTakesFourMessagesAndCrossesTheNetworkTwice) {
  constexpr double kFrames = 500, kFull = 64 << 10;
  Ran ran = run_work("-n 4", "counted 500", kByMessages);
  ASSERT_EQ(ran.outcome.exit_code, 0) << ran.outcome.err;
  double messages = static_cast<double>(ran.messages) / kFrames;
  double transfers = static_cast<double>(ran.data) / (kFrames * kFull);
  RecordProperty("messages_per_frame", std::to_string(messages));
  RecordProperty("transfers_per_frame", std::to_string(transfers));
  std::printf("%.3f messages and %.3f transfers a frame\n", messages, transfers);
  EXPECT_LE(messages, 7.0) << "four, and credits: on a busy machine they travel one by one";
  EXPECT_GE(transfers, 2.0);
  EXPECT_LE(transfers, 2.05);
  EXPECT_EQ(ran.taken, 2 * 500u);
  EXPECT_EQ(ran.again, 0u);
}

TEST(WorkStreamsTest, NodesOfAHostSendNoBytes) {
  Ran ran = run_work("-n 4", "counted 200");
  ASSERT_EQ(ran.outcome.exit_code, 0) << ran.outcome.err;
  EXPECT_EQ(ran.data, 0u);
  EXPECT_GE(ran.shared, 2u * 200 * (64 << 10));
}

// At each point of a frame, in the first frame and later.
TEST(WorkStreamsTest, AWorkerThatIsKilledLosesNoFrame) {
  for (int frame : {1, 30}) {
    for (int point : {1, 2, 3, 4}) {
      for (bool by_messages : {false, true}) {
        Ran ran =
            run_work("-n 5 --on-death survive", fmt::format("pipeline 200 {} {}", frame, point),
                     by_messages ? kByMessages : std::vector<std::string>{});
        EXPECT_EQ(ran.outcome.exit_code, 128 + SIGKILL) << ran.outcome.err;
        EXPECT_EQ(count(ran.outcome.out, "good"), 4)
            << "frame " << frame << ", point " << point << ": " << ran.outcome.err;
      }
    }
  }
}

TEST(WorkStreamsTest, WhatAThreadMakesDependsOnWhatItTookWhicheverThreadDelivers) {
  Ran ran = run_work("-n 3 --on-death survive", "two_threads");
  EXPECT_EQ(ran.outcome.exit_code, 128 + SIGKILL) << ran.outcome.err;
  EXPECT_EQ(count(ran.outcome.out, "good"), 2) << ran.outcome.err;
}

TEST(WorkStreamsTest, DeathsAreHeardOfByName) {
  Ran ran = run_work("-n 3 --on-death survive --patience 1", "members");
  EXPECT_EQ(ran.outcome.exit_code, 128 + SIGKILL) << ran.outcome.err;
  EXPECT_EQ(count(ran.outcome.out, "good"), 2) << ran.outcome.err;
  EXPECT_NE(ran.outcome.err.find("work stream 'frames': node 2 on "), std::string::npos);
  // Whether the second version was sent to it before its death is chance.
  bool named = ran.outcome.err.find("(tag 7)") != std::string::npos ||
               ran.outcome.err.find("(tags 7, 8)") != std::string::npos;
  EXPECT_TRUE(named) << ran.outcome.err;
  EXPECT_NE(ran.outcome.err.find(", which has died"), std::string::npos) << ran.outcome.err;
  EXPECT_EQ(ran.outcome.err.find("has held a"), std::string::npos) << ran.outcome.err;
}

TEST(WorkStreamsTest, ManyVersionsAreOpenAndDescriptorsSayWhatCanBeWritten) {
  expect_good(2, "versions");
  expect_good(3, "versions", "", kByMessages);
}

TEST(WorkStreamsTest, BadInputGetsASentence) {
  for (int nodes : {1, 3}) expect_good(nodes, "misuse");
}

}  // namespace
}  // namespace terrane::cluster_test
