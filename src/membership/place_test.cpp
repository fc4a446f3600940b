#include "membership/place.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <deque>

#include "base/unique_fd.h"

namespace terrane::membership {
namespace {

using bootstrap::Bootstrap;
using bootstrap::Contribution;
using bootstrap::Departure;
using bootstrap::News;

// What the launcher has seen of the process, and what it has to tell.
struct Launcher {
  int connections = 0, alive = 0, exchanges = 0;
  std::vector<Departure> departures;
  std::deque<News> news;
  std::vector<std::uint32_t> answers;
  base::UniqueFd readable{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};

  void tell(std::uint32_t node) {
    news.push_back({News::Kind::kDied, NodeId{node}, "it died", {}});
    ::eventfd_write(readable.get(), 1);
  }
};

class Connection final : public Bootstrap {
 public:
  explicit Connection(Launcher& launcher) : launcher_(launcher) { ++launcher.alive; }
  ~Connection() override { --launcher_.alive; }
  NodeId self() const override { return NodeId{1}; }
  std::uint32_t nodes() const override { return 2; }
  std::span<const std::uint32_t> hosts() const override { return kHosts; }
  std::string_view host_name(NodeId) const override { return "here"; }
  std::uint32_t nodes_on_host() const override { return 2; }
  base::Result<std::vector<Contribution>> exchange(std::span<const std::byte>,
                                                   std::span<const int>) override {
    ++launcher_.exchanges;
    return std::vector<Contribution>(2);
  }
  void leaving(Departure departure) override { launcher_.departures.push_back(departure); }
  void answer(std::span<const std::byte>, std::uint32_t of) override {
    launcher_.answers.push_back(of);
  }
  void ending(int) override {}
  void fail(std::string_view, int code) override { ::_exit(code); }
  int news_fd() const override { return launcher_.readable.get(); }
  std::optional<News> take_news() override {
    if (launcher_.news.empty()) return std::nullopt;
    News first = launcher_.news.front();
    launcher_.news.pop_front();
    eventfd_t count = 0;
    if (launcher_.news.empty()) ::eventfd_read(launcher_.readable.get(), &count);
    return first;
  }

 private:
  static constexpr std::uint32_t kHosts[] = {0, 0};
  Launcher& launcher_;
};

class PlaceTest : public testing::Test {
 protected:
  std::unique_ptr<Bootstrap> join() {
    auto part = place_.join();
    EXPECT_TRUE(part) << part.error().message;
    return part ? std::move(part).value() : nullptr;
  }
  static bool is_readable(const Bootstrap& part) {
    pollfd ready{part.news_fd(), POLLIN, 0};
    return ::poll(&ready, 1, 0) > 0;
  }

  Launcher launcher_;
  Place place_{[this]() -> base::Result<std::unique_ptr<Bootstrap>> {
    ++launcher_.connections;
    return std::unique_ptr<Bootstrap>(std::make_unique<Connection>(launcher_));
  }};
};

TEST_F(PlaceTest, AllPartsAreOneNode) {
  auto pages = join(), chunks = join(), shmem = join();
  EXPECT_EQ(launcher_.connections, 1);
  for (const auto& part : {std::ref(pages), std::ref(chunks), std::ref(shmem)}) {
    EXPECT_EQ(part.get()->self().value, 1u);
    EXPECT_EQ(part.get()->nodes(), 2u);
  }
}

TEST_F(PlaceTest, TheNodeLeavesWithItsLastPart) {
  auto pages = join(), chunks = join();
  EXPECT_TRUE(chunks->is_shared());
  pages->leaving(Departure::kWithAll);
  pages.reset();
  EXPECT_EQ(launcher_.departures.size(), 0u);
  EXPECT_FALSE(chunks->is_shared());
  chunks->leaving(Departure::kAlone);
  EXPECT_EQ(launcher_.departures, std::vector{Departure::kAlone});
}

TEST_F(PlaceTest, APartThatComesLaterBringsTheNodeBack) {
  auto pages = join();
  pages->leaving(Departure::kWithAll);
  pages.reset();
  auto shmem = join();
  EXPECT_EQ(launcher_.connections, 1);
  shmem->leaving(Departure::kWithAll);
  ASSERT_TRUE(shmem->exchange({}, {}));
  auto chunks = join();
  chunks->leaving(Departure::kWithAll);
  EXPECT_EQ(launcher_.departures.size(), 2u);  // the other one is inside again
  shmem->leaving(Departure::kWithAll);
  EXPECT_EQ(launcher_.departures.size(), 3u);
}

TEST_F(PlaceTest, EveryPartHearsAllNewsInTheirOrder) {
  auto pages = join(), chunks = join();
  EXPECT_FALSE(is_readable(*pages));
  launcher_.tell(0);
  launcher_.tell(1);
  EXPECT_TRUE(is_readable(*pages));
  EXPECT_TRUE(is_readable(*chunks));
  EXPECT_EQ(pages->take_news()->node.value, 0u);
  EXPECT_EQ(chunks->take_news()->node.value, 0u);
  EXPECT_EQ(chunks->take_news()->node.value, 1u);
  EXPECT_FALSE(is_readable(*chunks));
  EXPECT_TRUE(is_readable(*pages));
  EXPECT_EQ(pages->take_news()->node.value, 1u);
  EXPECT_FALSE(is_readable(*pages));
  EXPECT_FALSE(pages->take_news());
}

TEST_F(PlaceTest, EveryPartThatIsInsideAnswersTheLauncher) {
  auto pages = join(), chunks = join(), shmem = join();
  shmem->leaving(Departure::kWithAll);
  for (int i = 0; i < 3; ++i) launcher_.news.push_back({News::Kind::kAsked, {}, {}, {}});
  for (Bootstrap* part : {pages.get(), chunks.get()}) {
    auto news = part->take_news();
    ASSERT_TRUE(news && news->kind == News::Kind::kAsked);
    EXPECT_FALSE(part->take_news());  // one question at a time
    part->answer({}, part->interfaces());
  }
  EXPECT_EQ(launcher_.answers, (std::vector<std::uint32_t>{2, 2}));
}

TEST_F(PlaceTest, AProcessWhoseInitialisationFailedLosesItsPlace) {
  auto pages = join();
  pages.reset();
  EXPECT_EQ(launcher_.alive, 0);
  auto again = place_.join();
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("lost its place"), std::string::npos);
}

TEST_F(PlaceTest, WhereOnePartFailsTheOthersStay) {
  auto pages = join();
  join().reset();
  EXPECT_EQ(launcher_.alive, 1);
  pages->leaving(Departure::kWithAll);
  EXPECT_EQ(launcher_.departures.size(), 1u);
}

TEST_F(PlaceTest, AChildOfTheProcessHasNoPlace) {
  auto pages = join();
  pid_t child = ::fork();
  if (child == 0) {
    auto part = place_.join();
    pages.reset();
    ::_exit(!part && part.error().message.find("is a child") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(launcher_.alive, 1);
}

}  // namespace
}  // namespace terrane::membership
