#include "sim/script/script.h"

#include <gtest/gtest.h>

#include "sim/campaign.h"
#include "sim/script/settings.h"

namespace terrane::sim {
namespace {

constexpr std::string_view kStart =
    "nodes 2\nregion a: 2 blocks, home node 0\nnode 0: allocate a\n";

std::string text_of(std::string_view statements) {
  return std::string(kStart) + std::string(statements);
}

std::string error_of(std::string_view text) {
  base::Result<Script> script = parse_script("x.scenario", text);
  return script ? "no error" : script.error().message;
}

ScriptReport report_of(std::string_view text) {
  base::Result<Script> script = parse_script("x.scenario", text);
  EXPECT_TRUE(script) << script.error().message;
  return script ? run_script(script.value()) : ScriptReport{};
}

TEST(ScriptTest, ABadLineIsNamedWithWhatWasExpected) {
  constexpr std::string_view kCases[][2] = {
      {"nodes 2\nunit 64\nnode x: read a\n",
       "x.scenario:3: expected the number of a node, found 'x'"},
      {"nodes 99\n", "x.scenario:1: expected a number from 1 to 16 after 'nodes', found '99'"},
      {"detection maybe\n",
       "x.scenario:1: expected scan or fault after 'detection', found 'maybe'"},
      {"region a: two blocks\n", "x.scenario:1: expected a number of blocks, found 'two'"},
      {"region a: 1 block, home node 5\n",
       "x.scenario:1: expected the number of a node from 0 to 1, found '5'"},
      {"region a: 1 block\nnode 0: read b\n",
       "x.scenario:2: expected the name of a region, found 'b'"},
      {"region a: 1 block\nnode 0: write a\n",
       "x.scenario:2: expected '=', found the end of the line"},
      {"region a: 1 block\nnode 0: write a+3 = 1\n",
       "x.scenario:2: expected 1, 2, 4 or 8 bytes at a multiple of their number, found 8 at byte "
       "3"},
      {"region a: 1 block\nnode 0: read a -> 1 2\n",
       "x.scenario:2: expected the end of the line, found '2'"},
      {"region a: 1 block\nnodes 3\n",
       "x.scenario:2: expected settings above the first region or statement"},
      {"planted fault Nonsense\n",
       "x.scenario:1: expected a planted fault (terrane sim --mutant list), found 'Nonsense'"},
      {"trace Nonsense\n",
       "x.scenario:1: expected the name of a step, a message or an event, found 'Nonsense'"},
      {"node 0: lock 1, stop before Nonsense\n",
       "x.scenario:1: expected the name of a step, found 'Nonsense'"},
      {"node 0: lock 1\n  > node 0: Call\n",
       "x.scenario:2: expected a line 'trace ...' above, which says what of the trace is compared"},
      {"parallel\nnode 0: lock 1\n",
       "x.scenario:2: expected 'end' of the parallel section, found the end of the file"},
      {"", "x.scenario:0: expected a statement, found the end of the file"},
  };
  for (const auto& [text, error] : kCases) EXPECT_EQ(error_of(text), error);
}

TEST(ScriptTest, AReadThatFindsAnotherValueIsNamedWithItsLineAndByte) {
  ScriptReport report =
      report_of(text_of("node 0: write a[1]+8 = 0x0300\nnode 1: read a[1]+8 -> 0x0100\n"));
  EXPECT_TRUE(report.broke_a_rule);
  EXPECT_EQ(report.failure,
            "x.scenario:5: WrongValue: node 1 thread 1 loads 8 bytes from byte 8 of a[1] and finds "
            "0x300, where 0x100 is expected; byte 9 is the first that differs (rule: a load "
            "returns the latest store that happened before it)");
  EXPECT_FALSE(report.trace.empty());
}

TEST(ScriptTest, TheFirstLineOfATraceThatDiffersIsShownInBothVersions) {
  ScriptReport report =
      report_of(text_of("trace faults, CopyHome\nnode 1: read a -> 0\n"
                        "  > node 1: read fault a[0]\n  > node 1: CopyHome a[1] at node 0\n"));
  EXPECT_FALSE(report.broke_a_rule);
  EXPECT_EQ(report.failure,
            "x.scenario:7: the trace differs\n  expected: node 1: CopyHome a[1] at node 0\n"
            "  found:    node 1: CopyHome a[0] at node 0");
}

TEST(ScriptTest, AnUpdateWritesTheTraceThatWasFound) {
  std::string before = text_of(
      "trace faults\n# A miss.\nnode 1: read a -> 0\n  > node 1: nonsense\n\n"
      "node 1: read a -> 0\n");
  ScriptReport report = report_of(before);
  EXPECT_FALSE(report.failure.empty());
  EXPECT_EQ(report.updated,
            text_of("trace faults\n# A miss.\nnode 1: read a -> 0\n  > node 1: read fault a[0]\n\n"
                    "node 1: read a -> 0\n"));
  EXPECT_EQ(report_of(report.updated).failure, "");
}

TEST(ScriptTest, AThreadStopsBeforeAStepAndContinues) {
  constexpr std::string_view kStops =
      "trace Zap, CopyHome\nnode 1: read a, stop before CopyHome\n"
      "node 0: write a = 5\nnode 1: continue\n  > node 1: CopyHome a[0] at node 0\n";
  std::string races = "races yes\n" + text_of(kStops);
  EXPECT_EQ(report_of(races).failure, "");
  EXPECT_EQ(report_of(text_of("node 1: read a, stop before Zap\nnode 1: continue\n")).failure,
            "x.scenario:5: a thread is to continue, and has not stopped");
}

TEST(ScriptTest, MessagesAreHeldUntilTheyAreDelivered) {
  std::string text = text_of(
      "trace lock request\nhold messages from node 1 to node 0\nnode 1: lock 0\n"
      "deliver messages from node 1 to node 0\n  > node 0: receives lock request from node 1\n"
      "node 1: unlock 0\n");
  EXPECT_EQ(report_of(text).failure, "");
  std::string stays = text_of("hold messages from node 1 to node 0\nnode 1: lock 0\n");
  EXPECT_NE(report_of(stays).failure.find("Deadlock"), std::string::npos);
}

TEST(ScriptTest, AStatementThatMustWaitLetsTheNextOnesRun) {
  EXPECT_EQ(report_of(text_of("node 0: lock 0\nnode 1: lock 0\nnode 0: write a = 1\n"
                              "node 0: unlock 0\nnode 1: read a -> 1\nnode 1: unlock 0\n"))
                .failure,
            "");
}

TEST(ScriptTest, AParallelSectionIsTriedInManyOrders) {
  std::string text = "orders 200\n" + text_of(
                                          "parallel\nnode 0: atomic add a = 1\n"
                                          "node 1: atomic add a = 1 -> 0\nend\n");
  ScriptReport report = report_of(text);
  EXPECT_NE(report.failure.find("finds 0x1, where 0x0 is expected"), std::string::npos);
  EXPECT_NE(report.failure.find(", in order "), std::string::npos) << report.failure;
}

TEST(ScriptTest, AFailureThatIsExpectedMustOccur) {
  std::string text = "fails with WrongValue\n" + text_of("node 1: read a -> 0\n");
  EXPECT_EQ(report_of(text).failure,
            "x.scenario: expected to fail with WrongValue, and nothing failed");
  text = "fails with WrongValue\n" + text_of("node 1: read a -> 1\n");
  EXPECT_EQ(report_of(text).failure, "");
}

TEST(ScriptTest, EachSettingIsReadAsItIsWritten) {
  for (const Setting& setting : settings()) {
    sim::Setup setup;
    std::string value = setting.value_in(sim::Setup{});
    EXPECT_TRUE(setting.set(setup, value) || setting.name == "memory limit") << setting.name;
    EXPECT_TRUE(setting.is_default_in(setup)) << setting.name;
    EXPECT_FALSE(setting.set(setup, "nonsense")) << setting.name;
  }
}

TEST(SeedFormatTest, IsTheSameForAllRunsAndOneForEachGenerator) {
  EXPECT_EQ(seed_format(Protocol::kHlrc), seed_format(Protocol::kHlrc));
  EXPECT_EQ(seed_format(Protocol::kHlrc).size(), 4u);
  EXPECT_NE(seed_format(Protocol::kHlrc), seed_format(Protocol::kSc));
  EXPECT_NE(seed_format(Protocol::kHlrc), seed_format(Protocol::kMesiChunk));
}

}  // namespace
}  // namespace terrane::sim
