// What the kernel and the C library keep for a process (src/frontend/process_state.txt): the same
// for all threads of a program on several nodes, or refused with a sentence.
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/test_folder.h"
#include "beside_plain.h"

namespace terrane::test_hosts {
namespace {

const std::string kRights = STATE_RIGHTS;
constexpr const char* kSetups[] = {"-n 1", "-n 2 --placement 1", "-n 3 --placement cyclic"};

void expect_good(const std::string& options, const std::string& program) {
  Outcome outcome = finish(threads(options, program));
  EXPECT_EQ(outcome.exit_code, 0) << options << " " << program << ": " << outcome.err;
  EXPECT_EQ(outcome.out, "good\n") << options << " " << program;
  EXPECT_EQ(outcome.err, "") << options << " " << program;
}

TEST(StateTest, NoThreadKeepsRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root has rights to drop";
  for (const char* setup : kSetups)
    for (const char* call : {"setuid", "setreuid", "setresuid"})
      expect_good(setup, kRights + " " + call);
}

TEST(StateTest, AnEffectiveUserIsThatOfAllThreads) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  for (const char* setup : kSetups) expect_good(setup, kRights + " effective");
}

TEST(StateTest, WhatCannotBeDoneOnAllNodesIsRefused) {
  Outcome outcome = finish(threads("-n 2", kRights + " refused"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  for (const char* sentence :
       {"unshare: the threads of other nodes would stay", "setns: the threads of other nodes would",
        "sethostname: the nodes may be on several hosts", "prctl(PR_SET_SECCOMP): the threads of",
        "syscall(2) about rights or namespaces: the threads of other nodes would stay"})
    EXPECT_EQ(count(outcome.err, sentence), 1) << sentence << ": " << outcome.err;
}

TEST(StateTest, TimersAreThoseOfTheProgramAndTheirFunctionsItsThreads) {
  for (const char* setup : kSetups) expect_good(setup, STATE_TIMERS);
  for (const char* source : {"uffd-sync", "sigsegv"})
    expect_good(std::string("-n 2 --placement 1 --fault-source ") + source, STATE_TIMERS);
}

TEST(StateTest, MessagesThatComeAreToldToTheProgram) {
  for (const char* setup : kSetups) expect_good(setup, STATE_MESSAGES);
  for (const char* source : {"uffd-sync", "sigsegv"})
    expect_good(std::string("-n 2 --placement 1 --fault-source ") + source, STATE_MESSAGES);
}

TEST(StateTest, AsynchronousCallsReachTheMemoryOfAllNodes) {
  for (const char* setup : kSetups) expect_good(setup, STATE_ASYNC);
  for (const char* source : {"uffd-sync", "sigsegv"})
    expect_good(std::string("-n 2 --placement 1 --fault-source ") + source, STATE_ASYNC);
}

TEST(StateTest, ProcessorTimeIsThatOfAllThreads) {
  for (const char* setup : kSetups) expect_good(setup, STATE_PROCESSOR_TIME);
  expect_good("-n 2 --placement 1 --fault-source sigsegv", STATE_PROCESSOR_TIME);
}

TEST(StateTest, AThreadHasTheNameProcessorsAndStackThatItIsGiven) {
  for (const char* setup : kSetups) expect_good(setup, STATE_THREAD_ATTRIBUTES);
  for (const char* source : {"uffd-sync", "sigsegv"})
    expect_good(std::string("-n 2 --placement 1 --fault-source ") + source,
                STATE_THREAD_ATTRIBUTES);
}

TEST(StateTest, WhatNoThreadCanHaveIsRefused) {
  Outcome outcome = finish(threads("-n 2", std::string(STATE_THREAD_ATTRIBUTES) + " refused"));
  EXPECT_EQ(outcome.out, "good\n") << outcome.err;
  for (const char* sentence :
       {"pthread_create: threads of a program on several nodes have no priorities",
        "pthread_setschedprio: threads of a program on several nodes have no priorities",
        "pthread_setattr_default_np: threads of a program on several nodes have the default",
        "pthread_setaffinity_np: processors have the numbers of the host"})
    EXPECT_EQ(count(outcome.err, sentence), 1) << sentence << ": " << outcome.err;
}

TEST(StateTest, NewThreadsRoundAsTheirCreatorDoes) {
  for (const char* program : {STATE_ROUNDING, STATE_ROUNDING_FAST}) {
    for (const char* setup : kSetups) expect_good(setup, program);
    for (const char* source : {"uffd-async", "uffd-sync", "sigsegv"})
      expect_good(std::string("-n 2 --placement 1 --fault-source ") + source, program);
  }
}

TEST(StateTest, DescriptorsOfOtherNodesAreServedOrRefused) {
  for (const char* mode : {"of_main", "of_a_thread"}) {
    for (const char* setup : {"-n 2 --placement 1", "-n 3 --placement 1",
                              "-n 2 --placement 1 --fault-source sigsegv"}) {
      base::TestFolder folder;
      Outcome outcome =
          finish(threads(setup, std::string(STATE_DESCRIPTORS) + " " + mode + " " + folder.path()));
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      EXPECT_EQ(outcome.out, "good\n") << setup << " " << mode;
      for (const char* call : {"preadv2", "sendfile", "copy_file_range", "tee", "vmsplice",
                               "fexecve", "getdirentries", "sendmsg with control data"})
        EXPECT_EQ(count(outcome.err, std::string(call) + ": descriptor"), 1)
            << call << ": " << outcome.err;
    }
  }
}

TEST(StateTest, LimitsAreThoseOfAllThreads) {
  for (const char* setup : kSetups) expect_good(setup, kRights + " limits");
}

TEST(StateTest, NewThreadsInheritRights) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root has rights to give up";
  for (const char* setup : kSetups)
    for (const char* mode : {"inherited", "of_one_thread"})
      expect_good(setup, kRights + " " + mode);
}

TEST(StateTest, TheRootFolderIsThatOfAllNodes) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root changes its root folder";
  for (const char* setup : kSetups) expect_good(setup, kRights + " chroot");
}

TEST(StateTest, WhatAProcessHasIsChangedOnAllNodes) {
  for (const char* setup : kSetups) expect_good(setup, kRights + " of_process");
}

class StateHostsTest : public OnHosts {};

TEST_F(StateHostsTest, TheStateIsOneOnTwoHosts) {
  if (!make_hosts({.hosts = 2})) return;
  for (const std::string& program :
       {std::string(STATE_PROCESSOR_TIME), std::string(STATE_THREAD_ATTRIBUTES),
        std::string(STATE_TIMERS), std::string(STATE_ASYNC), std::string(STATE_MESSAGES)}) {
    std::string line = std::string(cluster_test::kTerrane) + " threads -H h0,h1 " + program;
    Outcome outcome = run(0, cluster_test::words(line));
    EXPECT_EQ(outcome.exit_code, 0) << program << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "good\n") << program;
  }
}

}  // namespace
}  // namespace terrane::test_hosts
