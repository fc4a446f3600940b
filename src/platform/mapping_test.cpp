#include "platform/mapping.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <string>

#include "platform/memory_left.h"
#include "platform/page_size.h"

namespace terrane::platform {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

std::uint64_t resident_bytes(int fd) {
  struct stat status {};
  fstat(fd, &status);
  return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

TEST(DualMappingTest, BothViewsShowTheSameMemory) {
  auto mapping = DualMapping::create(4 * page_bytes(), nullptr, "test");
  ASSERT_TRUE(mapping.ok());
  mapping.value().runtime()[page_bytes()] = std::byte{7};
  EXPECT_EQ(mapping.value().app()[page_bytes()], std::byte{7});
}

TEST(DualMappingTest, OnlyTouchedPagesTakeMemory) {
  auto mapping = DualMapping::create(4 * kGiB, nullptr, "test");
  ASSERT_TRUE(mapping.ok());
  EXPECT_EQ(resident_bytes(mapping.value().fd()), 0u);
  ASSERT_TRUE(mapping.value().populate({kGiB, 3 * page_bytes()}));
  EXPECT_EQ(resident_bytes(mapping.value().fd()), 3 * page_bytes());
  mapping.value().punch({kGiB, 2 * page_bytes()});
  EXPECT_EQ(resident_bytes(mapping.value().fd()), page_bytes());
}

TEST(DualMappingTest, PopulateKeepsWhatIsThere) {
  auto mapping = DualMapping::create(4 * page_bytes(), nullptr, "test");
  mapping.value().runtime()[page_bytes()] = std::byte{7};
  ASSERT_TRUE(mapping.value().populate({0, 4 * page_bytes()}));
  EXPECT_EQ(mapping.value().runtime()[page_bytes()], std::byte{7});
  EXPECT_EQ(mapping.value().runtime()[0], std::byte{0});
}

TEST(DualMappingTest, PopulatePastTheEndFails) {
  auto mapping = DualMapping::create(4 * page_bytes(), nullptr, "test");
  EXPECT_FALSE(mapping.value().populate({page_bytes(), 4 * page_bytes()}));
  EXPECT_EQ(errno, EINVAL);
}

TEST(DualMappingTest, PopulateFailsCleanlyWhereMemoryIsShort) {
  EXPECT_TRUE(memory_left(page_bytes()));
  EXPECT_FALSE(memory_left(std::uint64_t{1} << 60));
}

TEST(DualMappingTest, TheApplicationViewNeverReplacesAnother) {
  void* address = reinterpret_cast<void*>(default_space_layout().base);
  auto first = DualMapping::create(4 * page_bytes(), address, "test");
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first.value().app(), address);
  auto second = DualMapping::create(4 * page_bytes(), address, "test");
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find("something else is mapped there"), std::string::npos);
}

TEST(DualMappingTest, AnAddressIsFreeAgainWhenTheMappingIsGone) {
  void* address = reinterpret_cast<void*>(default_space_layout().base);
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(DualMapping::create(4 * page_bytes(), address, "test").ok());
  }
}

