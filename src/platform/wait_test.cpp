#include "platform/wait.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace terrane::platform {
namespace {

TEST(WaitTest, AFutexWaitEndsAtItsTimeLimit) {
  std::atomic<std::uint32_t> word{3};
  std::uint64_t before = now_ns();
  futex_wait(word, 3, 2'000'000);
  EXPECT_GE(now_ns() - before, 1'000'000u);
}

TEST(WaitTest, AFutexWaitReturnsAtOnceWhenTheWordDiffers) {
  std::atomic<std::uint32_t> word{3};
  futex_wait(word, 4, 0);
}

TEST(WaitTest, ASleeperInAnotherProcessIsWoken) {
  void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* word = new (memory) std::atomic<std::uint32_t>(0);
  pid_t child = fork();
  if (child == 0) {
    while (word->load() == 0) futex_wait(*word, 0, 0);
    _exit(0);
  }
  word->store(1);
  futex_wake_all(*word);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  munmap(memory, 4096);
}

TEST(WaitTest, TimeDoesNotRunBackwards) {
  std::uint64_t before = now_ns();
  EXPECT_GE(now_ns(), before);
}

TEST(WaitTest, TheProcessorsAreThoseThatTheThreadMayUse) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  ProcessorSet found = usable_processors();
  for (std::size_t cpu = 0; cpu < found.size() * 64; ++cpu)
    EXPECT_EQ((found[cpu / 64] >> (cpu % 64) & 1) != 0, CPU_ISSET(cpu, &all) != 0) << cpu;
}

}  // namespace
}  // namespace terrane::platform
