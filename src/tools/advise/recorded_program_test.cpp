#include "tools/advise/recorded_program.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/test_folder.h"
#include "tools/advise/advice.h"
#include "tools/advise/page_uses.h"

namespace terrane::tools::advise {
namespace {

using runtime::RecordedOp;
using Kind = RecordedOp::Kind;
constexpr std::uint64_t kBase = 1ull << 45;

// Recordings of two nodes: with pages, and of another run for times.
class RecordedProgramTest : public testing::Test {
 protected:
  void write(const std::string& what, std::uint32_t node, const std::vector<RecordedOp>& ops,
             std::uint32_t nodes = 2) {
    std::filesystem::create_directories(folder_ / what);
    std::ofstream file(folder_ / (what + "/" + std::to_string(node) + ".record"));
    runtime::RecordHead head{.node = node, .nodes = nodes, .block_bytes = 4096, .base = kBase};
    file.write(reinterpret_cast<const char*>(&head), sizeof head);
    file.write(reinterpret_cast<const char*>(ops.data()),
               static_cast<std::streamsize>(ops.size() * sizeof ops[0]));
  }
  auto read(bool with_times = false) {
    return RecordedProgram::read(folder_ / "pages", with_times ? folder_ / "times" : "");
  }
  static std::vector<forecast::Op> all_of(RecordedProgram& program, std::uint32_t thread) {
    std::vector<forecast::Op> all;
    for (forecast::Op op; program.next(thread, op);) all.push_back(op);
    return all;
  }

  base::TestFolder folder_;
};

RecordedOp work(std::uint64_t ns, std::uint32_t thread = 0) {
  return {.kind = Kind::kWork, .thread = thread, .value = ns};
}
RecordedOp barrier(std::uint32_t thread = 0) {
  return {.kind = Kind::kBarrier, .thread = thread, .id = 1};
}

TEST_F(RecordedProgramTest, ThreadsAndPagesOfAllNodesAreNumbered) {
  write("pages", 0, {work(5), {.kind = Kind::kRead, .pages = 2, .id = 1000}, work(7, 3)});
  write("pages", 1,
        {{.kind = Kind::kWrite, .id = 9'000'000, .value = 6, .other = 1},
         {.kind = Kind::kRegion, .thread = ~0u, .id = 9'000'000, .value = 4},
         {.kind = Kind::kPlaced, .thread = ~0u, .id = 1001, .value = 0x5000}});
  auto program = read();
  ASSERT_TRUE(program.ok()) << program.error().message;
  RecordedProgram& p = *program.value();
  ASSERT_EQ(p.threads(), 3u);
  EXPECT_EQ(p.node_of(1), 0u);
  EXPECT_EQ(p.node_of(2), 1u);
  EXPECT_EQ(p.computing(), 12u);
  EXPECT_EQ(p.pages_used(), 3u);
  std::vector<forecast::Op> first = all_of(p, 0), last = all_of(p, 2);
  ASSERT_EQ(first.size(), 3u);  // a page each
  EXPECT_EQ(first[2].page, first[1].page + 1);
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].mask, 6u);
  EXPECT_EQ(p.address_of(first[1].page), kBase + 1000 * 4096);
  EXPECT_EQ(p.address_of(first[2].page), 0x5000u);
  std::uint64_t pages = 0;
  for (const forecast::Region& region : p.regions()) {
    EXPECT_EQ(region.first, pages);
    pages += region.pages;
  }
  EXPECT_LT(pages, 1000u);  // what is far apart has come nearer
  EXPECT_LT(last[0].page, pages);
}

TEST_F(RecordedProgramTest, StretchesComputeAsLongAsInTheOtherRun) {
  write("pages", 0, {work(100), work(100), barrier(), barrier(), work(10)});
  write("times", 0, {work(50), barrier(), work(30), barrier(), work(1)});
  write("pages", 1, {work(100), barrier()});
  write("times", 1, {work(50)});  // it did something else: in proportion
  auto program = read(true);
  ASSERT_TRUE(program.ok()) << program.error().message;
  std::vector<forecast::Op> ops = all_of(*program.value(), 0);
  std::vector<forecast::Ns> ns;
  for (const forecast::Op& op : ops) ns.push_back(op.kind == forecast::Op::Kind::kWork ? op.ns : 0);
  EXPECT_EQ(ns, (std::vector<forecast::Ns>{25, 25, 0, 30, 0, 1}));
  EXPECT_EQ(all_of(*program.value(), 1)[0].ns, 50u);
  EXPECT_EQ(program.value()->computing(), 131u);
}