TEST(DualMappingTest, AChildHasNeitherView) {
  auto mapping = DualMapping::create(page_bytes(), nullptr, "test");
  auto absent = [](std::byte* view) {
    unsigned char resident = 0;
    return mincore(view, page_bytes(), &resident) != 0 && errno == ENOMEM;
  };
  pid_t child = fork();
  if (child == 0) _exit(absent(mapping.value().app()) && absent(mapping.value().runtime()) ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(DualMappingTest, AMoveLeavesNothingBehind) {
  auto created = DualMapping::create(page_bytes(), nullptr, "test");
  std::byte* app = created.value().app();
  DualMapping moved = std::move(created).value();
  EXPECT_EQ(moved.app(), app);
  DualMapping target;
  target = std::move(moved);
  EXPECT_EQ(target.app(), app);
  EXPECT_EQ(moved.app(), nullptr);
}

TEST(MemfdTest, ItsSizeCannotBeChangedByPeers) {
  auto fd = create_memfd(4 * page_bytes(), "test");
  ASSERT_TRUE(fd.ok());
  EXPECT_NE(ftruncate(fd.value(), 0), 0);
  EXPECT_NE(ftruncate(fd.value(), static_cast<off_t>(8 * page_bytes())), 0);
  close(fd.value());
}

TEST(MemfdTest, AFileSizeLimitIsAnErrorNotASignal) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 4096;
  setrlimit(RLIMIT_FSIZE, &small);
  auto fd = create_memfd(1 << 20, "test");
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_FALSE(fd.ok());
}

TEST(DualMappingTest, ItIsWrittenUnderALimitOfTheSizeOfFiles) {
  auto mapping = DualMapping::create(4 * page_bytes(), nullptr, "test");
  ASSERT_TRUE(mapping.ok());
  ASSERT_TRUE(mapping.value().reserve({0, 4 * page_bytes()}));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 10;
  expect_file_size_limit();
  setrlimit(RLIMIT_FSIZE, &small);
  std::vector<std::byte> page(page_bytes(), std::byte{7});
  mapping.value().write(2 * page_bytes(), page.data(), page.size());
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(mapping.value().runtime()[3 * page_bytes() - 1], std::byte{7});
}

TEST(SharedMappingTest, ADescriptorsMemoryIsSeenByEveryMapping) {
  auto mapping = DualMapping::create(4 * page_bytes(), nullptr, "test");
  auto shared = SharedMapping::map(mapping.value().fd(), mapping.value().bytes());
  ASSERT_TRUE(shared.ok());
  shared.value().data()[5] = std::byte{9};
  EXPECT_EQ(mapping.value().runtime()[5], std::byte{9});
}

// Of a file of 4 large pages, the memory from the middle of the first page to the end of the third.
TEST(SharedMappingTest, LargePagesAreBackedAsSmallOnesAre) {
  for (bool large : {true, false}) {
    int fd = create_memfd(4 * kLargePage, "test").value();
    auto one = SharedMapping::map(fd, 4 * kLargePage, kLargePage);
    auto two = SharedMapping::map(fd, 4 * kLargePage, kLargePage);
    ASSERT_TRUE(one.ok() && two.ok());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one.value().data()) % kLargePage, 0u);
    const std::uint64_t from = kLargePage / 2, bytes = 5 * kLargePage / 2;
    two.value().data()[from + bytes - 1] = std::byte{7};
    ASSERT_TRUE(populate_large(one.value().data() + from, bytes, large));
    struct stat file {};
    ASSERT_EQ(fstat(fd, &file), 0);
    EXPECT_EQ(static_cast<std::uint64_t>(file.st_blocks) * 512, bytes) << "and nothing beside it";
    EXPECT_EQ(one.value().data()[from + bytes - 1], std::byte{7}) << "what was there stays";
    one.value().data()[kLargePage + 5] = std::byte{8};
    EXPECT_EQ(two.value().data()[kLargePage + 5], std::byte{8});
    EXPECT_EQ(two.value().data()[from], std::byte{0});
    punch_hole(fd, {from, bytes});
    ASSERT_EQ(fstat(fd, &file), 0);
    EXPECT_EQ(file.st_blocks, 0) << "all of it goes back to the machine";
    close(fd);
  }
}

TEST(SharedMappingTest, AFileThatCouldBecomeTooShortIsRefused) {
  int fd = create_memfd(4096, "test").value();
  EXPECT_FALSE(SharedMapping::map(fd, 8192).ok()) << "it is too short";
  EXPECT_FALSE(SharedMapping::map(fd, 0).ok());
  close(fd);
  int open_ended = memfd_create("test", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(open_ended, 8192), 0);
  EXPECT_FALSE(SharedMapping::map(open_ended, 8192).ok()) << "its owner may shorten it";
  close(open_ended);
  EXPECT_FALSE(SharedMapping::map(-1, 4096).ok());
}

TEST(SpaceLayoutTest, TheDefaultSpaceCanBeMapped) {
  SpaceLayout layout = default_space_layout();
  auto mapping = DualMapping::create(layout.bytes, reinterpret_cast<void*>(layout.base), "test");
  ASSERT_TRUE(mapping.ok()) << mapping.error().message;
  mapping.value().app()[layout.bytes - 1] = std::byte{1};
  EXPECT_EQ(mapping.value().runtime()[layout.bytes - 1], std::byte{1});
}

}  // namespace
}  // namespace terrane::platform
