// Nodes that die at random points: nobody hangs, and what was written is there or is said to be
// lost, by name. TERRANE_DEATHS_SEED: the one job with this seed, which a failure names.
#include "deaths.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <sstream>

#include "../launcher/launched.h"
#include "base/test_folder.h"

namespace terrane::cluster_test {
namespace {

using namespace chunks_test;

constexpr int kDeaths = 5;  // in a job

// The file by which a job's nodes outlive themselves.
class AccountFile {
 public:
  AccountFile() {
    int fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
      ADD_FAILURE() << path_ << ": " << std::strerror(errno);
      return;
    }
    void* memory = MAP_FAILED;
    if (::ftruncate(fd, sizeof(Account)) == 0)
      memory = ::mmap(nullptr, sizeof(Account), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) ADD_FAILURE() << path_ << ": " << std::strerror(errno);
    ::close(fd);
    if (memory == MAP_FAILED) return;
    all_ = static_cast<Account*>(memory);
    all_->deaths.store(kDeaths);
  }
  ~AccountFile() {
    if (all_ != nullptr) ::munmap(all_, sizeof(Account));
  }
  AccountFile(const AccountFile&) = delete;

  bool there() const { return all_ != nullptr; }
  const std::string& path() const { return path_; }
  Account* operator->() const { return all_; }

 private:
  base::TestFolder folder_;
  std::string path_ = folder_ / "account";
  Account* all_ = nullptr;
};

// The names that homes have said to be lost.
std::set<std::string> lost_in(const std::string& err) {
  std::set<std::string> names;
  for (std::size_t at = err.find("chunk '"); at != std::string::npos;
       at = err.find("chunk '", at + 1)) {
    std::size_t from = at + 7, to = err.find('\'', from);
    std::string_view rest = std::string_view(err).substr(to, err.find('\n', to) - to);
    if (rest.find("died with it") != rest.npos || rest.find("is lost") != rest.npos)
      names.insert(err.substr(from, to - from));
  }
  return names;
}

class DeathsTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { ASSERT_TRUE(account_.there()) << "no file for what the nodes do"; }
  void run(std::uint64_t seed) {
    int nodes = 6 + static_cast<int>(seed % 3);
    std::string options = fmt::format("-n {} --on-death survive --servers {}", nodes, 1 + seed % 4);
    Launched job(words(fmt::format("{} run {} {} {} {} {}", kTerrane, options, DEATHS_PROGRAM,
                                   account_.path(), seed, kDeaths)));
    Outcome outcome = job.finish();
    std::string again =
        fmt::format("{}, TERRANE_DEATHS_SEED={}, standard error:\n{}", options, seed, outcome.err);
    ASSERT_FALSE(outcome.timed_out) << "hangs: " << again;
    EXPECT_EQ(outcome.exit_code, 128 + SIGKILL) << again;
    EXPECT_GE(job.ms_until_all_gone(), 0) << again;
    look(nodes, outcome, again);
  }

 private:
  void look(int nodes, const Outcome& outcome, const std::string& again) {
    std::set<std::string> lost = lost_in(outcome.err);
    std::map<std::string, std::string> seen;
    std::istringstream lines(outcome.out);
    int good = 0;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line);
      std::string what, name;
      fields >> what >> name;
      good += what == "good";
      if (what != "chunk") continue;
      std::string words(std::istreambuf_iterator<char>(fields), {});
      auto [at, fresh] = seen.try_emplace(name, words);
      EXPECT_EQ(at->second, words) << name << " differs between nodes: " << again;
    }
    EXPECT_EQ(good, nodes - kDeaths) << again;
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(kChunks)) << again;
    for (int c = 0; c < kChunks; ++c) compare(nodes, c, seen[name_of(c)], lost, again);
    std::printf("%zu of %d chunks were said to be lost in part, %d were\n", lost.size(), kChunks,
                fallen_);
    EXPECT_GE(lost.size(), static_cast<std::size_t>(fallen_));
  }

  // A write that was done when its node died may not be noted yet. What a dead node pushed may have
  // been on its way.
  void compare(int nodes, int c, const std::string& words, const std::set<std::string>& lost,
               const std::string& again) {
    std::istringstream fields(words);
    bool fell = false;
    for (int n = 0; n < nodes; ++n) {
      std::uint64_t there = 0, done = account_->done[n][c].load();
      fields >> there;
      EXPECT_LE(there, done + 1) << name_of(c) << " of node " << n << ": " << again;
      bool excused = is_pushed(c) && account_->dead[n].load() != 0;
      if (there >= done || excused) continue;
      fell = true;
      EXPECT_TRUE(lost.count(name_of(c)) > 0)
          << name_of(c) << " has " << there << " of the " << done << " writes of node " << n
          << ", and nobody says so: " << again;
    }
    fallen_ += fell;
  }

  AccountFile account_;
  int fallen_ = 0;
};

TEST_P(DeathsTest, NobodyHangsAndNothingIsLostSilently) {
  const char* one = std::getenv("TERRANE_DEATHS_SEED");
  if (one != nullptr && GetParam() != 1) GTEST_SKIP() << "one seed is chosen";
  run(one != nullptr ? std::strtoull(one, nullptr, 10) : static_cast<std::uint64_t>(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(FiveOf, DeathsTest, testing::Range(1, 11));

}  // namespace
}  // namespace terrane::cluster_test