TEST_F(RecordedProgramTest, WhoWaitsAtTheEndIsLeftThere) {
  RecordedOp unfinished = barrier();
  unfinished.pages = 0;
  write("pages", 0, {work(1000), {.kind = Kind::kGather, .id = 1}});
  write("pages", 1, {work(10), unfinished});
  auto program = read();
  ASSERT_TRUE(program.ok()) << program.error().message;
  auto advice = advise(*program.value(), {});
  ASSERT_TRUE(advice.ok()) << advice.error().message;
  EXPECT_EQ(advice.value().points.size(), 2u);
}

TEST_F(RecordedProgramTest, ThreadsThatWaitForEverAreNamed) {
  write("pages", 0, {{.kind = Kind::kAwait, .id = 9}});
  write("pages", 1, {work(10)});
  auto program = read();
  ASSERT_TRUE(program.ok()) << program.error().message;
  auto advice = advise(*program.value(), {});
  ASSERT_FALSE(advice.ok());
  EXPECT_EQ(advice.error().message,
            "the recording cannot be played on 1 nodes: thread 0 on node 0 waits for event 9");
}

TEST_F(RecordedProgramTest, UsesTellFalseSharingFromTrue) {
  auto writes = [](std::uint64_t block, std::uint64_t bytes) {
    return RecordedOp{.kind = Kind::kWrite, .id = block, .value = 1, .other = bytes};
  };
  write("pages", 0, {writes(1, 0xff), writes(2, 0xff), writes(3, 1)});
  write("pages", 1, {writes(1, 0xff00), writes(2, 0x80), {.kind = Kind::kRead, .id = 3}});
  auto program = read();
  ASSERT_TRUE(program.ok()) << program.error().message;
  std::vector<std::string> texts;
  for (std::uint64_t page = 0; page < 3; ++page)
    texts.push_back(text_of(uses_of(*program.value(), page)));
  EXPECT_EQ(texts, (std::vector<std::string>{"2 nodes write different bytes of one page",
                                             "2 nodes write the same bytes of a page",
                                             "node 0 writes it, and 1 other node reads it"}));
}

TEST_F(RecordedProgramTest, WhatIsNoRecordingIsNamed) {
  write("pages", 0, {work(1)});
  EXPECT_NE(read().error().message.find("pages/1.record cannot be read"), std::string::npos);
  write("pages", 1, {work(1)}, 3);
  EXPECT_NE(read().error().message.find("no recording of node 1 of this job"), std::string::npos);
  write("pages", 1, {{.kind = static_cast<Kind>(99)}});
  EXPECT_NE(read().error().message.find("is damaged"), std::string::npos);
}

TEST_F(RecordedProgramTest, AnAdviceIsATableAndASentence) {
  write("pages", 0, {work(2'000'000), barrier(), work(8'000'000), barrier()});
  write("pages", 1, {work(2'000'000), barrier(), work(8'000'000), barrier()});
  auto program = read();
  ASSERT_TRUE(program.ok()) << program.error().message;
  Question question;
  auto advice = advise(*program.value(), question);
  ASSERT_TRUE(advice.ok()) << advice.error().message;
  EXPECT_EQ(advice.value().best, 1u);
  EXPECT_GT(advice.value().points[1].speedup, 1.9);
  std::string text = as_text(advice.value(), *program.value(), question);
  EXPECT_NE(text.find(">     2   10."), std::string::npos) << text;
  EXPECT_NE(text.find("limit: nothing: threads compute"), std::string::npos) << text;
  EXPECT_EQ(as_json(advice.value(), question).find("{\"round_trip_us\": 60"), 0u);
}

}  // namespace
}  // namespace terrane::tools::advise
