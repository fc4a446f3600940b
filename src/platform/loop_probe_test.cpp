#include "platform/loop_probe.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "platform/fault_test_space.h"
#include "platform/libc_signals.h"
#include "platform/program_signals.h"
#include "platform/trap_signal.h"

namespace terrane::platform {
namespace {

#if defined(__x86_64__)

constexpr std::uint64_t kLongNs = 10'000'000'000;

volatile int ready = 0;
volatile long memory = 0;
std::atomic<bool> over{false};

void poll() { asm volatile("1: cmpl $0, %0\n je 1b" : : "m"(ready) : "cc"); }

void poll_with_pause() { asm volatile("1: pause\n cmpl $0, %0\n je 1b" : : "m"(ready) : "cc"); }

// It polls less and less often, up to a limit.
void poll_with_pauses() {
  asm volatile(
      "mov $1, %%ecx\n"
      "1: mov %%ecx, %%eax\n"
      "2: pause\n dec %%eax\n jnz 2b\n"
      "cmp $64, %%ecx\n jge 3f\n add %%ecx, %%ecx\n"
      "3: cmpl $0, %0\n je 1b"
      :
      : "m"(ready)
      : "eax", "ecx", "cc");
}

void count_in_a_register() {
  asm volatile("xor %%ecx, %%ecx\n1: inc %%rcx\n cmpl $0, %0\n je 1b" : : "m"(ready) : "rcx", "cc");
}

// No register and no flag tells one round from the next.
void count_in_memory() {
  asm volatile("1: addq $256, %1\n cmpl $0, %0\n je 1b" : : "m"(ready), "m"(memory) : "cc");
}

void add_in_floating_point() {
  double sum = 0.0, one = 1.0;
  asm volatile("1: addsd %2, %0\n cmpl $0, %1\n je 1b" : "+x"(sum) : "m"(ready), "x"(one) : "cc");
}

void give_way() {
  while (ready == 0) ::getppid();
}

bool everything(std::uintptr_t) { return true; }
bool is_called() { return true; }
bool is_not_called() { return false; }

// Whether these are instructions of the function, one after the other.
bool are_of(void (*loop)(), std::span<const LoopStep> steps) {
  auto begin = reinterpret_cast<std::uintptr_t>(loop);
  constexpr std::uintptr_t kMost = 128;
  return steps.size() >= 2 && std::all_of(steps.begin(), steps.end(), [&](const LoopStep& step) {
           return step.at - begin < kMost && step.registers != nullptr && step.stack != 0;
         });
}

// Whether the loop polls, if it is looked at again and again. In a process of its own, since the
// handlers of faults are installed.
[[noreturn]] void find_out(void (*loop)(), bool expected) {
  signal(SIGBUS, SIG_DFL);
  FaultTestSpace space(FaultSourceKind::kSigsegv, 8);
  std::atomic<pid_t> thread{0};
  std::thread looping([&] {
    ensure_signal_stack();
    sigset_t all;
    sigfillset(&all);
    program_sigmask(SIG_SETMASK, &all, nullptr);
    thread = gettid();
    loop();
    over = true;
  });
  while (thread == 0) usleep(1000);
  usleep(10'000);
  bool polls = false;
  for (int i = 0; i < 2 && !polls; ++i) {
    LoopReport report = probe_loop(thread, kLongNs, everything, is_not_called);
    polls = report.polls && are_of(loop, report.steps);
  }
  ready = 1;
  looping.join();
  _exit(polls == expected && over ? 42 : 43);
}

TEST(LoopProbeDeathTest, ALoopThatOnlyAnotherThreadCanEndPolls) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (auto* loop : {poll, poll_with_pause, poll_with_pauses})
    EXPECT_EXIT(find_out(loop, true), testing::ExitedWithCode(42), "");
}

TEST(LoopProbeDeathTest, ALoopThatComputesDoesNotPoll) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (auto* loop : {count_in_a_register, count_in_memory, add_in_floating_point, give_way})
    EXPECT_EXIT(find_out(loop, false), testing::ExitedWithCode(42), "");
}

// A look costs the thread no more than it may: a loop that would be looked at for 2,000 steps.
[[noreturn]] void look_shortly() {
  signal(SIGBUS, SIG_DFL);
  FaultTestSpace space(FaultSourceKind::kSigsegv, 8);
  std::atomic<pid_t> thread{0};
  std::thread looping([&] {
    ensure_signal_stack();
    thread = gettid();
    add_in_floating_point();
  });
  while (thread == 0) usleep(1000);
  usleep(10'000);
  auto steps_in = [&](std::uint64_t longest_ns) {
    return probe_loop(thread, longest_ns, everything, is_not_called).steps.size();
  };
  bool is_cut = steps_in(1) < 600 && steps_in(kLongNs) > 1500;
  ready = 1;
  looping.join();
  _exit(is_cut ? 42 : 43);
}

TEST(LoopProbeDeathTest, ALookEndsInItsTime) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(look_shortly(), testing::ExitedWithCode(42), "");
}

// As the trampolines of locked instructions do; the program never sees that it was looked at.
void keep_flags() {
  unsigned long seen = 0, all = 0;
  while (ready == 0) {
    asm volatile("lea -128(%%rsp), %%rsp\n pushfq\n pushfq\n pop %0\n popfq\n lea 128(%%rsp), %%rsp"
                 : "=r"(seen)
                 :
                 : "memory", "cc");
    all |= seen;
  }
  if ((all & 0x100) != 0) _exit(45);
}

void yield() {
  while (ready == 0) {
    for (int i = 0; i < 1'000'000; ++i) asm volatile("");
    ::sched_yield();
  }
}

bool is_of_yield(std::uintptr_t at) {
  auto begin = reinterpret_cast<std::uintptr_t>(&yield);
  return at - begin < 64;
}

// Hardly a moment outside of the C library. What it reads is no local variable: AddressSanitizer
// puts so much code for one in front of the loop that the loop is not where the test looks.
timespec clock_read;

void look_at_a_clock() {
  while (ready == 0) ::clock_gettime(CLOCK_MONOTONIC, &clock_read);
}

bool is_of_look_at_a_clock(std::uintptr_t at) {
  auto begin = reinterpret_cast<std::uintptr_t>(&look_at_a_clock);
  return at - begin < 64;
}

std::uintptr_t find_no_trap(std::uintptr_t) { return 0; }

// A loop that another thread's write may end, or something else: what it does is told.
[[noreturn]] void find_what_it_does(void (*loop)(), IsOwnCode is_own,
                                    IsCalled is_called = is_not_called, int looks = 100) {
  signal(SIGBUS, SIG_DFL);
  FaultTestSpace space(FaultSourceKind::kSigsegv, 8);
  std::atomic<pid_t> thread{0};
  std::thread looping([&] {
    ensure_signal_stack();
    thread = gettid();
    loop();
    over = true;
  });
  while (thread == 0) usleep(1000);
  LoopReport report;
  for (int i = 0; i < looks && !report.is_whole; ++i) {
    usleep(10'000);
    report = probe_loop(thread, kLongNs, is_own, is_called);
  }
  bool is_told = report.is_whole && !report.polls && report.thread == thread &&
                 std::any_of(report.steps.begin(), report.steps.end(),
                             [&](const LoopStep& step) { return is_own(step.at); });
  ready = 1;
  looping.join();
  _exit(is_told && over ? 42 : 43);
}

TEST(LoopProbeDeathTest, WhatALoopDoesIsToldAlsoWhereItMayEndByItself) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (auto* loop : {count_in_a_register, count_in_memory, keep_flags})
    EXPECT_EXIT(find_what_it_does(loop, everything), testing::ExitedWithCode(42), "");
  EXPECT_EXIT(find_what_it_does(yield, is_of_yield), testing::ExitedWithCode(42), "");
}

TEST(LoopProbeDeathTest, OneLookIsEnoughAlsoInALibrary) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(find_what_it_does(look_at_a_clock, is_of_look_at_a_clock, is_called, 1),
              testing::ExitedWithCode(42), "");
}

