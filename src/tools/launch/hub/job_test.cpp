#include "tools/launch/hub/job.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace terrane::tools {
namespace {

// Three nodes on two hosts, made of events alone.
class JobTest : public testing::Test, public JobOutlet {
 protected:
  void SetUp() override { make(false); }

  void make(bool survive, std::uint32_t guests = 0) {
    plan_ = {};
    plan_.program.map = {{"alpha", "beta"}, {0, 1, 1}};
    bootstrap::add_guests(plan_.program.map, guests);
    plan_.survive = survive;
    job_.reset();
    loop_ = std::move(Loop::create()).value();
    job_ = std::make_unique<Job>(plan_, *loop_, *this);
    for (std::uint32_t node : {0u, 1u, 2u}) {
      job_->on_event(host_of(node), event::NodeStarted{NodeId{node}, 100});
    }
  }
  std::uint32_t host_of(std::uint32_t node) { return plan_.program.map.host_of[node]; }
  void tell(std::uint32_t host, const HostCommand& command) override {
    told_.emplace_back(host, command);
  }
  void say(const std::string& line) override { said_.push_back(line); }

  template <typename Command>
  std::vector<std::uint32_t> told() {
    std::vector<std::uint32_t> hosts;
    for (const auto& [host, command] : told_) {
      if (std::holds_alternative<Command>(command)) hosts.push_back(host);
    }
    return hosts;
  }
  void die(std::uint32_t node, Death::Cause cause, int number) {
    Death death{.node = NodeId{node}, .pid = 100, .cause = cause, .number = number};
    if (cause == Death::Cause::kSentence) death.sentence = "lost a peer";
    EXPECT_TRUE(job_->on_event(host_of(node), event::NodeDied{death}));
  }
  void turn_until_ending() {
    for (int i = 0; i < 100 && !job_->is_ending(); ++i) loop_->turn();
  }

