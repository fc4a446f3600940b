#include "tools/launch/hub/death.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>

namespace terrane::tools {
namespace {

TEST(DeathTest, WaitStatusesBecomeCauses) {
  Death exited = death_of(NodeId{3}, 10, 7 << 8);
  EXPECT_EQ(exited.cause, Death::Cause::kExitCode);
  EXPECT_EQ(exit_code_of(exited), 7);
  Death killed = death_of(NodeId{3}, 10, SIGSEGV | 0x80);
  EXPECT_EQ(killed.cause, Death::Cause::kSignal);
  EXPECT_TRUE(killed.core_dumped);
  EXPECT_EQ(exit_code_of(killed), 139);
}

TEST(DeathTest, AFailureNeverGivesZero) {
  Death death{.cause = Death::Cause::kSentence, .number = 0, .sentence = "x"};
  EXPECT_EQ(exit_code_of(death), 1);
  death.number = 256;
  EXPECT_EQ(exit_code_of(death), 1);
  death.cause = Death::Cause::kSignal;
  for (int number : {128, -128, INT32_MAX}) {
    death.number = number;
    EXPECT_GT(exit_code_of(death), 0);
    EXPECT_LT(exit_code_of(death), 256);
  }
}

TEST(DeathTest, ASignalExplainsMoreThanTheExitsThatFollowFromIt) {
  Death signal{.cause = Death::Cause::kSignal, .number = SIGKILL};
  Death exit{.cause = Death::Cause::kExitCode, .number = 1};
  Death sentence{.cause = Death::Cause::kSentence, .number = 1};
  EXPECT_TRUE(explains_more(signal, exit));
  EXPECT_TRUE(explains_more(signal, sentence));
  EXPECT_TRUE(explains_more(sentence, exit));
  EXPECT_FALSE(explains_more(exit, exit));
  Death abort = signal;
  abort.number = SIGABRT;
  Death lost = exit;
  lost.cause = Death::Cause::kHostLost;
  EXPECT_TRUE(explains_more(lost, abort)) << "a lost host makes others abort";
  EXPECT_TRUE(explains_more(signal, abort));
  EXPECT_TRUE(explains_more(abort, sentence));
}

TEST(DeathTest, TheSentenceNamesNodeProcessHostAndCause) {
  Death death{.node = NodeId{2}, .pid = 77, .cause = Death::Cause::kSignal, .number = SIGKILL};
  std::string text = describe(death, "alpha", 3);
  EXPECT_EQ(text.find("node 2 (process 77 on alpha) was killed by SIGKILL (signal 9): "), 0u);
  EXPECT_NE(text.find("; the other 3 nodes are being ended"), std::string::npos);
  EXPECT_EQ(describe(death, "alpha", 0).find("other"), std::string::npos);
  death.cause = Death::Cause::kNotStarted;
  death.number = EACCES;
  EXPECT_NE(describe(death, "alpha", 1).find("could not be started: Permission denied"),
            std::string::npos);
}

}  // namespace
}  // namespace terrane::tools
