#include "runtime/race_report.h"

#include <gtest/gtest.h>

namespace terrane::runtime {
namespace {

RaceRecord record(std::uint64_t first, std::uint32_t one, std::uint32_t other) {
  return {.first = first, .bytes = 4, .times = 2, .nodes = {one, other}};
}

std::vector<RaceLine> lines_of(const std::vector<RaceRecord>& records) {
  auto variable = [](const RaceRecord& one) {
    return one.first < 100 ? NamedVariable{"low", one.first}
                           : NamedVariable{"h\"igh", one.first - 100};
  };
  return race_lines(records, variable);
}

TEST(RaceReportTest, RecordsOfOneVariableAreOneLine) {
  auto lines = lines_of({record(8, 0, 1), record(64, 1, 0), record(108, 0, 1), record(8, 0, 2)});
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1].variable, "low");
  EXPECT_EQ(lines[1].first, 8u);
  EXPECT_EQ(lines[1].end, 68u);
  EXPECT_EQ(lines[1].times, 4u);
  EXPECT_EQ(count_races(lines), 3u);
}

TEST(RaceReportTest, WhichChangeCameFirstMakesNoDifference) {
  auto lines = lines_of({record(8, 1, 0), record(16, 0, 1)});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(race_sentences(lines, 0)[0],
            "data race: low, bytes 8 to 19: written by node 0 and by node 1, 4 times; no lock, "
            "barrier, join or flag orders the two");
}

TEST(RaceReportTest, AReadIsNamedWithBothPlaces) {
  std::vector<RaceLine> lines = lines_of({record(8, 0, 1)});
  auto variable = [](std::uint64_t offset) { return NamedVariable{"low", offset}; };
  auto place = [](std::uint64_t code) { return "a.c:" + std::to_string(code); };
  protocol::AccessRace both{.first = 8,
                            .bytes = 4,
                            .times = 1,
                            .one = {NodeId{0}, true, 5},
                            .other = {NodeId{1}, true, 5}};
  protocol::AccessRace read = both;
  read.other = {NodeId{1}, false, 7};
  add_accesses(std::vector<protocol::AccessRace>{both, read}, variable, place, lines);
  ASSERT_EQ(lines.size(), 2u) << "two writes belong to the line that is there";
  std::vector<std::string> sentences = race_sentences(lines, 0, true);
  EXPECT_EQ(sentences[0],
            "data race: low, bytes 8 to 11: written by node 0 at a.c:5 and by node 1 at a.c:5, 2 "
            "times; no lock, barrier, join or flag orders the two: let one of the nodes do it, or "
            "put a lock or an atomic operation around it");
  EXPECT_EQ(sentences[1],
            "data race: low, bytes 8 to 11: written by node 0 at a.c:5 and read by node 1 at "
            "a.c:7, 1 time; no lock, barrier, join or flag orders the two: put a barrier between "
            "them, or a lock around both");
}

TEST(RaceReportTest, EqualValuesAreToldApart) {
  RaceRecord same = record(8, 0, 1);
  same.same_value = 1;
  auto lines = lines_of({same, record(8, 0, 1)});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(count_races(lines), 1u);
  auto sentences = race_sentences(lines, 3);
  EXPECT_NE(sentences[1].find("with the same value"), std::string::npos);
  EXPECT_NE(sentences[2].find("3 more"), std::string::npos);
  EXPECT_NE(sentences[3].find("1 data race between nodes, and 1 of the same value"),
            std::string::npos);
}

TEST(RaceReportTest, SaysWhenThereIsNone) {
  EXPECT_EQ(race_sentences({}, 0).size(), 1u);
  EXPECT_EQ(race_json({}, 0), "{\"races\": [],\n \"left_out\": 0}\n");
}

TEST(RaceReportTest, JsonQuotesNames) {
  std::string text = race_json(lines_of({record(108, 0, 1)}), 0);
  EXPECT_NE(text.find("\"variable\": \"h\\\"igh\", \"first\": 8, \"end\": 12"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace terrane::runtime
