// What `terrane run` exits with, and what it says.

#include <algorithm>

#include "base/test_folder.h"
#include "user_test.h"

namespace terrane::cluster_test {
namespace {

class ExitTest : public UserTest {};
TERRANE_FOR_BOTH_USERS(ExitTest);

TEST_P(ExitTest, ProgramsThatKnowNothingOfTerraneRunAndSucceed) {
  Outcome done = Launched({kTerrane, "run", "-n", "3", "echo", "hello"}, options()).finish();
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.out, "hello\nhello\nhello\n");
  EXPECT_TRUE(done.err.empty());
}

TEST_P(ExitTest, AJobWhoseNodesLeaveInOrderSucceedsInSilence) {
  Outcome done = run_job("-n 4", "join exchange:100:3 leave exit:0");
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_TRUE(done.out.empty());
  EXPECT_TRUE(done.err.empty());
}

TEST_P(ExitTest, TheFirstFailuresCodeIsTheJobs) {
  Outcome done = run_job("-n 3", "@1 exit:42 @0 hang @2 hang");
  EXPECT_EQ(done.exit_code, 42);
  EXPECT_TRUE(holds(done.err, "node 1 (process "));
  EXPECT_TRUE(holds(done.err, ") exited with code 42: "));
  EXPECT_TRUE(holds(done.err, "the other 2 nodes are being ended"));
}

TEST_P(ExitTest, ASignalGives128AndItsNumber) {
  Outcome done = run_job("-n 3", "join exchange:0:0 @2 kill:11 @0 hang @1 hang");
  EXPECT_EQ(done.exit_code, 128 + 11);
  EXPECT_TRUE(holds(done.err, "node 2 (process "));
  EXPECT_TRUE(holds(done.err, "was killed by SIGSEGV (signal 11)"));
}

TEST_P(ExitTest, ANodesOwnSentenceIsTheOnlyOne) {
  Outcome done = run_job("-n 3", "join exchange:0:0 @1 fail:7:no-memory-left @all news");
  EXPECT_EQ(done.exit_code, 7);
  EXPECT_TRUE(holds(done.err, "ended the job: no-memory-left; the other 2 nodes"));
  EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
}

TEST_P(ExitTest, ANodeThatJoinedAndExitsWith0WithoutLeavingHasFailed) {
  Outcome done = run_job("-n 2", "join exchange:0:0 @1 exit:0 @0 hang");
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_TRUE(holds(done.err, "node 1 (process "));
  EXPECT_TRUE(holds(done.err, "ended without leaving the job"));
}

TEST_P(ExitTest, AFailureAfterLeavingIsStillAFailure) {
  Outcome done = run_job("-n 2", "join exchange:0:0 leave @1 exit:5 @0 sleep:100 say:done");
  EXPECT_EQ(done.exit_code, 5);
  EXPECT_EQ(done.out, "done\n") << "ended by another node's failure: " << done.err;
}

TEST_P(ExitTest, ATimeoutEndsTheJobWith124) {
  Outcome done = run_job("-n 2 --timeout 0.2", "join ignore:15 hang");
  EXPECT_EQ(done.exit_code, 124);
  EXPECT_TRUE(holds(done.err, "still running after 0.2 s"));
}

TEST_P(ExitTest, AMissingProgramGives127) {
  Outcome done = Launched({kTerrane, "run", "-n", "2", "no-such-program"}, options()).finish();
  EXPECT_EQ(done.exit_code, 127);
  EXPECT_EQ(done.err, "terrane: cannot find a program no-such-program in PATH\n");
  done = Launched({kTerrane, "run", "./no/such/program"}, options()).finish();
  EXPECT_EQ(done.exit_code, 127);
  EXPECT_EQ(done.err, "terrane: cannot start ./no/such/program: No such file or directory\n");
}

TEST_P(ExitTest, AProgramThatCannotBeExecutedGives126) {
  Outcome done = Launched({kTerrane, "run", "/etc/passwd"}, options()).finish();
  EXPECT_EQ(done.exit_code, 126);
  EXPECT_TRUE(holds(done.err, "cannot start /etc/passwd: it is not executable"));
  done = Launched({kTerrane, "run", "/usr"}, options()).finish();
  EXPECT_EQ(done.exit_code, 126);
  EXPECT_TRUE(holds(done.err, "cannot start /usr: it is a folder"));
}

TEST(ScriptTest, ScriptsRunAndAMissingInterpreterIsNamed) {
  base::TestFolder folder;
  std::string make = "cd " + folder.path() +
                     " && echo 'echo plain $1' > plain && printf '#!/no/such/shell\\n' > broken"
                     " && chmod +x plain broken";
  ASSERT_EQ(Launched({"sh", "-c", make}).finish().exit_code, 0);
  Outcome plain = Launched({kTerrane, "run", folder / "plain", "one"}).finish();
  EXPECT_EQ(plain.out, "plain one\n");
  EXPECT_EQ(plain.exit_code, 0);
  Outcome broken = Launched({kTerrane, "run", "-n", "2", folder / "broken"}).finish();
  EXPECT_EQ(broken.exit_code, 127);
  EXPECT_TRUE(holds(broken.err,
                    "could not be started: No such file or directory: the file "
                    "exists, so its interpreter"));
}

struct BadLine {
  const char* line;
  const char* text;
};

TEST(CommandLineTest, WhatIsWrongIsSaidInOneLineWithTheCommandThatHelps) {
  const BadLine bad[] = {
      {"", "no command given; see: terrane --help"},
      {"fly", "there is no command fly; see: terrane --help"},
      {"--fly", "--fly"},
      {"run", "no program given: terrane run -n 1 PROGRAM"},
      {"run -n 4", "no program given: terrane run -n 4 PROGRAM"},
      {"run --fly true", "terrane run has no option --fly; see: terrane run --help"},
      {"run -z true", "terrane run has no option -z"},
      {"run -n", "-n needs a value"},
      {"run -n 0 true", "-n 0: a job has at least 1 node"},
      {"run -n -3 true", "-n -3: a job has at least 1 node"},
      {"run -n=-3 true", "-n =-3: the number of nodes must be a whole number"},
      {"run -n four true", "-n four: the number of nodes must be a whole number"},
      {"run -n 2.5 true", "-n 2.5: the number of nodes must be a whole number"},
      {"run -n 10000 true", "-n 10000: at most 1024 nodes can be started here (a fixed limit"},
      {"run -n 99999999999999999999 true", "at most"},
      {"run -n 2 -n 3 true", "--np"},
      {"run --timeout 0 true", "--timeout 0: must be a number of seconds greater than 0"},
      {"run --timeout soon true", "--timeout soon: must be a number"},
      {"run --timeout nan true", "--timeout nan: must be a number"},
      {"run --bind-to moon true", "--bind-to: moon not in {none,share,core}"},
      {"run --fault-source x true", "--fault-source: x not in"},
      {"run --memory lots true", "--memory lots: must be a size such as 512M"},
      {"run --memory 5X true", "--memory 5X: must be a size"},
      {"run --wdir /no/such true", "--wdir /no/such: No such file or directory"},
      {"run -x NOT_SET_ANYWHERE true", "-x NOT_SET_ANYWHERE: NOT_SET_ANYWHERE is not set here"},
      {"run -x =1 true", "-x =1: give it as NAME or NAME=VALUE"},
      {"run -x TERRANE_NODE=1 true", "terrane run itself sets TERRANE_NODE"},
      {"run --verbose=yes true", "--verbose=yes: the option takes no value"},
      {"info --fly", "--fly"},
  };
  for (const BadLine& one : bad) {
    std::vector<std::string> command{kTerrane};
    for (const std::string& word : words(one.line)) command.push_back(word);
    Outcome done = Launched(command).finish();
    EXPECT_EQ(done.exit_code, 2) << one.line;
    EXPECT_TRUE(holds(done.err, one.text)) << one.line;
    EXPECT_TRUE(holds(done.err, "--help")) << one.line;
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << one.line << done.err;
    EXPECT_TRUE(done.out.empty()) << one.line;
  }
}

TEST(CommandLineTest, OshrunIsTerraneRunByAnotherName) {
  std::string oshrun =
      std::string(kTerrane).replace(std::string(kTerrane).rfind('/'), 99, "/oshrun");
  Outcome done =
      Launched({oshrun, "-np", "3", "-x", "WORD=here", "sh", "-c", "echo $WORD; exit 5"}).finish();
  EXPECT_EQ(done.exit_code, 5);
  EXPECT_TRUE(holds(done.out, "here\n"));
  Outcome joined =
      Launched({oshrun, "-n", "2", kNodeProgram, "join", "exchange:8:0", "leave"}).finish();
  EXPECT_EQ(joined.exit_code, 0) << joined.err;
  EXPECT_TRUE(holds(Launched({oshrun, "--help"}).finish().out, "Usage: oshrun [OPTIONS] PROGRAM"));
  EXPECT_TRUE(holds(Launched({oshrun, "--version"}).finish().out, "terrane "));
  Outcome wrong = Launched({oshrun, "--fly", "true"}).finish();
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(holds(wrong.err, "oshrun has no option --fly; see: oshrun --help"));
  auto processors = [](std::vector<std::string> command) {
    command.insert(command.end(), {"-n", "2", "nproc"});
    return Launched(command).finish().out;
  };
  EXPECT_EQ(processors({oshrun}), processors({kTerrane, "run", "--bind-to", "share"}));
  EXPECT_EQ(processors({oshrun, "--bind-to", "none"}), processors({kTerrane, "run"}));
  EXPECT_TRUE(holds(Launched({oshrun}).finish().err, "no program given: oshrun -n 1 PROGRAM"));
}

TEST(CommandLineTest, ALimitOnDescriptorsIsNamedAsTheReason) {
  Outcome done =
      Launched({"sh", "-c", std::string("ulimit -n 256; exec ") + kTerrane + " run -n 100 true"})
          .finish();
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_TRUE(holds(done.err,
                    "at most 17 nodes can be started here (11 descriptors a node, "
                    "and RLIMIT_NOFILE is 256; raise it with ulimit -Hn)"));
}

TEST(CommandLineTest, OptionsAfterTheProgramBelongToIt) {
  Outcome done =
      Launched({kTerrane, "run", "-np", "1", "echo", "-n", "5", "--np", "--fly"}).finish();
  EXPECT_EQ(done.out, "5 --np --fly");
  done = Launched({kTerrane, "run", "--np=2", "--", "echo", "--", "-np"}).finish();
  EXPECT_EQ(done.out, "-- -np\n-- -np\n");
  done = Launched({kTerrane, "run", "-n2", "echo", "run", "info"}).finish();
  EXPECT_EQ(done.out, "run info\nrun info\n");
}

TEST(CommandLineTest, HelpVersionAndInfoSucceed) {
  EXPECT_TRUE(holds(Launched({kTerrane, "--version"}).finish().out, "terrane "));
  EXPECT_TRUE(holds(Launched({kTerrane, "--help"}).finish().out, "run"));
  EXPECT_TRUE(holds(Launched({kTerrane, "run", "--help"}).finish().out, "--tag-output"));
  Outcome info = Launched({kTerrane, "info"}).finish();
  EXPECT_EQ(info.exit_code, 0);
  EXPECT_TRUE(holds(info.out, "version"));
}

}  // namespace
}  // namespace terrane::cluster_test
