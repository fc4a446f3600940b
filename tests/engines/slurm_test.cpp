// Nodes that srun starts itself: srun --mpi=pmix ./program. Runs in the cluster of with_slurm.sh.

#include <gtest/gtest.h>
#include <signal.h>

#include <string>

#include "launched.h"

namespace terrane::cluster_test {
namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Outcome srun(const std::string& options, const char* program, const std::string& arguments) {
  std::vector<std::string> command = {"srun", "--quiet"};
  for (const std::string& word : words(options)) command.push_back(word);
  command.emplace_back(program);
  for (const std::string& word : words(arguments)) command.push_back(word);
  std::string prefix = std::string("TERRANE_PREFIX=") + PREFIX_FOLDER;
  return Launched(command, {.environment = {prefix, "TERRANE_START_TIMEOUT=6"}}).finish();
}

TEST(SlurmTest, ItsTasksAreTheNodesOfAJob) {
  Outcome done = srun("--mpi=pmix -N1 -n4", COUNTER_BINARY, "300");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "4 nodes counted to 1200: right\n");
}

TEST(SlurmTest, ItsTasksOnTwoHostsAreOneJob) {
  Outcome done = srun("--mpi=pmix -N2 -n4", COUNTER_BINARY, "100");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "4 nodes counted to 400: right\n");
  done = srun("--mpi=pmix -N2 -n4", kNodeProgram,
              "join exchange:10:0 @3 kill:9 @0 hang @1 hang @2 hang");
  EXPECT_NE(done.exit_code, 0);
  EXPECT_TRUE(holds(done.err, "terrane: node 3 (process ")) << done.err;
  EXPECT_TRUE(holds(done.err, " on n2) was killed by SIGKILL")) << done.err;
}

TEST(SlurmTest, ItsHostsFormClustersAsAVariableSays) {
  std::string options =
      "--mpi=pmix -N2 --ntasks-per-node=2 --export=ALL,TERRANE_CLUSTERS=west:n1/east:n2";
  Outcome done = srun(options, kNodeProgram, "join @3 show:clusters @all leave");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "clusters: 0 0 1 1\n");
  EXPECT_EQ(srun(options, COUNTER_BINARY, "100").out, "4 nodes counted to 400: right\n");
}

TEST(SlurmTest, PesOfOpenShmemAreTheTasksOfOneHostAndOfTwo) {
  for (const char* hosts : {"--mpi=pmix -N1 -n3", "--mpi=pmix -N2 -n4"}) {
    Outcome done = srun(hosts, SHMEM_HEAT_BINARY, "--size 90 --steps 40");
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_TRUE(holds(done.out, "verified: identical to the serial result")) << done.out;
  }
}

TEST(SlurmTest, TerraneRunUsesTheHostsOfItsAllocation) {
  std::vector<std::string> command =
      words("salloc --quiet -N2 -n4 " + std::string(kTerrane) + " run " + COUNTER_BINARY + " 100");
  Outcome done = Launched(command).finish();
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "4 nodes counted to 400: right\n");
}

TEST(SlurmTest, ANodesDeathEndsTheJobWithASentence) {
  Outcome done =
      srun("--mpi=pmix -N1 -n3", kNodeProgram, "join exchange:10:1 @1 kill:9 @0 hang @2 hang");
  EXPECT_NE(done.exit_code, 0);
  EXPECT_TRUE(holds(done.err, "was killed by SIGKILL (signal 9)")) << done.err;
}

// srun lets the tasks of the other host wait on: their time is up later.
TEST(SlurmTest, ATaskThatEndsBeforeItJoinsIsNamedByItsHost) {
  Outcome done = srun("--mpi=pmix -N2 -n4", kNodeProgram,
                      "@1 exit:0 @0 sleep:500 join @2 sleep:500 join @3 sleep:500 join");
  EXPECT_NE(done.exit_code, 0);
  EXPECT_TRUE(holds(done.out, "join failed: process 1 of the job ended on host ")) << done.out;
  EXPECT_TRUE(holds(done.out, "within 6 s: at least one of processes 0, 1, 2 on other hosts"))
      << done.out;
}

TEST(SlurmTest, TasksWithoutPmixAreRefusedWithTheCommandThatWorks) {
  Outcome done = srun("--mpi=none -N1 -n2", kNodeProgram, "join");
  EXPECT_NE(done.exit_code, 0);
  EXPECT_TRUE(holds(done.out, "start it with: srun --mpi=pmix -n 2 PROGRAM")) << done.out;
}

}  // namespace
}  // namespace terrane::cluster_test
