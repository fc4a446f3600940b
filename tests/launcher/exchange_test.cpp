// Nodes find their place and exchange their cards.

#include <sys/resource.h>

#include "user_test.h"

namespace terrane::cluster_test {
namespace {

class ExchangeTest : public UserTest {};
TERRANE_FOR_BOTH_USERS(ExchangeTest);

void expect_silent_success(const Outcome& done) {
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(done.err, "");
}

TEST_P(ExchangeTest, EveryNodeKnowsItsPlace) {
  Outcome done = run_job("-n 2", "join @1 show:place @all leave");
  EXPECT_EQ(done.out, "node 1 of 2, on host 2, news yes\n");
  EXPECT_EQ(done.exit_code, 0);
}

TEST_P(ExchangeTest, SixtyFourNodesWithThreeDescriptorsEach) {
  Outcome done = run_job("-n 64", "join exchange:100:3 leave");
  EXPECT_EQ(done.exit_code, 0) << done.err << done.out;
}

// 64 nodes hand on 12,096 descriptors, and the kernel lets a user have only as many on their way as
// the limit says.
TEST_P(ExchangeTest, SixtyFourNodesUnderALimitOf1024Descriptors) {
  Launched::Options limited = options();
  limited.before_exec = [] {
    rlimit files{1024, 1024};
    ::setrlimit(RLIMIT_NOFILE, &files);
  };
  Outcome done = run("-n 64", "join exchange:0:3 leave", limited);
  EXPECT_EQ(done.exit_code, 0) << done.err << done.out;
}

TEST_P(ExchangeTest, MoreDescriptorsThanOneMessageCarries) {
  expect_silent_success(run_job("-n 3", "join exchange:0:600 leave"));
}

TEST_P(ExchangeTest, CardsFarLargerThanOneMessage) {
  expect_silent_success(run_job("-n 3", "join exchange:1500000:300 leave"));
}

TEST_P(ExchangeTest, EmptyCardsAndManyRounds) {
  std::string rounds;
  for (int i = 0; i < 20; ++i)
    rounds += " exchange:0:0 exchange:" + std::to_string(i * 1000) + ":2";
  expect_silent_success(run_job("-n 3", "join" + rounds + " leave"));
}

TEST_P(ExchangeTest, ACardOverTheLimitIsRefusedBeforeItIsSent) {
  Outcome done = run_job("-n 2", "join exchange:17000000:0");
  EXPECT_TRUE(holds(done.out, "a card of 17000000 bytes and 0 descriptors is over the limit"));
}

TEST_P(ExchangeTest, TheLimitOnDescriptorsIsRaisedForNodesThatJoinAlone) {
  Launched::Options limited = options();
  limited.before_exec = [] {
    rlimit files{512, 2048};
    ::setrlimit(RLIMIT_NOFILE, &files);
  };
  EXPECT_EQ(run("", "show:files join show:files leave", limited).out,
            "files as they were\nfiles raised\n");
}

TEST_P(ExchangeTest, ChildrenOfAProgramThatJoinedDoNotThinkThatTheyAreNodes) {
  Outcome done = run_job("-n 1", "join show:environment leave");
  EXPECT_EQ(done.out, "environment: \n");
}

TEST_P(ExchangeTest, ASecondProcessCannotTakeAPlace) {
  Outcome done = run_job("-n 2", "join @1 rival @all exchange:10:1 leave");
  EXPECT_TRUE(holds(done.out, "rival: process "));
  EXPECT_TRUE(holds(done.out, " holds the place of node 1 of this job, so process "));
  EXPECT_EQ(done.exit_code, 0) << done.err;
}

TEST_P(ExchangeTest, APlaceIsTakenOnceEvenByOneAfterTheOther) {
  std::string script = std::string(kNodeProgram) + " join leave; " + kNodeProgram + " join leave";
  Outcome done = Launched({kTerrane, "run", "sh", "-c", script}, options()).finish();
  EXPECT_TRUE(holds(done.out, "join failed: process "));
  EXPECT_EQ(done.exit_code, 30);
}

TEST_P(ExchangeTest, AProgramWithoutTheLauncherIsAJobOfOne) {
  Outcome done =
      Launched({kNodeProgram, "join", "exchange:10:2", "show:place", "leave"}, options()).finish();
  EXPECT_EQ(done.out, "node 0 of 1, on host 1, news no\n");
  EXPECT_EQ(done.exit_code, 0);
  done = Launched({kNodeProgram, "join", "fail:9:out-of-luck"}, options()).finish();
  EXPECT_EQ(done.exit_code, 9);
  EXPECT_EQ(done.err, "terrane: out-of-luck\n");
}

TEST(ForeignTest, AnotherLaunchersProcessesAreRefusedWithTheCommandThatWorks) {
  Launched::Options mpirun{.environment = {"OMPI_COMM_WORLD_SIZE=4"}};
  Outcome done = Launched({kNodeProgram, "join"}, mpirun).finish();
  EXPECT_TRUE(holds(done.out, "started by Open MPI's mpirun as one of 4 processes"));
  EXPECT_TRUE(holds(done.out, "start it with: terrane run -n 4 PROGRAM"));
  Launched::Options srun{.environment = {"SLURM_STEP_NUM_TASKS=3"}};
  done = Launched({kNodeProgram, "join"}, srun).finish();
  EXPECT_TRUE(holds(done.out, "started by srun as one of 3 processes"));
  EXPECT_TRUE(holds(done.out, "start it with: srun --mpi=pmix -n 3 PROGRAM"));
  Launched::Options port{
      .environment = {"MPI_LOCALNRANKS=2", "MPI_LOCALRANKID=0", "PMI_PORT=x:1", "PMI_ID=0"}};
  done = Launched({kNodeProgram, "join"}, port).finish();
  EXPECT_TRUE(holds(done.out, "started by MPICH's mpiexec (-pmi-port) as one of 2 processes"));
  Launched::Options elsewhere{.environment = {"MPI_LOCALNRANKS=1", "PMI_PORT=x:1", "PMI_ID=3"}};
  done = Launched({kNodeProgram, "join"}, elsewhere).finish();
  EXPECT_TRUE(holds(done.out, "as one of 4 processes"));
  Launched::Options alone{.environment = {"MPI_LOCALNRANKS=1", "PMI_PORT=x:1", "PMI_ID=0"}};
  EXPECT_EQ(Launched({kNodeProgram, "join", "leave"}, alone).finish().exit_code, 0);
  Launched::Options pmix{.environment = {"PMIX_RANK=2"}};
  EXPECT_TRUE(holds(Launched({kNodeProgram, "join"}, pmix).finish().out, "PMIX_RANK says"));
  EXPECT_EQ(run("-n 2", "join exchange:0:0 leave", mpirun).exit_code, 0);
}

TEST(ForeignTest, CopiesOfTheCommandAreJobsOfTheirOwnAndTheFirstSaysSo) {
  auto said = [](std::vector<std::string> environment) {
    Outcome done = run("-n 2", "join exchange:0:0 leave", {.environment = std::move(environment)});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return done.err;
  };
  std::string first = said({"SLURM_STEP_NUM_TASKS=4", "SLURM_PROCID=0"});
  EXPECT_TRUE(holds(first, "srun has started this command 4 times")) << first;
  EXPECT_EQ(said({"SLURM_STEP_NUM_TASKS=4", "SLURM_PROCID=3"}), "");
  first = said({"OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_RANK=0"});
  EXPECT_TRUE(holds(first, "Open MPI's mpirun has started this command 2 times")) << first;
  EXPECT_EQ(said({"OMPI_COMM_WORLD_SIZE=1", "OMPI_COMM_WORLD_RANK=0"}), "");
}

TEST(ForeignTest, ABrokenInheritanceIsExplained) {
  auto join_with = [](const char* value) {
    Launched::Options broken{.environment = {std::string("TERRANE_BOOTSTRAP_FD=") + value}};
    return Launched({kNodeProgram, "join"}, broken).finish().out;
  };
  EXPECT_TRUE(holds(join_with("abc"), "TERRANE_BOOTSTRAP_FD=abc is not a descriptor"));
  EXPECT_TRUE(holds(join_with(""), "is not a descriptor"));
  EXPECT_TRUE(holds(join_with("-1"), "is not a descriptor"));
  EXPECT_TRUE(holds(join_with("77"), "descriptor 77 (TERRANE_BOOTSTRAP_FD) is not the socket"));
  EXPECT_TRUE(holds(join_with("1"), "is not the socket that `terrane run` handed on"));
}

TEST(ForeignTest, AJobInsideAJobIsItsOwn) {
  Launched::Options none;
  Outcome done = Launched({kTerrane, "run", "-n", "2", kTerrane, "run", "-n", "3", kNodeProgram,
                           "join", "exchange:10:1", "@2", "show:place", "@all", "leave"},
                          none)
                     .finish();
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "node 2 of 3, on host 3, news yes\nnode 2 of 3, on host 3, news yes\n");
}

}  // namespace
}  // namespace terrane::cluster_test
