#include "bootstrap/attendance.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace terrane::bootstrap {
namespace {

using std::chrono::milliseconds;

// Processes that carry the environment of a PMIx job, of which none joins.
class AttendanceTest : public testing::Test {
 protected:
  ~AttendanceTest() override {
    for (pid_t process : processes_) end(process);
  }
  static void end(pid_t process) {
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
  }

  pid_t start(std::uint32_t rank) {
    pid_t child = ::fork();
    if (child == 0) {
      std::string job = "PMIX_NAMESPACE=" + job_, own = "PMIX_RANK=" + std::to_string(rank);
      char* environment[] = {job.data(), own.data(), nullptr};
      ::execle("/bin/sleep", "sleep", "100", nullptr, environment);
      ::_exit(1);
    }
    processes_.push_back(child);
    return child;
  }
  Attendance come(std::uint32_t rank, milliseconds limit) const {
    return Attendance::begin(job_, rank, map_, limit).value();
  }
  // What it says in the end.
  static std::string say(Attendance& one) {
    for (;;) {
      if (auto sentence = one.objection()) return *sentence;
      std::this_thread::sleep_for(milliseconds(20));
    }
  }

  std::string job_ = "attendance-test-" + std::to_string(::getpid());
  JobMap map_{{"h0", "h1"}, {0, 0, 0, 1}};
  std::vector<pid_t> processes_;
};

TEST_F(AttendanceTest, AProcessThatEndedBeforeItJoinedIsNamed) {
  for (std::uint32_t rank : {0u, 1u}) start(rank);
  Attendance zero = come(0, milliseconds(0)), two = come(2, milliseconds(0));
  end(processes_[1]);
  EXPECT_EQ(say(zero).find("process 1 of the job ended on host h0 before joining it"), 0u);
}

TEST_F(AttendanceTest, TimeIsUpForThoseThatAreLate) {
  for (std::uint32_t rank : {0u, 1u, 2u}) start(rank);
  Attendance zero = come(0, milliseconds(200));
  EXPECT_NE(say(zero).find("within 0.2 s: processes 1, 2 on host h0; "), std::string::npos);
  Attendance one = come(1, milliseconds(100));
  EXPECT_NE(say(zero).find(": process 2 on host h0; "), std::string::npos);
}

TEST_F(AttendanceTest, WhereAllOfThisHostHaveComeTheOthersAreNamed) {
  for (std::uint32_t rank : {0u, 1u, 2u}) start(rank);
  Attendance one = come(1, milliseconds(100)), two = come(2, milliseconds(100));
  Attendance zero = come(0, milliseconds(100));
  EXPECT_NE(say(zero).find("at least one of process 3 on other hosts; those of h0 have all joined"),
            std::string::npos);
}

TEST_F(AttendanceTest, TheLimitIsReadFromTheEnvironment) {
  ::setenv("TERRANE_START_TIMEOUT", "2.5", 1);
  EXPECT_EQ(start_timeout().value(), milliseconds(2500));
  for (const char* bad : {"", "x", "-1", "2s"}) {
    ::setenv("TERRANE_START_TIMEOUT", bad, 1);
    EXPECT_FALSE(start_timeout()) << bad;
  }
  ::unsetenv("TERRANE_START_TIMEOUT");
  EXPECT_EQ(start_timeout().value(), std::chrono::seconds(60));
}

}  // namespace
}  // namespace terrane::bootstrap