  JobPlan plan_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<Job> job_;
  std::vector<std::pair<std::uint32_t, HostCommand>> told_;
  std::vector<std::string> said_;
};

using Hosts = std::vector<std::uint32_t>;

TEST_F(JobTest, TheCauseOnOneHostIsNamedAlthoughItsEffectOnAnotherIsHeardFirst) {
  die(0, Death::Cause::kSentence, 3);
  die(2, Death::Cause::kSignal, SIGKILL);
  turn_until_ending();
  EXPECT_EQ(job_->exit_code(), 128 + SIGKILL);
  ASSERT_EQ(said_.size(), 1u);
  EXPECT_EQ(said_[0].find("node 2 (process 100 on beta) was killed by SIGKILL"), 0u);
  EXPECT_EQ(told<command::End>(), (Hosts{0, 1}));
}

TEST_F(JobTest, ASignalThatWasPassedOnIsNamedWhateverTheProgramMakesOfIt) {
  for (std::uint32_t node : {0u, 1u, 2u})
    job_->on_event(host_of(node), event::NodeStarted{NodeId{node}, 100});
  job_->on_signal(SIGINT);
  die(1, Death::Cause::kExitCode, 128 + SIGINT);
  turn_until_ending();
  EXPECT_EQ(job_->exit_code(), 128 + SIGINT);
  ASSERT_EQ(said_.size(), 1u);
  EXPECT_NE(said_[0].find("was ended by SIGINT, which terrane run was sent"), std::string::npos)
      << said_[0];
}

TEST_F(JobTest, TheJobEndsOnceAndWhatComesLaterIsNotSaid) {
  die(0, Death::Cause::kExitCode, 3);
  turn_until_ending();
  die(1, Death::Cause::kSignal, SIGKILL);
  job_->fail(9, "something else");
  EXPECT_EQ(job_->exit_code(), 3);
  EXPECT_EQ(said_.size(), 1u);
  EXPECT_EQ(told<command::End>().size(), 2u);
}

TEST_F(JobTest, ANodeThatFailsAfterItHasLeftEndsNobodyElse) {
  job_->on_event(0, event::NodeLeft{NodeId{0}});
  die(0, Death::Cause::kExitCode, 66);
  job_->on_event(host_of(0), event::NodeEnded{NodeId{0}});
  loop_->turn();
  EXPECT_FALSE(job_->is_ending());
  ASSERT_EQ(said_.size(), 1u);
  EXPECT_NE(said_[0].find("exited with code 66"), std::string::npos);
  EXPECT_EQ(said_[0].find("being ended"), std::string::npos);
  EXPECT_EQ(job_->exit_code(), 66);
}

TEST_F(JobTest, CardsGoToTheOtherHostsOnceAllAreThere) {
  std::vector<std::byte> bytes(3);
  for (std::uint32_t node : {0u, 1u}) {
    job_->on_event(host_of(node), event::NodeWaits{NodeId{node}});
    job_->on_event(host_of(node), event::Card{NodeId{node}, bytes});
  }
  EXPECT_TRUE(told_.empty());
  job_->on_event(1, event::NodeWaits{NodeId{2}});
  job_->on_event(1, event::Card{NodeId{2}, bytes});
  EXPECT_EQ(told<command::Card>(), (Hosts{0, 0, 1}));
  EXPECT_EQ(told<command::SendCards>(), (Hosts{0, 1}));
  // Afterwards one may leave while others are still reading.
  job_->on_event(0, event::NodeLeft{NodeId{0}});
  EXPECT_FALSE(job_->is_ending());
}

TEST_F(JobTest, AnExchangeThatCannotEndEndsTheJob) {
  job_->on_event(0, event::NodeWaits{NodeId{0}});
  job_->on_event(1, event::NodeEnded{NodeId{2}});
  turn_until_ending();
  EXPECT_EQ(job_->exit_code(), 1);
  EXPECT_NE(said_.at(0).find("node 2 of 3 has ended without joining"), std::string::npos);
}

TEST_F(JobTest, NodesThatAreWaitedForLongAreNamedOnce) {
  plan_.patience_ms = 1;
  job_->on_event(0, event::NodeWaits{NodeId{0}});
  job_->on_event(1, event::NodeWaits{NodeId{1}});
  for (int i = 0; i < 1000 && said_.empty(); ++i) loop_->turn();
  ASSERT_EQ(said_.size(), 1u);
  EXPECT_EQ(said_[0].find(
                "after 0.001 s node 2 of 3 has not joined the job, and nodes 0 and 1 wait for it"),
            0u);
  EXPECT_FALSE(job_->is_ending());
}

TEST_F(JobTest, ALostHostIsTheDeathOfItsNodes) {
  job_->host_lost(1, {.cause = Death::Cause::kSilent,
                      .number = 1000,
                      .sentence = "host down, link cut or stopped"});
  turn_until_ending();
  EXPECT_EQ(said_.at(0),
            "node 1 on host beta: no sign of life for 1.0 s (host down, link cut or stopped); the "
            "other node is being ended");
  EXPECT_EQ(told<command::End>(), Hosts{0});
  job_->on_event(0, event::Ended{});
  EXPECT_TRUE(job_->ended());
  EXPECT_EQ(job_->exit_code(), 1);
}

TEST_F(JobTest, AJobMaySurviveDeathsAndALostHost) {
  make(true);
  die(2, Death::Cause::kSignal, SIGKILL);
  job_->on_event(1, event::NodeEnded{NodeId{2}});
  job_->host_lost(1, {.cause = Death::Cause::kHostLost, .sentence = "gone"});
  EXPECT_FALSE(job_->is_ending());
  EXPECT_EQ(said_.size(), 2u);
  EXPECT_EQ(told<command::TellDeath>().size(), 4u);
  job_->on_event(0, event::NodeEnded{NodeId{0}});
  job_->on_event(0, event::Ended{});
  EXPECT_TRUE(job_->ended());
  EXPECT_EQ(job_->exit_code(), 128 + SIGKILL);
}

TEST_F(JobTest, EventsOfNodesThatAreNotTheHostsMakeNoSense) {
  EXPECT_FALSE(job_->on_event(0, event::NodeEnded{NodeId{1}}));
  EXPECT_FALSE(job_->on_event(0, event::NodeDied{Death{.node = NodeId{2}}}));
  EXPECT_FALSE(job_->on_event(1, event::NodeJoined{NodeId{7}}));
  EXPECT_FALSE(job_->on_event(1, event::Card{NodeId{0}, {}}));
}

TEST_F(JobTest, ASignalThatWasPassedOnIsTheCause) {
  job_->on_signal(SIGINT);
  EXPECT_EQ(told<command::Signal>(), (Hosts{0, 1}));
  die(1, Death::Cause::kSignal, SIGINT);
  turn_until_ending();
  EXPECT_EQ(said_.at(0),
            "the job on 2 hosts was ended by SIGINT, which terrane run was sent and passed on");
}

TEST_F(JobTest, TheSameSignalOnceMoreKills) {
  job_->on_signal(SIGINT);
  job_->on_signal(SIGTERM);
  EXPECT_TRUE(told<command::Kill>().empty());
  job_->on_signal(SIGTERM);
  EXPECT_EQ(told<command::Kill>(), (Hosts{0, 1}));
  EXPECT_EQ(said_.at(0), "the job on 2 hosts was sent SIGTERM twice and has been killed");
  EXPECT_EQ(job_->exit_code(), 128 + SIGTERM);
}

TEST_F(JobTest, WhatStillRunsAfterTheGraceTimeIsKilled) {
  plan_.grace_ms = 1;
  job_->on_signal(SIGHUP);
  EXPECT_TRUE(told<command::Kill>().empty());
  turn_until_ending();
  EXPECT_EQ(told<command::Kill>(), (Hosts{0, 1}));
  EXPECT_EQ(said_.at(0),
            "the job on 2 hosts still ran 0.001 s after SIGHUP (--grace) and has been killed");
  EXPECT_EQ(job_->exit_code(), 128 + SIGHUP);
}

TEST_F(JobTest, AnInterruptAloneKillsNobody) {
  plan_.grace_ms = 1;
  job_->on_signal(SIGINT);
  for (int i = 0; i < 3; ++i) job_->on_signal(SIGUSR1);
  EXPECT_FALSE(job_->is_ending());
  EXPECT_TRUE(told<command::Kill>().empty());
}

// As JobTest, with places for two guests, nodes 3 and 4 on hosts 2 and 3.
class GuestTest : public JobTest {
 protected:
  void SetUp() override { start(false); }
  void start(bool survive) {
    make(survive, 2);
    for (std::uint32_t node : {0u, 1u, 2u}) send_card(node);
    told_.clear();
  }
  void send_card(std::uint32_t node) {
    job_->on_event(host_of(node), event::NodeWaits{NodeId{node}});
    job_->on_event(host_of(node), event::Card{NodeId{node}, std::vector<std::byte>(node + 1)});
  }
  void come(std::uint32_t guest) {
    job_->guest_came(host_of(guest));
    job_->on_event(host_of(guest), event::NodeStarted{NodeId{guest}, 100});
    send_card(guest);
  }
  void want_in(std::uint32_t guest) {
    job_->on_event(host_of(guest), event::NodeWantsIn{NodeId{guest}});
  }
  void be_inside(std::uint32_t guest) {
    job_->on_event(host_of(guest), event::NodeIsInside{NodeId{guest}});
  }
  void admit(std::uint32_t node, std::uint32_t guest) {
    job_->on_event(host_of(node), event::NodeAdmits{NodeId{node}, NodeId{guest}});
  }
};

TEST_F(GuestTest, AllKnowAGuestBeforeItIsLetIn) {
  come(3);
  EXPECT_EQ(told<command::Card>(), (Hosts{2, 2, 2}));
  EXPECT_EQ(told<command::SendCards>(), Hosts{2});
  EXPECT_TRUE(told<command::Newcomer>().empty());
  want_in(3);
  EXPECT_EQ(told<command::Newcomer>(), (Hosts{0, 1, 2}));
  admit(0, 3);
  admit(2, 3);
  EXPECT_TRUE(told<command::LetIn>().empty());
  admit(1, 3);
  EXPECT_EQ(told<command::LetIn>(), Hosts{2});
}

TEST_F(GuestTest, OneComesInAfterTheOtherAndWhoLeavesIsWaitedForByNobody) {
  come(3);
  come(4);
  want_in(3);
  admit(0, 3);
  job_->on_event(1, event::NodeLeftAlone{NodeId{2}});
  EXPECT_TRUE(told<command::LetIn>().empty());
  admit(1, 3);
  EXPECT_EQ(told<command::LetIn>(), Hosts{2});
  EXPECT_EQ(told<command::Card>(), (Hosts{2, 2, 2})) << "it may not have heard it yet";
  be_inside(3);
  EXPECT_EQ(told<command::Card>(), (Hosts{2, 2, 2, 3, 3, 3})) << "of 0, 1 and the guest before";
  want_in(4);
  for (std::uint32_t node : {0u, 1u, 3u}) admit(node, 4);
  EXPECT_EQ(told<command::LetIn>(), (Hosts{2, 3}));
  const auto& let_in = std::get<command::LetIn>(told_.back().second);
  auto history = bootstrap::decode_history(let_in.history, 5);
  using Kind = bootstrap::Change::Kind;
  bootstrap::History all{
      {Kind::kCame, NodeId{3}}, {Kind::kWent, NodeId{2}}, {Kind::kCame, NodeId{4}}};
  ASSERT_TRUE(history);
  EXPECT_EQ(*history, all);
  job_->on_event(2, event::NodeLeftAlone{NodeId{3}});
  EXPECT_FALSE(job_->is_ending());
}

TEST_F(GuestTest, WhoDoesNotFitGoesAndNobodyHearsOfIt) {
  come(3);
  die(3, Death::Cause::kExitCode, 1);
  job_->on_event(2, event::NodeEnded{NodeId{3}});
  job_->on_event(2, event::Ended{});
  EXPECT_FALSE(job_->is_ending());
  EXPECT_TRUE(told<command::Newcomer>().empty());
  EXPECT_TRUE(told<command::TellGone>().empty());
  come(4);
  EXPECT_EQ(told<command::SendCards>(), (Hosts{2, 3}));
}

TEST_F(GuestTest, NobodyComesInOnceAServerClosed) {
  come(3);
  want_in(3);
  job_->on_event(0, event::NodeCloses{NodeId{0}});
  EXPECT_TRUE(told<command::Closed>().empty()) << "one is on the way in";
  EXPECT_NE(job_->objection().find("is ending"), std::string::npos);
  come(4);
  for (std::uint32_t node : {0u, 1u, 2u}) admit(node, 3);
  be_inside(3);
  EXPECT_EQ(told<command::Closed>(), (Hosts{0, 1, 2, 3}));
  EXPECT_EQ(told<command::FailExchange>(), Hosts{3});
}

TEST_F(GuestTest, WhoDiesOnTheWayInHasNeverBeenThere) {
  for (bool survive : {false, true})
    for (int steps : {0, 1, 2, 3}) {
      SCOPED_TRACE(steps);
      start(survive);
      come(3);
      if (steps > 0) want_in(3);
      if (steps > 1) admit(0, 3);
      if (steps > 2)
        for (std::uint32_t node : {1u, 2u}) admit(node, 3);
      EXPECT_EQ(told<command::LetIn>().size(), steps > 2 ? 1u : 0u);
      die(3, Death::Cause::kSignal, SIGKILL);
      EXPECT_EQ(told<command::TellGone>().size(), steps > 0 ? 3u : 0u);
      job_->on_event(2, event::NodeEnded{NodeId{3}});
      job_->on_event(2, event::Ended{});
      come(4);
      want_in(4);
      for (std::uint32_t node : {0u, 1u, 2u}) admit(node, 4);
      be_inside(4);
      EXPECT_EQ(told<command::LetIn>().back(), 3u);
      job_->on_event(3, event::NodeLeftAlone{NodeId{4}});
      EXPECT_FALSE(job_->is_ending());
      EXPECT_TRUE(said_.empty());
      EXPECT_EQ(job_->exit_code(), 0);
    }
}

TEST_F(GuestTest, AGuestThatIsInsideDiesAsAnyNode) {
  come(3);
  want_in(3);
  for (std::uint32_t node : {0u, 1u, 2u}) admit(node, 3);
  be_inside(3);
  die(3, Death::Cause::kSignal, SIGKILL);
  turn_until_ending();
  EXPECT_EQ(job_->exit_code(), 128 + SIGKILL);
}

}  // namespace
}  // namespace terrane::tools
