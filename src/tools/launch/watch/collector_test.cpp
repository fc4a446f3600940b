#include "tools/launch/watch/collector.h"

#include <gtest/gtest.h>

#include "bootstrap/node_snapshot.h"

namespace terrane::tools {
namespace {

class CollectorTest : public testing::Test {
 protected:
  void SetUp() override {
    loop_ = Loop::create().value();
    collector_ = std::make_unique<Collector>(
        *loop_, 3,
        Collector::Surroundings{.ask_hosts = [this] { ++questions_; },
                                .runs = [this](NodeId node) { return runs_[node.value]; },
                                .facts = [] { return JobView{.job = "lab"}; },
                                .host_of = [](NodeId) { return "here"; }});
  }
  void ask() {
    collector_->ask([this](const JobView& view) {
      view_ = view;
      ++views_;
    });
  }
  void use(std::uint32_t node, bool answers) {
    collector_->take(event::NodeUse{NodeId{node}, answers, 1, 2, 3});
  }
  void answer(std::uint32_t node, std::uint32_t of, std::uint64_t faults) {
    bootstrap::NodeSnapshot snapshot;
    snapshot.read_faults = faults;
    collector_->take(event::NodeAnswer{NodeId{node}, of, bootstrap::encode_snapshot(snapshot)});
  }
  std::uint64_t faults(std::size_t at) {
    return bootstrap::decode_snapshot(view_.nodes.at(at).snapshot)->read_faults;
  }
  void turn_until_view() {
    for (int turns = 0; turns < 100 && views_ == 0; ++turns) loop_->turn();
  }

  std::unique_ptr<Loop> loop_;
  std::unique_ptr<Collector> collector_;
  bool runs_[3] = {true, true, false};
  int questions_ = 0, views_ = 0;
  JobView view_;
};

TEST_F(CollectorTest, AViewIsThereWhenAllThatRunHaveAnswered) {
  ask();
  use(0, true);
  use(1, true);
  answer(0, 1, 10);
  answer(1, 1, 20);
  std::uint64_t from = now_ms();
  turn_until_view();
  EXPECT_LT(now_ms() - from, Collector::kPatienceMs);
  EXPECT_EQ(views_, 1);
  ASSERT_EQ(view_.nodes.size(), 2u);
  EXPECT_EQ(view_.job, "lab");
  EXPECT_EQ(faults(1), 20u);
  EXPECT_EQ(view_.nodes[0].resident_bytes, 3u);
}

TEST_F(CollectorTest, InterfacesOfOneProcessAreOneNode) {
  runs_[1] = false;
  ask();
  use(0, true);
  answer(0, 2, 10);
  answer(0, 2, 5);
  turn_until_view();
  EXPECT_EQ(views_, 1);
  EXPECT_EQ(faults(0), 15u);
}

TEST_F(CollectorTest, ASilentNodeIsInTheViewWithoutCounters) {
  ask();
  use(0, false);
  use(1, true);
  collector_->take(event::NodeAnswer{NodeId{1}, 1, {std::byte{9}}});  // no snapshot
  std::uint64_t from = now_ms();
  turn_until_view();
  EXPECT_GE(now_ms() - from + 50, Collector::kPatienceMs);
  ASSERT_EQ(view_.nodes.size(), 2u);
  EXPECT_TRUE(view_.nodes[0].snapshot.empty());
  EXPECT_TRUE(view_.nodes[1].snapshot.empty());
  EXPECT_EQ(view_.nodes[1].processor_ns, 2u);
}

TEST_F(CollectorTest, SeveralWhoAskAtOnceCostOneQuestion) {
  runs_[1] = false;
  ask();
  ask();
  use(0, false);
  turn_until_view();
  ask();  // it is fresh
  EXPECT_EQ(views_, 3);
  EXPECT_EQ(questions_, 1);
}

TEST_F(CollectorTest, AJobWithoutNodesHasAView) {
  runs_[0] = runs_[1] = false;
  ask();
  turn_until_view();
  EXPECT_EQ(views_, 1);
  EXPECT_TRUE(view_.nodes.empty());
}

}  // namespace
}  // namespace terrane::tools
