// What keeps the hosts of a job from being started, and what is said then.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/test_folder.h"
#include "user_test.h"

namespace terrane::cluster_test {
namespace {

Launched::Options options() { return {.environment = {"TERRANE_RSH=" FAKE_RSH}}; }

struct BadHost {
  const char* hosts;
  const char* text;
};

TEST(StartHostsTest, WhatIsWrongWithAHostIsSaidInOneSentenceAndNothingIsLeft) {
  const BadHost bad[] = {
      {"h0,down1",
       "host down1 cannot be reached: ssh: connect to host down1 port 22: No route to host; try: "},
      {"unknown1", "host unknown1 cannot be reached: ssh: Could not resolve hostname unknown1"},
      {"denied1", "host denied1 cannot be reached: me@denied1: Permission denied"},
      {"h0,bare1", "host bare1 has no command /"},
      {"h0,old1", "on host old1 is of another version (terrane: there is no command host-engine"},
  };
  for (const BadHost& one : bad) {
    Launched job(run_nodes(std::string("-H ") + one.hosts, "hang"), options());
    Outcome done = job.finish();
    EXPECT_EQ(done.exit_code, 1) << one.hosts;
    EXPECT_TRUE(holds(done.err, one.text)) << one.hosts;
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
    EXPECT_GE(job.ms_until_all_gone(), 0) << one.hosts;
  }
}

TEST(StartHostsTest, AHostThatDoesNotComeUpIsNamedAfterTheTimeForIt) {
  Launched job(run_nodes("-H h0,mute1 --start-timeout 0.5", "hang"), options());
  Outcome done = job.finish();
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_TRUE(holds(done.err, "no engine has come up on host mute1 within"));
  EXPECT_GE(job.ms_until_all_gone(), 0);
}

TEST(StartHostsTest, AnEngineWithAnotherSecretStaysOutside) {
  Launched job(run_nodes("-H h0,thief1 --start-timeout 0.7", "hang"), options());
  Outcome done = job.finish();
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_TRUE(holds(done.err, "no engine has come up on host thief1"));
  EXPECT_GE(job.ms_until_all_gone(), 0);
}

TEST(StartHostsTest, WhatAHostSaysAtLoginDisturbsNothing) {
  Outcome done = run("-H noisy0,noisy1", "join exchange:10:0 leave", options());
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.out + done.err, "");
}

TEST(StartHostsTest, AnInterruptWhileHostsComeUpEndsTheJob) {
  Launched job(run_nodes("-H h0,mute1", "hang"), options());
  while (job.marked_processes().size() < 4) ::usleep(1000);
  ::kill(job.pid(), SIGINT);
  Outcome done = job.finish();
  EXPECT_EQ(done.exit_code, 128 + SIGINT);
  EXPECT_TRUE(holds(done.err, "was ended by SIGINT while its hosts were being started"));
  EXPECT_GE(job.ms_until_all_gone(), 0);
}

TEST(StartHostsTest, WhatAHostLacksForTheProgramIsNamedWithTheHost) {
  Launched::Options elsewhere = options();
  base::TestFolder of_test;
  std::string folder = of_test / "work";
  ASSERT_EQ(Launched({"mkdir", folder}).finish().exit_code, 0);
  // The folder goes while the host is being reached.
  std::ofstream(folder + ".sh") << "rmdir " << folder << " 2>/dev/null\nshift\nexec \"$@\"\n";
  elsewhere.environment = {"TERRANE_RSH=sh " + folder + ".sh"};
  Outcome done = run("-H h1 --wdir " + folder, "exit:0", elsewhere);
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_TRUE(holds(done.err, "host h1 has no folder " + folder + " to run in"));
}

TEST(StartHostsTest, VerboseSaysWhichEngineAndWhere) {
  Outcome done = run("-v -H h0:2,h1", "join leave", options());
  EXPECT_TRUE(holds(done.err, "engine ssh: hosts were named by -H\n"));
  EXPECT_TRUE(holds(done.err, "host h0: nodes 0 1\n"));
  EXPECT_TRUE(holds(done.err, "host h1: nodes 2\n"));
  EXPECT_TRUE(holds(done.err, "starting: "));
  EXPECT_TRUE(holds(run("-v -n 2", "exit:0").err, "engine local: no other hosts were named\n"));
}

TEST(StartHostsTest, MoreNodesThanSlotsAreANoticeAndNotAnError) {
  Outcome done = run("-n 5 -H h0,h1", "exit:0", options());
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_TRUE(holds(done.err, "5 nodes on 2 slots of the hosts"));
}

class HostFileCommandTest : public testing::Test {
 protected:
  Outcome run_with(const std::string& text, const std::string& more = "") {
    std::ofstream(path_) << text;
    return run("--hostfile " + path_ + " " + more, "join @0 show:hosts @all leave", options());
  }
  base::TestFolder folder_;
  std::string path_ = folder_ / "hostfile";
};

TEST_F(HostFileCommandTest, ItsHostsRunTheJob) {
  Outcome done = run_with("# mine\nh0 slots=2\nh1\n");
  EXPECT_EQ(done.out, "hosts 0 0 1: h0 h0 h1\n") << done.err;
  EXPECT_EQ(run_with("h0 slots=2\nh1\n", "-H h1:2").out, "hosts 0 0: h1 h1\n");
}

TEST_F(HostFileCommandTest, ItsFaultsAreNamedByFileAndLine) {
  Outcome done = run_with("h0\nh1 slots=many\n");
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_TRUE(holds(done.err, path_ + ":2: slots=many: must be from 1 to"));
  EXPECT_TRUE(holds(run_with("h0\n", "-H h7").err, "h7 is not in " + path_));
  EXPECT_TRUE(holds(run("--hostfile /no/such/file", "exit:0").err,
                    "--hostfile /no/such/file: No such file or directory"));
}

TEST(StartHostsTest, OptionsThatDoNotGoTogetherAreRefused) {
  const BadHost bad[] = {
      {"-H a,,b", "-H a,,b: \"\" is not the name of a host"},
      {"-H a:0", "the number of slots must be from 1 to"},
      {"--engine local -H h0,h1", "--engine local starts nodes on this host alone, not on h0"},
      {"--engine ssh", "--engine ssh: name the hosts: -H a,b or --hostfile FILE"},
      {"--engine rocket", "rocket not in"},
      {"--map-by moon", "moon not in"},
      {"--heartbeat 0.001", "--heartbeat 0.001: must be at least 0.05 seconds, or 0 for none"},
      {"--heartbeat 2 --death-after 1",
       "--death-after 1: must be at least the heartbeat, 2 seconds"},
      {"--start-timeout x", "--start-timeout x: must be a number of seconds"},
      {"--on-death cry", "cry not in"},
      {"-n 5000 -H h0", "-n 5000: at most 4096 nodes can be started here"},
  };
  for (const BadHost& one : bad) {
    Outcome done = run(one.hosts, "exit:0");
    EXPECT_EQ(done.exit_code, 2) << one.hosts;
    EXPECT_TRUE(holds(done.err, one.text)) << one.hosts;
  }
}

}  // namespace
}  // namespace terrane::cluster_test
