#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "platform/fault_test_space.h"

namespace terrane::platform {
namespace {

// The handler is installed once a process, so each of these claims is tried in a process of its
// own.
class FaultSignalTest : public testing::Test {
 protected:
  void SetUp() override {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    if (!probe_fault_sources().userfaultfd) GTEST_SKIP() << probe_fault_sources().reason;
  }
};
using FaultSignalDeathTest = FaultSignalTest;

// Sanitizers take SIGBUS for themselves; the program's own default is meant here.
void default_sigbus() { signal(SIGBUS, SIG_DFL); }

volatile unsigned char* memory_beyond_a_files_end() {
  int fd = memfd_create("empty", MFD_CLOEXEC);
  void* view = mmap(nullptr, page_bytes(), PROT_READ, MAP_SHARED, fd, 0);
  return static_cast<volatile unsigned char*>(view);
}

TEST_F(FaultSignalDeathTest, AnAccessOutsideAnyAllocationIsNamedAndKills) {
  auto access = [] {
    default_sigbus();
    FaultTestSpace space(FaultSourceKind::kAutomatic, 8,
                         reinterpret_cast<void*>(default_space_layout().base));
    space.refuse_all();
    space.app(3, 5) = 1;
  };
  EXPECT_EXIT(access(), testing::KilledBySignal(SIGBUS),
              "terrane: invalid access at 0x20+3005: in the shared space, but in no allocation");
}

TEST_F(FaultSignalDeathTest, AGenuineSigbusElsewhereStillKills) {
  auto access = [] {
    default_sigbus();
    FaultTestSpace space(FaultSourceKind::kAutomatic, 8);
    static_cast<void>(*memory_beyond_a_files_end());
  };
  EXPECT_EXIT(access(), testing::KilledBySignal(SIGBUS), "^$");
}

TEST_F(FaultSignalDeathTest, ASentSigbusStillKills) {
  auto send = [] {
    default_sigbus();
    FaultTestSpace space(FaultSourceKind::kAutomatic, 8);
    raise(SIGBUS);
  };
  EXPECT_EXIT(send(), testing::KilledBySignal(SIGBUS), "^$");
}

TEST_F(FaultSignalDeathTest, AnIgnoredSigbusIsIgnoredOnlyWhenSent) {
  auto send = [] {
    signal(SIGBUS, SIG_IGN);
    FaultTestSpace space(FaultSourceKind::kAutomatic, 8);
    raise(SIGBUS);
    std::fputs("still here", stderr);
    static_cast<void>(*memory_beyond_a_files_end());
  };
  EXPECT_EXIT(send(), testing::KilledBySignal(SIGBUS), "still here");
}

// The child dies; the parent reports how.
void touch_in_a_child() {
  signal(SIGSEGV, SIG_DFL);
  FaultTestSpace space(FaultSourceKind::kAutomatic, 8,
                       reinterpret_cast<void*>(default_space_layout().base));
  pid_t child = fork();
  if (child == 0) space.app(1) = 1;
  int status = 0;
  waitpid(child, &status, 0);
  _exit(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV ? 42 : 43);
}

TEST_F(FaultSignalDeathTest, AChildOfForkIsToldThatItHasNoSharedMemory) {
  EXPECT_EXIT(touch_in_a_child(), testing::ExitedWithCode(42),
              "terrane: access to shared memory at 0x[0-9a-f]+ in a child process");
}

volatile unsigned char* expected_address = nullptr;

#ifdef __SANITIZE_THREAD__
constexpr bool kHandlersHaveTheirMask = false;  // it runs them with every signal blocked
constexpr const char* kNestedWords = "";        // SIGBUS too: death without words
#else
constexpr bool kHandlersHaveTheirMask = true;
constexpr const char* kNestedWords = "the fault handler touched the application view";
#endif

void earlier_handler(int, siginfo_t* info, void*) {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  bool mask_right = !kHandlersHaveTheirMask ||
                    (sigismember(&blocked, SIGUSR1) == 1 && sigismember(&blocked, SIGUSR2) == 0 &&
                     sigismember(&blocked, SIGBUS) == 0);
  _exit(info->si_addr == expected_address && mask_right ? 42 : 43);
}

TEST_F(FaultSignalDeathTest, AnEarlierHandlerGetsWhatIsNotOursUnderItsOwnMask) {
  auto access = [] {
    struct sigaction action {};
    action.sa_sigaction = earlier_handler;
    action.sa_flags = SA_SIGINFO;
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(SIGBUS, &action, nullptr);
    FaultTestSpace space(FaultSourceKind::kAutomatic, 8);
    space.read(1);
    expected_address = memory_beyond_a_files_end();
    static_cast<void>(*expected_address);
  };
  EXPECT_EXIT(access(), testing::ExitedWithCode(42), "");
}

FaultVerdict touch_own_view(void* context, std::uint64_t, Access) {
  static_cast<volatile unsigned char*>(context)[page_bytes()] = 1;
  return FaultVerdict::kRetry;
}

TEST_F(FaultSignalDeathTest, AHandlerThatTouchesTheApplicationViewIsNamed) {
  auto access = [] {
    default_sigbus();
    auto mapping = DualMapping::create(4 * page_bytes(), nullptr, "test");
    auto source = make_fault_source(FaultSourceKind::kAutomatic, mapping.value(), touch_own_view,
                                    mapping.value().app());
    *reinterpret_cast<volatile unsigned char*>(mapping.value().app()) = 1;
  };
  EXPECT_EXIT(access(), testing::KilledBySignal(SIGBUS), kNestedWords);
}

void live_without_privilege() {
  if (setgid(65534) != 0 || setuid(65534) != 0) _exit(1);
  prctl(PR_SET_DUMPABLE, 1);  // as a program has it that was started by this user
  for (FaultSourceKind kind :
       {FaultSourceKind::kUserfaultfdAsync, FaultSourceKind::kUserfaultfdSync}) {
    if (kind == FaultSourceKind::kUserfaultfdAsync && !probe_fault_sources().async_protect)
      continue;
    FaultTestSpace space(kind, 64);
    space.app(3) = 9;
    space.map(8, 8, Access::kRead);
    space.app(9) = 9;
    bool found = !space.scans() || space.written(8, 8) == std::vector<std::size_t>{9};
    space.source().zap(FaultTestSpace::span(0, 64));
    if (!found || space.app(3) != 9 || space.app(20) != FaultTestSpace::mark(20)) _exit(2);
  }
  _exit(0);
}

TEST_F(FaultSignalDeathTest, AnUnprivilegedUserCanDoAllThis) {
  if (getuid() != 0) GTEST_SKIP() << "already unprivileged: every other test shows it";
  EXPECT_EXIT(live_without_privilege(), testing::ExitedWithCode(0), "");
}

TEST_F(FaultSignalTest, AFaultIsHandledOnTheThreadsSignalStack) {
  FaultTestSpace space(FaultSourceKind::kAutomatic, 8);
  std::thread([&] {
    ensure_signal_stack();
    ensure_signal_stack();
    stack_t stack{};
    ASSERT_EQ(sigaltstack(nullptr, &stack), 0);
    EXPECT_GE(stack.ss_size, 256u * 1024);
    space.read(1);
    auto frame = reinterpret_cast<std::uintptr_t>(space.handler_frame());
    EXPECT_LT(frame - reinterpret_cast<std::uintptr_t>(stack.ss_sp), stack.ss_size);
  }).join();
}

TEST_F(FaultSignalTest, AThreadsLargeOwnSignalStackIsKept) {
  std::thread([] {
    std::vector<std::byte> own(512 * 1024);
    stack_t mine{}, before{}, now{};
    mine.ss_sp = own.data();
    mine.ss_size = own.size();
    ASSERT_EQ(sigaltstack(&mine, &before), 0);
    ensure_signal_stack();
    ASSERT_EQ(sigaltstack(nullptr, &now), 0);
    EXPECT_EQ(now.ss_sp, own.data());
    ASSERT_EQ(sigaltstack(&before, nullptr), 0);
  }).join();
}

TEST(FaultSourceKindTest, NamesAreParsed) {
  EXPECT_EQ(parse_fault_source("auto").value(), FaultSourceKind::kAutomatic);
  EXPECT_EQ(parse_fault_source("uffd-async").value(), FaultSourceKind::kUserfaultfdAsync);
  EXPECT_EQ(parse_fault_source("uffd-sync").value(), FaultSourceKind::kUserfaultfdSync);
  EXPECT_FALSE(parse_fault_source("segv").ok());
}

}  // namespace
}  // namespace terrane::platform
