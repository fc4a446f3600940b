#include "platform/program_signals.h"

#include <gtest/gtest.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "platform/fault_test_space.h"
#include "platform/guarded_copy.h"

namespace terrane::platform {
namespace {

// Each claim is tried in a process of its own, with each way in which faults come.
class ProgramSignalsTest : public testing::TestWithParam<FaultSourceKind> {
 protected:
  void SetUp() override {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    if (!probe_fault_sources().has(GetParam())) GTEST_SKIP() << probe_fault_sources().reason;
  }
  // Runs the claim where nothing but Terrane has handlers; it ends the process with 42.
  template <typename Claim>
  static void fresh(Claim claim) {
    signal(SIGBUS, SIG_DFL);
    signal(SIGSEGV, SIG_DFL);
    FaultTestSpace space(GetParam(), 64);
    ensure_signal_stack();
    claim(space);
  }
};
class ProgramSignalsDeathTest : public ProgramSignalsTest {};
constexpr auto kGood = [](int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 42; };

volatile unsigned char* nowhere() {
  return static_cast<volatile unsigned char*>(
      mmap(nullptr, page_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

void install(int signal_number, void (*handler)(int, siginfo_t*, void*), int flags) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  sigaddset(&action.sa_mask, SIGUSR1);
  program_sigaction(signal_number, &action, nullptr);
}

FaultTestSpace* shared = nullptr;
volatile unsigned char* volatile bad_page = nullptr;
int entered = 0;
sigjmp_buf way_out;

void expect(bool good, int code) {
  if (!good) _exit(code);
}

void exit_good(int, siginfo_t* info, void*) { _exit(info->si_addr == bad_page ? 42 : 43); }

TEST_P(ProgramSignalsDeathTest, AHandlerInstalledLaterGetsWhatIsTheProgramsAlone) {
  EXPECT_EXIT(fresh([](FaultTestSpace& space) {
                install(SIGSEGV, exit_good, SA_RESTART);
                install(SIGBUS, exit_good, 0);
                space.app(3) = 1;
                expect(space.faults() > 0, 44);
                struct sigaction seen {};
                expect(program_sigaction(SIGSEGV, nullptr, &seen) == 0, 45);
                expect(seen.sa_sigaction == exit_good, 46);
                expect(seen.sa_flags == (SA_SIGINFO | SA_RESTART), 47);
                expect(sigismember(&seen.sa_mask, SIGUSR1) == 1, 48);
                bad_page = nowhere();
                *bad_page = 1;
              }),
              kGood, "");
}

void read_shared(int, siginfo_t*, void*) {
  for (std::size_t page = 10; page < 20; ++page) shared->app(page) = 7;
  _exit(shared->runtime(12) == 7 ? 42 : 43);
}

TEST_P(ProgramSignalsDeathTest, AHandlerMayUseSharedMemory) {
  for (int signal_number : {SIGBUS, SIGSEGV}) {
    EXPECT_EXIT(fresh([=](FaultTestSpace& space) {
                  shared = &space;
                  install(signal_number, read_shared, 0);
                  raise(signal_number);
                }),
                kGood, "");
  }
}

void count_entry(int, siginfo_t*, void*) {
  ++entered;
  write(STDERR_FILENO, "entered ", 8);
}

TEST_P(ProgramSignalsDeathTest, AHandlerForOneSignalAloneIsGoneAfterIt) {
  EXPECT_EXIT(fresh([](FaultTestSpace& space) {
                install(SIGSEGV, count_entry, static_cast<int>(SA_RESETHAND));
                raise(SIGSEGV);
                space.app(3) = 1;
                raise(SIGSEGV);
              }),
              testing::KilledBySignal(SIGSEGV), "^entered $");
}

void fault_again(int, siginfo_t*, void*) {
  write(STDERR_FILENO, "entered ", 8);
  if (++entered == 3) _exit(42);
  *bad_page = 1;
}

TEST_P(ProgramSignalsDeathTest, AFaultInsideAHandlerKillsUnlessItsSignalWasLeftOpen) {
  auto run = [](int flags) {
    fresh([=](FaultTestSpace&) {
      install(SIGSEGV, fault_again, flags);
      bad_page = nowhere();
      *bad_page = 1;
    });
  };
  EXPECT_EXIT(run(0), testing::KilledBySignal(SIGSEGV), "^entered $");
  EXPECT_EXIT(run(SA_NODEFER), kGood, "^entered entered entered $");
}

void jump_out(int, siginfo_t*, void*) { siglongjmp(way_out, 1); }

TEST_P(ProgramSignalsDeathTest, AHandlerMayBeLeftByAJumpAgainAndAgain) {
  EXPECT_EXIT(fresh([](FaultTestSpace& space) {
                install(SIGSEGV, jump_out, 0);
                install(SIGBUS, jump_out, 0);
                bad_page = nowhere();
                for (entered = 0; entered < 50; ++entered) {
                  if (sigsetjmp(way_out, 1) != 0) continue;
                  space.app(static_cast<std::size_t>(entered)) = 1;
                  if (entered % 3 == 0) raise(SIGBUS);
                  *bad_page = 1;
                  _exit(43);
                }
                _exit(42);
              }),
              kGood, "");
}

TEST_P(ProgramSignalsTest, ClosedSignalsAreReportedClosedAndFaultsGoOn) {
  FaultTestSpace space(GetParam(), 8);
  std::thread([&] {
    sigset_t all, before, now, real;
    sigfillset(&all);
    ASSERT_EQ(program_sigmask(SIG_SETMASK, &all, &before), 0);
    EXPECT_EQ(sigismember(&before, SIGSEGV), 0);
    space.app(2) = 1;
    program_sigmask(SIG_BLOCK, nullptr, &now);
    pthread_sigmask(SIG_BLOCK, nullptr, &real);
    for (int fault : {SIGBUS, SIGSEGV}) {
      EXPECT_EQ(sigismember(&now, fault), 1);
      EXPECT_EQ(sigismember(&real, fault), 0);
    }
    EXPECT_EQ(sigismember(&real, SIGUSR1), 1);
    ASSERT_EQ(program_sigmask(SIG_SETMASK, &before, nullptr), 0);
    program_sigmask(SIG_BLOCK, nullptr, &now);
    EXPECT_EQ(sigismember(&now, SIGBUS), 0);
    EXPECT_EQ(program_sigmask(77, &all, nullptr), EINVAL);
    EXPECT_EQ(believed_closed(), 0);
  }).join();
  EXPECT_EQ(space.faults(), 1u);
}

TEST_P(ProgramSignalsTest, OtherHandlersRunWithTheSignalsOfFaultsOpen) {
  FaultTestSpace space(GetParam(), 8);
  shared = &space;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { shared->app(4) = 9; };
  sigfillset(&action.sa_mask);
  ASSERT_EQ(program_sigaction(SIGUSR2, &action, &before), 0);
  raise(SIGUSR2);
  EXPECT_EQ(space.runtime(4), 9);
  program_sigaction(SIGUSR2, &before, nullptr);
}

TEST_P(ProgramSignalsTest, ASmallSignalStackOfTheProgramsIsReportedAndNotServedOn) {
  FaultTestSpace space(GetParam(), 8);
  std::thread([&] {
    ensure_signal_stack();
    std::vector<std::byte> small(static_cast<std::size_t>(sysconf(_SC_MINSIGSTKSZ)) + 2048);
    stack_t mine{}, before{}, now{};
    mine.ss_sp = small.data();
    mine.ss_size = small.size();
    ASSERT_EQ(program_sigaltstack(&mine, &before), 0);
    ASSERT_EQ(program_sigaltstack(nullptr, &now), 0);
    EXPECT_EQ(now.ss_sp, small.data());
    EXPECT_EQ(now.ss_size, small.size());
    space.read(1);
    auto frame = reinterpret_cast<std::uintptr_t>(space.handler_frame());
    EXPECT_GE(frame - reinterpret_cast<std::uintptr_t>(small.data()), small.size());
    mine.ss_flags = SS_DISABLE;
    ASSERT_EQ(program_sigaltstack(&mine, &now), 0);
    EXPECT_EQ(now.ss_sp, small.data());
    ASSERT_EQ(program_sigaltstack(nullptr, &now), 0);
    EXPECT_TRUE(now.ss_flags & SS_DISABLE);
    space.read(2);
    mine.ss_flags = 0;
    mine.ss_size = 16;
    EXPECT_EQ(program_sigaltstack(&mine, nullptr), -1);
    EXPECT_EQ(program_sigaltstack(&before, nullptr), 0);
  }).join();
  EXPECT_EQ(space.faults(), 2u);
}

TEST_P(ProgramSignalsTest, AGuardedCopyFaultsAsAnyAccessDoes) {
  FaultTestSpace space(GetParam(), 8);
  std::vector<unsigned char> bytes(3 * page_bytes());
  ASSERT_TRUE(guarded_copy(bytes.data(), space.mapping().app() + 100, bytes.size()));
  EXPECT_EQ(bytes[0], FaultTestSpace::mark(0));
  EXPECT_EQ(bytes.back(), FaultTestSpace::mark(3));
  ASSERT_TRUE(guarded_copy(space.mapping().app() + 4 * page_bytes(), bytes.data(), bytes.size()));
  EXPECT_EQ(space.runtime(6, 500), FaultTestSpace::mark(2));
}

TEST_P(ProgramSignalsTest, AGuardedCopyOutsideAnyAllocationIsAnErrorAndNoDeath) {
  FaultTestSpace space(GetParam(), 8);
  space.read(0);
  space.refuse_all();
  std::vector<char> bytes(2 * page_bytes());
  for (int round = 0; round < 3; ++round) {
    errno = ERANGE;
    EXPECT_FALSE(guarded_copy(bytes.data(), space.mapping().app(), bytes.size()));
    EXPECT_FALSE(guarded_copy(space.mapping().app(), bytes.data(), bytes.size()));
    EXPECT_EQ(errno, ERANGE);
  }
  EXPECT_TRUE(guarded_copy(bytes.data(), space.mapping().app(), 100));
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, nullptr, &now);
  EXPECT_EQ(sigismember(&now, SIGUSR1), 0);
}

TEST_P(ProgramSignalsTest, AGuardedStringEndsWithItsEnd) {
  FaultTestSpace space(GetParam(), 8);
  auto* text = reinterpret_cast<char*>(space.mapping().app() + page_bytes() - 3);
  for (int i = 0; i < 6; ++i)
    space.app(0, page_bytes() - 3 + static_cast<std::size_t>(i)) = "hello"[i];
  space.source().zap(FaultTestSpace::span(0, 8));
  char copy[100];
  EXPECT_TRUE(guarded_copy_string(copy, text, sizeof copy));
  EXPECT_STREQ(copy, "hello");
  EXPECT_FALSE(guarded_copy_string(copy, text, 5));
}

INSTANTIATE_TEST_SUITE_P(EverySource, ProgramSignalsTest,
                         testing::Values(FaultSourceKind::kUserfaultfdAsync,
                                         FaultSourceKind::kUserfaultfdSync,
                                         FaultSourceKind::kSigsegv),
                         fault_source_name);
INSTANTIATE_TEST_SUITE_P(EverySource, ProgramSignalsDeathTest,
                         testing::Values(FaultSourceKind::kUserfaultfdAsync,
                                         FaultSourceKind::kSigsegv),
                         fault_source_name);

}  // namespace
}  // namespace terrane::platform
