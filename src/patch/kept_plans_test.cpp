#include "patch/kept_plans.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/test_folder.h"

namespace terrane::patch {
namespace {

// A file, and code of a few locked instructions that was loaded from it.
class KeptPlansTest : public testing::Test {
 protected:
  KeptPlansTest() {
    std::ofstream(path_).close();
    std::filesystem::resize_file(path_, KeptPlans::kSmallestFile);
    for (std::size_t i = 0; i < 3; ++i) {
      LockedInstruction one;
      one.address = 16 * i;
      one.length = 4;
      one.bytes = {0xf0, 0x48, 0xff, 0x00};  // lock incq (%rax)
      one.word_bytes = 8;
      one.base = kRax;
      plan_.sites.push_back({one, Way::kTrap, 0});
      std::copy_n(one.bytes.begin(), one.length, &code_[one.address]);
    }
    plan_.sites[1].way = Way::kHop;
    plan_.sites[1].hop = 40;
    wanted_.path = path_;
    wanted_.bias = reinterpret_cast<std::uint64_t>(&code_[0]);
    wanted_.code = {{wanted_.bias, wanted_.bias + code_.size()}};
  }

  // Whether the plan is as it must be, and whether it had to be made.
  void expect_plan(bool made, const std::string& folder) {
    int calls = 0;
    auto got = KeptPlans(folder).plan(wanted_, [&]() -> base::Result<Plan> {
      ++calls;
      return plan_;
    });
    ASSERT_TRUE(got.ok());
    EXPECT_EQ(calls, made ? 1 : 0);
    ASSERT_EQ(got.value().sites.size(), plan_.sites.size());
    for (std::size_t i = 0; i < plan_.sites.size(); ++i) {
      const Site &is = got.value().sites[i], &was = plan_.sites[i];
      EXPECT_EQ(is.instruction.address, was.instruction.address);
      EXPECT_EQ(is.instruction.bytes, was.instruction.bytes);
      EXPECT_EQ(is.way, was.way);
      EXPECT_EQ(is.hop, was.hop);
    }
  }
  void expect_plan(bool made) { expect_plan(made, plans_); }
  std::filesystem::path kept() const { return std::filesystem::directory_iterator(plans_)->path(); }

  base::TestFolder folder_;
  std::string path_ = folder_ / "library", plans_ = folder_ / "a/b/plans";
  std::array<std::uint8_t, 64> code_{};
  Plan plan_;
  KeptPlans::Wanted wanted_;
};

TEST_F(KeptPlansTest, APlanIsMadeOnce) {
  expect_plan(true);
  expect_plan(false);
  struct stat state {};
  ASSERT_EQ(::stat(kept().c_str(), &state), 0);
  EXPECT_EQ(state.st_mode & 07777, 0600u);
}

TEST_F(KeptPlansTest, AFileThatChangesGetsAnother) {
  expect_plan(true);
  std::filesystem::resize_file(path_, KeptPlans::kSmallestFile + 1);
  expect_plan(true);
  expect_plan(false);
  std::filesystem::last_write_time(path_, std::filesystem::file_time_type::clock::now());
  expect_plan(true);
}

TEST_F(KeptPlansTest, EachWayToReplaceHasItsOwn) {
  expect_plan(true);
  wanted_.without_jumps = true;
  expect_plan(true);
  wanted_.fences = Fences::kFind;
  expect_plan(true);
  expect_plan(false);
}

TEST_F(KeptPlansTest, WhatIsDamagedIsMadeAnew) {
  expect_plan(true);
  std::uint64_t size = std::filesystem::file_size(kept());
  for (std::uint64_t at = 0; at < size; at += 7) {
    std::fstream file(kept(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    char byte = static_cast<char>(file.get() ^ 1);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(byte);
    file.close();
    expect_plan(true);
    expect_plan(false);
  }
  for (std::uint64_t bytes : {size + 1, size - 1, size / 2, std::uint64_t{0}}) {
    std::filesystem::resize_file(kept(), bytes);
    expect_plan(true);
    expect_plan(false);
  }
}

TEST_F(KeptPlansTest, CodeThatIsAnotherGetsItsOwn) {
  expect_plan(true);
  code_[16] ^= 1;
  expect_plan(true);
  code_[16] ^= 1;
  wanted_.code[0].end -= 20;  // the hop is outside
  expect_plan(true);
}

TEST_F(KeptPlansTest, WhatOthersMayWriteIsNotUsed) {
  expect_plan(true);
  std::filesystem::permissions(kept(), std::filesystem::perms::all);
  expect_plan(true);
}

TEST_F(KeptPlansTest, WithoutAFolderNothingIsKept) {
  for (const std::string& folder : {std::string(), path_ + "/below_a_file"}) {
    expect_plan(true, folder);
    expect_plan(true, folder);
  }
  std::filesystem::resize_file(path_, KeptPlans::kSmallestFile - 1);
  expect_plan(true);
  expect_plan(true);
  EXPECT_FALSE(std::filesystem::exists(plans_));
}

TEST_F(KeptPlansTest, DoubtsAndErrorsAreNotKept) {
  for (int i = 0; i < 2; ++i) {
    auto failed = KeptPlans(plans_).plan(wanted_, [] { return base::error("no code"); });
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().message, "no code");
  }
  plan_.doubts.push_back(1);
  expect_plan(true);
  expect_plan(true);
}

TEST_F(KeptPlansTest, OneOfManyMakesIt) {
  std::atomic<int> calls{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&] {
      auto got = KeptPlans(plans_).plan(wanted_, [&]() -> base::Result<Plan> {
        ++calls;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return plan_;
      });
      EXPECT_TRUE(got.ok() && got.value().sites.size() == plan_.sites.size());
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(calls, 1);
}

TEST(FolderOfPlansTest, ItIsTheUsersChoice) {
  ::unsetenv("TERRANE_CACHE");
  ::setenv("HOME", "/somebody", 1);
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(folder_of_plans(), "/somebody/.cache/terrane");
  ::setenv("XDG_CACHE_HOME", "/caches", 1);
  EXPECT_EQ(folder_of_plans(), "/caches/terrane");
  ::setenv("TERRANE_CACHE", "/plans", 1);
  EXPECT_EQ(folder_of_plans(), "/plans");
  ::setenv("TERRANE_CACHE", "", 1);
  EXPECT_EQ(folder_of_plans(), "");
}

}  // namespace
}  // namespace terrane::patch