// A thread that sleeps begins by itself, and is looked at until it sleeps again.
[[noreturn]] void look_at_a_sleeper() {
  signal(SIGBUS, SIG_DFL);
  FaultTestSpace space(FaultSourceKind::kSigsegv, 8);
  if (!serve_traps(find_no_trap)) _exit(44);
  std::atomic<pid_t> thread{0};
  std::thread sleeping([&] {
    ensure_signal_stack();
    thread = gettid();
    while (ready == 0) {
      ::usleep(1000);
      begin_offered_probe();
    }
    over = true;
  });
  LoopReport report;
  for (int i = 0; i < 1000 && report.thread == 0; ++i) {
    offer_probe(kLongNs, everything);
    usleep(10'000);
    report = take_offered_probe();
  }
  bool is_told = report.thread == thread && report.is_whole && !report.polls &&
                 !report.steps.empty() && !begin_offered_probe();
  ready = 1;
  sleeping.join();
  _exit(is_told && over ? 42 : 43);
}

TEST(LoopProbeDeathTest, AThreadThatSleepsIsLookedAtUntilItSleepsAgain) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(look_at_a_sleeper(), testing::ExitedWithCode(42), "");
}

extern "C" std::uint8_t trap_of_test[], behind_trap_of_test[];

void trap(int) {
  asm volatile(
      ".globl trap_of_test, behind_trap_of_test\ntrap_of_test: int3\nbehind_trap_of_test:");
}

