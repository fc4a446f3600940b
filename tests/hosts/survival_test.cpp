// Chunk jobs on four hosts that survive deaths: nodes are stopped and continued or killed, and
// links cut, at random. No write that was acknowledged is lost without a report that names its
// chunk, and those that live agree about what there is.
//
// TERRANE_SURVIVAL_FAULTS: how many faults; TERRANE_SURVIVAL_SEED: the one job with this seed.
#include "../chunks/survival.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "base/prng.h"
#include "on_hosts.h"

namespace terrane::test_hosts {
namespace {

using namespace survival;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kHosts = 4;
constexpr int kDefaultFaults = 14, kFaultsAJob = 7;
constexpr std::uint32_t kHeartbeatMs = 400;
constexpr std::chrono::seconds kPatience{20};

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

void pause_ms(std::uint32_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

template <typename Condition>
bool wait_for(const Condition& condition) {
  for (auto end = Clock::now() + kPatience; Clock::now() < end; pause_ms(2))
    if (condition()) return true;
  return false;
}

// The file by which a job's nodes outlive themselves, where every host sees it.
class AccountFile {
 public:
  AccountFile() : path_(TEST_HOSTS_BUILD "/survival_XXXXXX") {
    int fd = ::mkstemp(path_.data());
    bool sized = fd >= 0 && ::ftruncate(fd, sizeof(Account)) == 0;
    void* memory = sized
                       ? ::mmap(nullptr, sizeof(Account), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                       : MAP_FAILED;
    if (fd >= 0) ::close(fd);
    if (memory != MAP_FAILED) all_ = static_cast<Account*>(memory);
  }
  ~AccountFile() {
    if (all_ != nullptr) ::munmap(all_, sizeof(Account));
    ::unlink(path_.c_str());
  }
  AccountFile(const AccountFile&) = delete;

  bool there() const { return all_ != nullptr; }
  const std::string& path() const { return path_; }
  Account* operator->() const { return all_; }

 private:
  std::string path_;
  Account* all_ = nullptr;
};

// The chunks that homes have said to be lost, in part.
std::set<std::string> lost_in(const std::string& err) {
  std::set<std::string> names;
  std::istringstream lines(err);
  for (std::string line; std::getline(lines, line);) {
    bool told = line.find("died with it") != line.npos || line.find("is lost") != line.npos;
    std::size_t from = line.find("chunk '");
    if (told && from != line.npos)
      names.insert(line.substr(from + 7, line.find('\'', from + 7) - from - 7));
  }
  return names;
}

enum class Kind { kStopShortly, kStop, kKill, kCutShortly, kCut };
constexpr std::array<const char*, 5> kNames = {"stopped shortly", "stopped", "killed",
                                               "cut off shortly", "cut off"};

class SurvivalTest : public OnHosts {
 protected:
  static std::uint32_t host_of(int node) { return static_cast<std::uint32_t>(node) / 2; }

  // 0: it does not run any more.
  pid_t process_of(int node) {
    std::string mark = fmt::format("{}TERRANE_NODE={}{}", '\0', node, '\0');
    for (const Process& process : hosts().processes(host_of(node))) {
      bool runs = process.state != 'Z' && !process.words.empty() &&
                  process.words[0].ends_with("survival_program");
      if (!runs) continue;
      std::ifstream file(fmt::format("/proc/{}/environ", process.pid));
      std::string all = '\0' + std::string(std::istreambuf_iterator<char>(file), {});
      if (all.find(mark) != all.npos) return process.pid;
    }
    return 0;
  }
  std::vector<int> living() {
    std::vector<int> all;
    for (int n = 0; n < kNodes; ++n)
      if (process_of(n) != 0) all.push_back(n);
    return all;
  }

  // The kinds take turns. h0, whose launcher prints what is reported, stays in reach.
  bool inject(base::Prng& chance, const std::vector<int>& nodes) {
    auto kind = static_cast<Kind>(tries_++ % kNames.size());
    int node = nodes[chance.below(static_cast<std::uint32_t>(nodes.size()))];
    bool cuts = kind == Kind::kCut || kind == Kind::kCutShortly;
    bool lasts = kind != Kind::kStopShortly && kind != Kind::kCutShortly;
    std::uint32_t ms = lasts ? 2 * kHeartbeatMs + chance.below(kHeartbeatMs) : chance.below(150);
    if (cuts && host_of(node) == 0) node = nodes.back();
    if (cuts && host_of(node) == 0) return false;
    ++injected_[kNames[static_cast<std::size_t>(kind)]];
    if (cuts) {
      auto how = chance.chance(50) ? LinkState::kSilent : LinkState::kNoCarrier;
      EXPECT_TRUE(hosts().set_link(host_of(node), 0, how).ok());
      pause_ms(ms);
      EXPECT_TRUE(hosts().set_link(host_of(node), 0, LinkState::kUp).ok());
      return true;
    }
    pid_t process = process_of(node);
    if (process == 0) return false;
    ::kill(process, kind == Kind::kKill ? SIGKILL : SIGSTOP);
    if (kind == Kind::kKill) return true;
    pause_ms(ms);
    if (process_of(node) == process) ::kill(process, SIGCONT);
    return true;
  }

  // One job; how many faults it met.
  int run(std::uint64_t seed, int most) {
    AccountFile account;
    if (!account.there() || !make_hosts({.hosts = kHosts})) return 0;
    Launched job = start(fmt::format("-H h0:2,h1:2,h2:2,h3:2 --on-death survive --heartbeat {}",
                                     kHeartbeatMs / 1000.0),
                         fmt::format("{} {} {}", SURVIVAL_PROGRAM, account.path(), seed));
    bool ready = wait_for([&] {
      return std::all_of(std::begin(account->ready), std::end(account->ready),
                         [](const auto& one) { return one.load() != 0; });
    });
    base::Prng chance(seed);
    int faults = 0;
    for (int tries = 0; ready && faults < most && tries < 10 * most; ++tries) {
      pause_ms(20 + chance.below(120));
      std::vector<int> nodes = living();
      if (nodes.size() < 3) break;
      faults += inject(chance, nodes);
    }
    account->stop.store(1);
    EXPECT_TRUE(wait_for([&] {
      std::vector<int> nodes = living();
      return std::all_of(nodes.begin(), nodes.end(),
                         [&](int n) { return account->stopped[n].load() != 0; });
    })) << "a node goes on or waits for ever";
    account->print.store(1);
    Outcome outcome = job.finish();
    std::string again =
        fmt::format("TERRANE_SURVIVAL_SEED={}, standard error:\n{}", seed, outcome.err);
    EXPECT_TRUE(ready) << again;
    EXPECT_FALSE(outcome.timed_out) << "hangs: " << again;
    look(account, outcome, again);
    return faults;
  }

  // Checks the lines of the nodes that live: all are equal, and contain the writes that were
  // reported to each node as done.
  void look(const AccountFile& account, const Outcome& outcome, const std::string& again) {
    std::set<std::string> lost = lost_in(outcome.err);
    std::map<std::string, std::string> seen;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line);
      std::string what, name;
      fields >> what >> name;
      if (what != "chunk") continue;
      std::string words(std::istreambuf_iterator<char>(fields), {});
      auto [at, fresh] = seen.try_emplace(name, words);
      EXPECT_EQ(at->second, words) << name << " differs between nodes: " << again;
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(kChunks)) << again;
    EXPECT_GT(cluster_test::count(outcome.out, "good"), 0) << again;
    survivors_ += cluster_test::count(outcome.out, "good");
    for (int c = 0; c < kChunks; ++c) compare(account, c, seen[name_of(c)], lost, again);
  }

  // A write that was done when its node died may not be noted yet. What a dead node pushed may have
  // been on its way.
  void compare(const AccountFile& account, int c, const std::string& words,
               const std::set<std::string>& lost, const std::string& again) {
    std::istringstream fields(words);
    for (int n = 0; n < kNodes; ++n) {
      std::uint64_t there = 0, done = account->done[n][c].load();
      fields >> there;
      writes_ += done;
      EXPECT_LE(there, done + 1) << name_of(c) << " of node " << n << ": " << again;
      bool died = account->stopped[n].load() == 0;
      if (there >= done || (is_pushed(c) && died)) continue;
      lost_writes_ += done - there;
      EXPECT_TRUE(lost.count(name_of(c)) > 0)
          << name_of(c) << " has " << there << " of the " << done << " writes of node " << n
          << ", and nobody says so: " << again;
    }
  }

  std::map<std::string, int> injected_;
  std::uint64_t writes_ = 0, lost_writes_ = 0;
  int survivors_ = 0;
  std::size_t tries_ = 0;
};

TEST_F(SurvivalTest, NoAcknowledgedWriteIsLostWithoutAReport) {
  std::uint64_t one = number_from("TERRANE_SURVIVAL_SEED", 0);
  int left = static_cast<int>(number_from("TERRANE_SURVIVAL_FAULTS", kDefaultFaults)), jobs = 0;
  if (one != 0) run(one, kFaultsAJob);
  for (std::uint64_t seed = 1; one == 0 && left > 0; ++seed, ++jobs) {
    int faults = run(seed, std::min(left, kFaultsAJob));
    if (IsSkipped() || (faults == 0 && HasFailure())) return;
    left -= faults;
  }
  for (const auto& [kind, times] : injected_) std::printf("%3d %s\n", times, kind.c_str());
  std::printf(
      "%d jobs of %d nodes, %d nodes lived; of %llu acknowledged writes %llu were lost, all of "
      "chunks that were reported\n",
      jobs, kNodes, survivors_, static_cast<unsigned long long>(writes_),
      static_cast<unsigned long long>(lost_writes_));
}

}  // namespace
}  // namespace terrane::test_hosts
