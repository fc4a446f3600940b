#include "runtime/job_facts.h"

#include <gtest/gtest.h>

#include <cstring>

namespace terrane::runtime {
namespace {

const NodePlace kHere{0, "alpha"}, kThere{3, "beta"};

JobFacts our_facts() { return job_facts({}, "pages"); }

std::string complaint_about(const JobFacts& theirs) {
  auto same = compare_facts(our_facts(), kHere, std::as_bytes(std::span(&theirs, 1)), kThere);
  return same ? "" : same.error().message;
}

testing::AssertionResult names_both(const std::string& text, const std::string& what) {
  bool all = text.find("node 0 on host alpha") != std::string::npos &&
             text.find("node 3 on host beta") != std::string::npos &&
             text.find(what) != std::string::npos;
  return all ? testing::AssertionSuccess() : testing::AssertionFailure() << text;
}

TEST(JobFactsTest, EqualNodesMayRunAJob) { EXPECT_EQ(complaint_about(our_facts()), ""); }

TEST(JobFactsTest, EachDifferenceIsNamedWithBothNodesAndHosts) {
  JobFacts other = our_facts();
  std::strcpy(other.version, "9.9.9");
  EXPECT_TRUE(names_both(complaint_about(other), "but 9.9.9 at"));
  other = our_facts();
  std::strcpy(other.architecture, "riscv64");
  EXPECT_TRUE(names_both(complaint_about(other), "but riscv64 at"));
  other = our_facts();
  std::strcpy(other.interface, "shmem");
  EXPECT_TRUE(names_both(complaint_about(other), "the interface is pages"));
  other = our_facts();
  other.byte_order = other.byte_order == 'l' ? 'b' : 'l';
  EXPECT_TRUE(names_both(complaint_about(other), "another byte order"));
  other = our_facts();
  other.unit_bytes = 16384;
  EXPECT_TRUE(names_both(complaint_about(other), "TERRANE_UNIT is 4096"));
  other = our_facts();
  other.space_bytes += 65536;
  EXPECT_TRUE(names_both(complaint_about(other), "TERRANE_SPACE is"));
  other = our_facts();
  other.page_bytes *= 2;
  EXPECT_TRUE(names_both(complaint_about(other), "the page size is"));
}

TEST(JobFactsTest, NodesOfChunksMayBeOfTwoArchitecturesThatGoTogether) {
  auto differ = [](const char* interface, const char* one, const char* two, std::uint64_t page) {
    JobFacts mine = job_facts({}, interface), other = mine;
    std::memset(mine.architecture, 0, sizeof mine.architecture);
    std::memset(other.architecture, 0, sizeof other.architecture);
    std::strcpy(mine.architecture, one);
    std::strcpy(other.architecture, two);
    other.page_bytes = page;
    mine.page_bytes = 4096;
    return !compare_facts(mine, kHere, std::as_bytes(std::span(&other, 1)), kThere).ok();
  };
  EXPECT_FALSE(differ("chunks", "x86_64", "aarch64", 4096));
  EXPECT_FALSE(differ("chunks", "aarch64", "x86_64", 4096));
  EXPECT_TRUE(differ("pages", "x86_64", "aarch64", 4096));
  EXPECT_TRUE(differ("shmem", "x86_64", "aarch64", 4096));
  EXPECT_TRUE(differ("chunks", "x86_64", "aarch64", 65536));
  EXPECT_TRUE(differ("chunks", "x86_64", "i686", 4096));
  EXPECT_TRUE(differ("chunks", "armv7l", "aarch64", 4096));
}

TEST(JobFactsTest, WhatCannotBePrintedIsNotPrinted) {
  JobFacts other = our_facts();
  std::memset(other.version, 0x1b, sizeof other.version);
  EXPECT_TRUE(names_both(complaint_about(other), "but ??????????????? at"));
}

TEST(JobFactsTest, TooFewBytesAreNoIntroduction) {
  JobFacts facts = our_facts();
  auto bytes = std::as_bytes(std::span(&facts, 1));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    auto same = compare_facts(facts, kHere, bytes.first(size), kThere);
    ASSERT_FALSE(same.ok());
    EXPECT_TRUE(names_both(same.error().message, "did not introduce itself"));
  }
}

}  // namespace
}  // namespace terrane::runtime
