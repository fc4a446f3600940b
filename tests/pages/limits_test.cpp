// Limits of a process, and system calls that a container denies: an error of terrane_init, or a
// sentence, that names them.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <regex>

#include "../launcher/launched.h"
#include "denied.h"

namespace terrane::cluster_test {
namespace {

using BeforeExec = std::function<void()>;

Outcome run_limited(std::vector<std::string> command, BeforeExec limit,
                    std::vector<std::string> environment = {}) {
  Launched::Options options;
  options.before_exec = std::move(limit);
  options.environment = std::move(environment);
  command.insert(command.begin(), {kTerrane, "run", "-n", "2"});
  Outcome outcome = Launched(std::move(command), std::move(options)).finish();
  EXPECT_FALSE(outcome.timed_out) << outcome.err;
  return outcome;
}

const std::vector<std::string> kProgram{MEMORY_PROGRAM, "mlock_fails_and_nothing_else"};

std::vector<std::string> with(std::vector<std::string> options,
                              const std::vector<std::string>& program = kProgram) {
  options.insert(options.end(), program.begin(), program.end());
  return options;
}

void expect_error(const Outcome& outcome, const std::string& sentence) {
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_NE(outcome.err.find(sentence), std::string::npos) << outcome.err;
}

TEST(LimitsTest, AThreadThatCannotBeStartedIsAnErrorOfInit) {
  expect_error(run_limited(kProgram, deny_threads), "cannot start a thread: ");
}

TEST(LimitsTest, SoItIsWithChunksAndOpenShmem) {
  const std::vector<std::string> kCommands[] = {{CHUNKS_PROGRAM, "scopes"},
                                                {"--transport", "ucx", SHMEM_PROGRAM, "join"}};
  for (const auto& command : kCommands) {
    Outcome outcome = run_limited(command, deny_threads);
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_NE(outcome.err.find("cannot start a thread: "), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find("terminate called"), std::string::npos) << outcome.err;
  }
}

#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)  // their shadow passes any limit
void limit_addresses(rlim_t bytes) {
  rlimit limit{bytes, bytes};
  ::setrlimit(RLIMIT_AS, &limit);
}

TEST(LimitsTest, WhatTheErrorOfTheAddressLimitAdvisesWorks) {
  for (const char* transport : {"shm", "ucx"}) {
    for (rlim_t mib : {250, 500, 1000, 4000}) {
      auto limit = [=] { limit_addresses(mib << 20); };
      auto command = with({"--transport", transport});
      Outcome refused = run_limited(command, limit);
      expect_error(refused, "'ulimit -v' leaves ");
      std::smatch advice;
      ASSERT_TRUE(std::regex_search(refused.err, advice, std::regex("TERRANE_SPACE=[0-9]+M")))
          << refused.err;
      Outcome advised = run_limited(command, limit, {advice.str()});
      EXPECT_EQ(advised.exit_code, 0) << mib << " " << advice.str() << ": " << advised.err;
      EXPECT_EQ(advised.out, "good\ngood\n");
    }
  }
}

TEST(LimitsTest, TheLimitOfWritableMemoryIsNamed) {
  auto limit = [] {
    rlimit bytes{500 << 20, 500 << 20};
    ::setrlimit(RLIMIT_DATA, &bytes);
  };
  Outcome refused = run_limited(kProgram, limit);
  expect_error(refused, "'ulimit -d' leaves ");
  std::smatch advice;
  ASSERT_TRUE(std::regex_search(refused.err, advice, std::regex("TERRANE_SPACE=[0-9]+M")));
  EXPECT_EQ(run_limited(kProgram, limit, {advice.str()}).exit_code, 0);
}
#endif

TEST(LimitsTest, DeniedMemoryOfFilesIsNamed) {
  expect_error(run_limited(kProgram,
                           [] {
                             deny({{SYS_fallocate, EPERM}});
                           }),
               "fallocate on a memory file is denied");
}

TEST(LimitsTest, DeniedProcessDescriptorsAreTold) {
  Outcome outcome = run_limited({MEMORY_PROGRAM, "process_descriptors_denied"}, [] {});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(count(outcome.err, "pidfd_open: Operation not permitted"), 1) << outcome.err;
  Outcome of_launcher = run_limited(kProgram, [] { deny({{SYS_pidfd_open, EPERM}}); });
  EXPECT_EQ(of_launcher.exit_code, 1);
  EXPECT_EQ(count(of_launcher.err, "pidfd_open"), 1) << of_launcher.err;
}

TEST(LimitsTest, DeniedPersonalityIsToldWhenAskedFor) {
  auto denied = [] { deny({{SYS_personality, EPERM}}); };
  constexpr const char* kSentence = "may differ from node to node: personality(2)";
  Outcome told = run_limited(with({"-v"}), denied);
  EXPECT_EQ(told.exit_code, 0) << told.err;
  EXPECT_EQ(count(told.err, kSentence), 1) << told.err;
  EXPECT_EQ(count(run_limited(kProgram, denied).err, kSentence), 0);
}

}  // namespace
}  // namespace terrane::cluster_test
