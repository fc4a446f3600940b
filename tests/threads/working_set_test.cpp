// Data that one node does not keep, of which the program uses a part that fits: that part comes
// once.
#include <regex>

#include "beside_plain.h"

namespace terrane::test_hosts {
namespace {

// How many copies node 0 has evicted, as --stats says; -1: it does not say.
long evicted(const std::string& stats) {
  std::smatch found;
  std::regex line(
      "full: [1-9][0-9]* pages given to other nodes, 0 taken from them, ([0-9]+) copies");
  return std::regex_search(stats, found, line) ? std::stol(found[1]) : -1;
}

// A part of 1,536 pages, of which a node with three quarters of its memory for homes keeps 1,024
// with their twins. If those came back time after time, that would be 36,000 evictions and more.
// With 4 MiB of data more, the other node could not take all the homes that must go: it keeps an
// eighth of its memory free. Then 64 pages, as many as it takes at a time, are 4,000 fetches.
TEST(WorkingSetTest, APartThatFitsIsFetchedOnceOrTwice) {
  for (const char* source : {"uffd-async", "uffd-sync"}) {
    std::string options = std::string("-n 2 --memory 32M --stats --fault-source ") + source;
    Outcome outcome = finish(threads(options, PROGRAM " 44 6"));
    EXPECT_EQ(outcome.out, "right\n") << outcome.err;
    EXPECT_NE(outcome.err.find("pages given"), std::string::npos) << outcome.err;
    EXPECT_LT(evicted(outcome.err), 10'000) << source << outcome.err;
  }
}

// What a full node reads has no twin until the program writes it.
TEST(WorkingSetTest, DataThatAreReadAndThenWrittenInOrderAreRight) {
  for (const char* more : {"", " --predict=-seal_reads"}) {
    Outcome outcome =
        finish(threads(std::string("-n 2 --memory 32M") + more, PROGRAM " 56 6 order"));
    EXPECT_EQ(outcome.out, "right\n") << more << outcome.err;
  }
}

TEST(WorkingSetTest, ItIsRightWithoutTheGuess) {
  Outcome outcome = finish(threads("-n 2 --memory 32M --predict=-fewer_homes", PROGRAM " 48 6"));
  EXPECT_EQ(outcome.out, "right\n") << outcome.err;
}

}  // namespace
}  // namespace terrane::test_hosts
