#include "runtime/sharing_report.h"

#include <gtest/gtest.h>

namespace terrane::runtime {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::uint64_t kSecond = 1'000'000'000;
const std::vector<NodeTimes> kTimes(3, NodeTimes{.elapsed_ns = 10 * kSecond, .lived_ns = kSecond});

PageMask mask_of(std::uint32_t first, std::uint32_t end) {
  PageMask mask(kPageBytes / 64);
  for (std::uint32_t i = first; i < end; ++i) mask[i / 64] |= std::uint64_t{1} << i % 64;
  return mask;
}

const PageMask kNothing(kPageBytes / 64);

// A node that got the page 100 times from node 0, and waited a tenth of its time.
NodeRecord record(std::uint32_t node, SharingKind kind, PageMask mine, PageMask theirs,
                  std::uint64_t block = 2) {
  NodeRecord one{.node = node};
  SharingCounts& counts = one.record.counts;
  counts.block = block;
  counts.again[static_cast<std::size_t>(kind)] = 100;
  counts.homes[static_cast<std::size_t>(kind)] = 0;
  counts.flushed = 50;
  counts.waited_ns = kSecond / 10;
  one.record.mine = mine;
  one.record.theirs = std::move(theirs);
  one.record.written = std::move(mine);
  return one;
}

// low: the first 2048 bytes of each page, high: the others.
NamedVariable variable(std::uint64_t offset) {
  std::uint64_t byte = offset % kPageBytes;
  return byte < 2048 ? NamedVariable{"low", byte} : NamedVariable{"high", byte - 2048};
}

std::vector<SharingLine> lines_of(const std::vector<NodeRecord>& records) {
  return sharing_lines(records, kTimes, kPageBytes, variable);
}

std::vector<std::string> texts_of(const std::vector<SharingLine>& lines) {
  return sharing_texts(lines, 0, [](std::uint64_t offset) { return 0x10000 + offset; });
}

TEST(SharingReportTest, TheHomeWritesWhatNobodyHasSent) {
  PageMask of_others = mask_of(0, 24);
  for (std::size_t w = 0; w < of_others.size(); ++w) of_others[w] &= ~mask_of(8, 16)[w];
  auto lines = lines_of({record(1, SharingKind::kApart, mask_of(8, 16), of_others),
                         record(2, SharingKind::kApart, mask_of(16, 24), mask_of(0, 16))});
  ASSERT_EQ(lines.size(), 1u);
  ASSERT_EQ(lines[0].writers.size(), 3u);
  EXPECT_EQ(lines[0].kind, SharingKind::kApart);
  EXPECT_EQ(draw(lines[0]).letters, "000000001111111122222222");
  EXPECT_EQ(lines[0].all().again, 200u);
  EXPECT_DOUBLE_EQ(lines[0].share, 0.1);
  EXPECT_EQ(count_false(lines), 1u);
}

TEST(SharingReportTest, TheTextNamesBytesCostAndRemedy) {
  auto texts = texts_of(lines_of({record(1, SharingKind::kApart, mask_of(8, 12), mask_of(0, 4))}));
  ASSERT_EQ(texts.size(), 4u);
  EXPECT_EQ(texts[0],
            "false sharing: node 0 writes low, bytes 0 to 3; node 1 writes low, bytes 8 to 11, in "
            "one page: it came again 100 times, with 50 differences sent; node 1 waited 100.0 ms "
            "for it, 10 % of its time, 1000.0 us each time");
  EXPECT_EQ(texts[1], "  at 0x12000, 1 byte a letter: |0000....1111|");
  EXPECT_NE(texts[2].find("alignas(4096)"), std::string::npos);
  EXPECT_EQ(texts[3], "--check=sharing: 1 case of false sharing");
}

TEST(SharingReportTest, TheDrawingIsToScale) {
  auto lines = lines_of({record(1, SharingKind::kApart, mask_of(2048, 4096), mask_of(0, 2048))});
  Drawing drawing = draw(lines.at(0));
  EXPECT_EQ(drawing.scale, 64u);
  EXPECT_EQ(drawing.letters, std::string(32, '0') + std::string(32, '1'));
  lines = lines_of({record(1, SharingKind::kApart, mask_of(1000, 1001), mask_of(1001, 1200))});
  drawing = draw(lines.at(0));
  EXPECT_EQ(drawing.scale, 4u);
  EXPECT_EQ(drawing.first, 1000u);
  EXPECT_EQ(drawing.letters[0], '*');
}

TEST(SharingReportTest, TheRemedyIsOfItsKind) {
  auto remedy_of = [](const NodeRecord& one) { return remedy(lines_of({one}).at(0)); };
  auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  SharingKind apart = SharingKind::kApart;
  EXPECT_TRUE(has(remedy_of(record(1, apart, mask_of(2048, 2056), mask_of(0, 8))),
                  "put high and low on pages of their own"));
  EXPECT_TRUE(has(remedy_of(record(1, apart, mask_of(8, 16), mask_of(0, 8))), "elements of 4096"));
  EXPECT_TRUE(
      has(remedy_of(record(1, apart, mask_of(1024, 2048), mask_of(0, 1024))), "edge of a page"));
  EXPECT_TRUE(has(remedy_of(record(1, SharingKind::kSame, mask_of(0, 8), mask_of(0, 8))),
                  "need each other's values"));
  EXPECT_TRUE(has(remedy_of(record(1, SharingKind::kRead, kNothing, mask_of(0, 8))), "readers"));
}

TEST(SharingReportTest, PagesOfOneVariableAreOneLine) {
  std::vector<NodeRecord> records;
  for (std::uint64_t block : {2, 3, 4})
    records.push_back(record(1, SharingKind::kApart, mask_of(8, 12), mask_of(0, 4), block));
  auto lines = lines_of(records);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].pages, 3u);
  EXPECT_NE(texts_of(lines)[0].find("(and 2 more pages)"), std::string::npos);
}

