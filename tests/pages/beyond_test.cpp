// Memory beyond one machine's: a region three times a node's memory is filled, sorted and checked,
// where the kernel holds every node to its memory by a control group; and so is one with sequential
// consistency, without sorting.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "../launcher/launched.h"
#include "fault_sources.h"

namespace terrane::cluster_test {
namespace {

// A place for control groups that limit memory, of version 1 or 2; removed with what is left of
// them.
class Groups {
 public:
  explicit Groups(const char* limit) {
    for (auto [top, file] : {std::pair{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
                             std::pair{"/sys/fs/cgroup", "memory.max"}}) {
      folder_ = std::string(top) + "/terrane_test_" + std::to_string(::getpid());
      std::error_code error;
      if (!std::filesystem::create_directory(folder_, error)) continue;
      limit_ = std::string(file);
      // A group of version 2 hands memory on to its children only if it says so.
      std::ofstream(folder_ + "/cgroup.subtree_control") << "+memory";
      if (make(folder_ + "/probe", limit)) return;
      remove();
    }
    limit_.clear();
  }
  ~Groups() {
    if (good()) remove();
  }

  bool good() const { return !limit_.empty(); }
  // A shell's words that move it into a group of its own.
  std::string enter(const char* limit) const {
    std::string own = folder_ + "/$$";
    return "mkdir " + own + " && echo " + limit + " > " + own + "/" + limit_ + " && echo $$ > " +
           own + "/cgroup.procs && ";
  }

 private:
  bool make(const std::string& folder, const char* limit) const {
    std::error_code error;
    if (!std::filesystem::create_directory(folder, error)) return false;
    std::ofstream file(folder + "/" + limit_);
    file << limit << std::flush;
    return file.good();
  }
  void remove() const {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, error))
      if (entry.is_directory()) ::rmdir(entry.path().c_str());
    ::rmdir(folder_.c_str());
  }

  std::string folder_, limit_;
};

class BeyondMemoryTest : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(FaultSources, BeyondMemoryTest, every_fault_source(), fault_source_name);

void expect_sorted(const Launched::Options& options, std::vector<std::string> command) {
  Outcome outcome = Launched(std::move(command), options).finish();
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(count(outcome.out, ": right"), 1) << outcome.out << outcome.err;
  EXPECT_EQ(count(outcome.out, " 0 copies evicted"), 0) << outcome.out;
}

TEST(BeyondAGroupsMemoryTest, ThreeTimesANodesMemoryIsFilledSortedAndChecked) {
  const char* limit = "67108864";
  Groups groups(limit);
  if (!groups.good())
    GTEST_SKIP() << "control groups for memory cannot be made here (root, and cgroup in place)";
  expect_sorted({}, {kTerrane, "run", "-n", "4", "sh", "-c",
                     groups.enter(limit) + "exec " SORT_PROGRAM " 192"});
}

TEST_P(BeyondMemoryTest, ALimitThatIsAskedForIsKeptAsWell) {
  for (const char* one_sided : {"TERRANE_ONE_SIDED=1", "TERRANE_ONE_SIDED=0"}) {
    Launched::Options options;
    options.environment = {std::string("TERRANE_FAULT_SOURCE=") + GetParam(), one_sided};
    expect_sorted(options, {kTerrane, "run", "-n", "4", "--memory", "8M", SORT_PROGRAM, "24"});
  }
}

void expect_sequential(const Launched::Options& options, std::vector<std::string> arguments,
                       const char* mebibytes) {
  std::vector<std::string> command = {kTerrane, "run", "-n", "4"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  command.insert(command.end(), {SEQUENTIAL_PROGRAM, mebibytes});
  Outcome outcome = Launched(std::move(command), options).finish();
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), 4) << outcome.out << outcome.err;
}

TEST_P(BeyondMemoryTest, ARegionWithSequentialConsistencyIsThreeTimesANodesMemory) {
  for (const char* one_sided : {"TERRANE_ONE_SIDED=1", "TERRANE_ONE_SIDED=0"}) {
    Launched::Options options;
    options.environment = {std::string("TERRANE_FAULT_SOURCE=") + GetParam(), one_sided};
    expect_sequential(options, {"--memory", "2M"}, "6");
  }
}

TEST(BeyondMemoryOverSocketsTest, ARegionWithSequentialConsistencyIsThreeTimesANodesMemory) {
  expect_sequential({}, {"--transport", "ucx", "--memory", "2M"}, "6");
}

// By messages, since a group pays for what its members touch first, in their homes too; and for
// what is on its way in rings.
TEST(BeyondAGroupsMemoryTest, ARegionWithSequentialConsistencyIsThreeTimesANodesMemory) {
  const char* limit = "33554432";
  Groups groups(limit);
  if (!groups.good())
    GTEST_SKIP() << "control groups for memory cannot be made here (root, and cgroup in place)";
  Launched::Options options;
  options.environment = {"TERRANE_ONE_SIDED=0"};
  expect_sequential(
      options, {"--memory", "16M", "sh", "-c", groups.enter(limit) + "exec \"$0\" \"$1\""}, "48");
}

TEST(BeyondAllMemoryTest, ARegionLargerThanAllMemoriesIsRefused) {
  Outcome outcome =
      Launched({kTerrane, "run", "-n", "4", "--memory", "8M", SORT_PROGRAM, "33"}).finish();
  EXPECT_EQ(outcome.exit_code, 1);
  // Every node gets the error; the first that ends, ends the job.
  EXPECT_GE(count(outcome.err,
                  "a region of 33 MiB is larger than the memory of all nodes together, 32 MiB: "
                  "node 0 ("),
            1)
      << outcome.err;
  EXPECT_GE(count(outcome.err, "use more nodes, or raise --memory"), 1) << outcome.err;
}

}  // namespace
}  // namespace terrane::cluster_test
