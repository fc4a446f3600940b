#include "tools/top/show.h"

#include <gtest/gtest.h>

namespace terrane::tools::top {
namespace {

JobRates some() {
  JobRates job;
  job.job = "fit \"1\"";
  job.program = "./kmeans";
  job.places = 2;
  job.nodes.push_back({.node = 0, .host = "h0", .answers = true, .locks = 0.25});
  job.nodes.push_back({.node = 1, .host = "a-host-with-a-long-name"});
  job.pages.push_back(
      {.page = 7, .address = 0x7000, .name = "", .faults = 12'345, .nodes = {1, 0}});
  job.locks.push_back({.token = 3, .name = "the lock m", .acquires = 10, .nodes = {0}});
  job.streams.push_back({.name = "frames", .written = 30, .taken = 60, .wait = 0.0123});
  return job;
}

TEST(ShowTest, NumbersAreShort) {
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(0.25), "0.2");
  EXPECT_EQ(short_number(950), "950");
  EXPECT_EQ(short_number(1234), "1.2k");
  EXPECT_EQ(short_number(999'999), "1.0M");
  EXPECT_EQ(short_number(45'600'000), "45.6M");
  EXPECT_EQ(short_number(456'000'000), "456M");
}

TEST(ShowTest, LinesFitTheTerminal) {
  for (std::size_t height : {1u, 4u, 100u}) {
    auto lines = as_lines(some(), 60, height);
    EXPECT_LE(lines.size(), height);
    for (const std::string& line : lines) EXPECT_LE(line.size(), 60u) << line;
  }
  std::string all;
  for (const std::string& line : as_lines(some(), 0, 0)) all += line + "\n";
  EXPECT_NE(all.find("tells no counters"), std::string::npos) << all;
  EXPECT_NE(all.find("0x7000"), std::string::npos) << all;
  EXPECT_NE(all.find("12.3 ms"), std::string::npos) << all;
}

TEST(ShowTest, JsonIsOneLineWithQuotedText) {
  std::string json = as_json(some());
  EXPECT_EQ(json.find('\n'), std::string::npos);
  EXPECT_NE(json.find("\"job\":\"fit \\\"1\\\"\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"locks\":0.25"), std::string::npos) << json;
  EXPECT_NE(json.find("\"room\":null"), std::string::npos) << json;
  EXPECT_NE(json.find("\"nodes\":[1,0]"), std::string::npos) << json;
}

}  // namespace
}  // namespace terrane::tools::top