std::uintptr_t find_trap_of_test(std::uintptr_t at) {
  bool is_it = at == reinterpret_cast<std::uintptr_t>(trap_of_test);
  return is_it ? reinterpret_cast<std::uintptr_t>(behind_trap_of_test) : 0;
}

// The program's handlers have traps, too, and are interrupted by looks.
[[noreturn]] void trap_in_handlers() {
  signal(SIGBUS, SIG_DFL);
  FaultTestSpace space(FaultSourceKind::kSigsegv, 8);
  if (!serve_traps(find_trap_of_test)) _exit(44);
  struct sigaction action {};
  action.sa_handler = trap;
  libc_signals().sigaction(SIGUSR1, &action, nullptr);
  std::atomic<pid_t> thread{0};
  std::thread looping([&] {
    ensure_signal_stack();
    thread = gettid();
    count_in_memory();
    over = true;
  });
  while (thread == 0) usleep(1000);
  std::thread sending([&] {
    for (; ready == 0; usleep(300)) syscall(SYS_tgkill, getpid(), thread.load(), SIGUSR1);
  });
  int told = 0;
  for (int i = 0; i < 50; ++i)
    told += probe_loop(thread, kLongNs, everything, is_called).is_whole ? 1 : 0;
  ready = 1;
  sending.join();
  looping.join();
  _exit(told > 0 && over ? 42 : 43);
}

TEST(LoopProbeDeathTest, TrapsOfHandlersOfTheProgramAreServedMeanwhile) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(trap_in_handlers(), testing::ExitedWithCode(42), "");
}

bool goes_on(std::initializer_list<std::uint8_t> bytes) {
  std::uint8_t code[16] = {};
  std::copy(bytes.begin(), bytes.end(), code);
  return may_go_on(code);
}

TEST(LoopProbeTest, OnlyChangesOfMemoryAndCallsOfTheKernelEndTheLook) {
  EXPECT_TRUE(goes_on({0x8b, 0x05, 0, 0, 0, 0}));     // mov eax, [rip]
  EXPECT_TRUE(goes_on({0x89, 0x45, 0xfc}));           // mov [rbp-4], eax
  EXPECT_TRUE(goes_on({0x83, 0x3d, 0, 0, 0, 0, 0}));  // cmp [rip], 0
  EXPECT_TRUE(goes_on({0x48, 0x83, 0xc0, 0x01}));     // add rax, 1
  EXPECT_TRUE(goes_on({0xf3, 0x90}));                 // pause
  EXPECT_TRUE(goes_on({0x0f, 0xb6, 0x00}));           // movzx eax, [rax]
  EXPECT_FALSE(goes_on({0x83, 0x45, 0xfc, 0x01}));    // add [rbp-4], 1
  EXPECT_FALSE(goes_on({0x66, 0x01, 0x02}));          // add [rdx], ax
  EXPECT_FALSE(goes_on({0x48, 0xff, 0x00}));          // inc [rax]
  EXPECT_FALSE(goes_on({0xf0, 0x0f, 0xc1, 0x02}));    // lock xadd [rdx], eax
  EXPECT_FALSE(goes_on({0x0f, 0x05}));                // syscall
}

StepKind kind_of(std::initializer_list<std::uint8_t> bytes) {
  std::uint8_t code[16] = {};
  std::copy(bytes.begin(), bytes.end(), code);
  return step_kind(code);
}

TEST(LoopProbeTest, InstructionsThatMatterToStepsAreKnown) {
  EXPECT_EQ(kind_of({0x9c}), StepKind::kPushesFlags);
  EXPECT_EQ(kind_of({0x66, 0x9d}), StepKind::kPopsFlags);
  EXPECT_EQ(kind_of({0xcc}), StepKind::kTraps);
  EXPECT_EQ(kind_of({0x0f, 0x34}), StepKind::kTraps);
  EXPECT_EQ(kind_of({0x0f, 0x05}), StepKind::kCallsKernel);
  EXPECT_EQ(kind_of({0x83, 0x45, 0xfc, 0x01}), StepKind::kOther);  // add [rbp-4], 1
}

#endif

}  // namespace
}  // namespace terrane::platform
