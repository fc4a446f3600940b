#include "platform/process_limits.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/test_folder.h"

namespace terrane::platform {
namespace {

// In a child, whose limits are its own.
void expect_in_child(const std::function<bool()>& claim) {
  pid_t child = ::fork();
  if (child == 0) ::_exit(claim() ? 0 : 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(ProcessLimitsTest, WithoutALimitAllAddressesAreLeft) {
  expect_in_child([] {
    rlimit none{RLIM_INFINITY, RLIM_INFINITY};
    ::setrlimit(RLIMIT_AS, &none);
    ::setrlimit(RLIMIT_DATA, &none);
    return addresses_left().all == ~0ull && addresses_left().own_writable == ~0ull;
  });
}

#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)  // their shadow passes any limit
TEST(ProcessLimitsTest, WhatIsMappedCountsAgainstTheLimit) {
  expect_in_child([] {
    rlimit limit{std::uint64_t{8} << 30, RLIM_INFINITY};
    ::setrlimit(RLIMIT_AS, &limit);
    std::uint64_t left = addresses_left().all;
    return left > 0 && left < limit.rlim_cur;
  });
}

TEST(ProcessLimitsTest, AThreadWithoutAddressesIsTheLimitOfThese) {
  expect_in_child([] {
    rlimit limit{1 << 20, RLIM_INFINITY};
    ::setrlimit(RLIMIT_AS, &limit);
    return why_no_thread(EAGAIN).find("'ulimit -v'") != std::string::npos;
  });
}
#endif

TEST(ProcessLimitsTest, AFullControlGroupIsNamed) {
  base::TestFolder folder;
  const std::string& top = folder.path();
  std::filesystem::create_directories(top + "/a/b");
  std::ofstream(top + "/a/pids.max") << "5\n";
  std::ofstream(top + "/a/pids.current") << "4\n";
  std::ofstream(top + "/a/b/pids.max") << "max\n";
  std::ofstream(top + "/a/b/pids.current") << "4\n";
  EXPECT_EQ(full_group_of_threads(top, "/a/b"), "");
  std::ofstream(top + "/a/pids.current") << "5\n";
  std::string full = full_group_of_threads(top, "/a/b");
  EXPECT_NE(full.find("group /a has all 5 "), std::string::npos) << full;
  EXPECT_NE(full.find("pids.max"), std::string::npos) << full;
  EXPECT_EQ(full_group_of_threads(top, "/"), "");
}

}  // namespace
}  // namespace terrane::platform