TEST(SharingReportTest, AHomeThatMovesBetweenWritersIsSharedByThem) {
  NodeRecord of_1 = record(1, SharingKind::kRead, kNothing, mask_of(0, 8));
  NodeRecord of_0 = record(0, SharingKind::kRead, kNothing, mask_of(8, 16));
  of_0.record.counts.homes[2] = 1;
  EXPECT_EQ(lines_of({of_1, of_0}).at(0).kind, SharingKind::kApart);
  of_0.record.theirs = mask_of(0, 8);
  EXPECT_EQ(lines_of({of_1, of_0}).at(0).kind, SharingKind::kSame);
  EXPECT_EQ(lines_of({of_1}).at(0).kind, SharingKind::kRead);
}

TEST(SharingReportTest, WhatCostsNothingIsLeftOut) {
  NodeRecord one = record(1, SharingKind::kApart, mask_of(8, 12), mask_of(0, 4));
  one.record.counts.waited_ns = kSecond / 4000;
  auto lines = lines_of({one});
  EXPECT_EQ(count_false(lines), 0u);
  EXPECT_EQ(texts_of(lines),
            std::vector<std::string>{"--check=sharing: no false sharing that costs time"});
  EXPECT_TRUE(slow_pages(lines).empty());
}

TEST(SharingReportTest, WhatComesOftenIsToldAlthoughTheWaitIsElsewhere) {
  NodeRecord one = record(1, SharingKind::kApart, mask_of(8, 12), mask_of(0, 4));
  one.record.counts.waited_ns = 0;
  EXPECT_EQ(count_false(lines_of({one})), 0u);
  one.record.counts.again[0] = 1000;
  EXPECT_EQ(count_false(lines_of({one})), 1u);
}

TEST(SharingReportTest, TheFileHasTheSame) {
  auto lines = lines_of({record(1, SharingKind::kApart, mask_of(8, 12), mask_of(0, 4))});
  std::vector<std::string> slow = {"slow: \"x\""};
  std::string text = sharing_json(lines, slow, 0, [](std::uint64_t offset) { return offset; });
  EXPECT_NE(text.find("\"kind\": \"false sharing\", \"matters\": true, \"page\": 8192"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("{\"node\": 1, \"variable\": \"low\", \"offset\": 8, \"first\": 8, \"end\": "
                      "12}"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\"slow\": [\"slow: \\\"x\\\"\"]"), std::string::npos) << text;
}

}  // namespace
}  // namespace terrane::runtime
