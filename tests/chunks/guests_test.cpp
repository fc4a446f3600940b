// Nodes that join a running job: real processes, each by `terrane join`.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <deque>
#include <memory>
#include <random>
#include <tuple>

#include "../launcher/launched.h"

namespace terrane::cluster_test {
namespace {

// A job that takes guests, while this object lives.
class Hosts {
 public:
  explicit Hosts(const std::string& options)
      : name_("test-" + std::to_string(::getpid()) + "-" + std::to_string(++count_)),
        job_(words(std::string(kTerrane) + " run --name " + name_ + " " + options + " " +
                   CHUNKS_PROGRAM + " hosts")) {
    EXPECT_TRUE(job_.wait_for("ready"));
  }
  std::vector<std::string> join(const std::string& program) const {
    return words(std::string(kTerrane) + " join " + name_ + " " + program);
  }
  Outcome guest(const std::string& mode, Launched::Options options = {}) const {
    return Launched(join(std::string(CHUNKS_PROGRAM) + " " + mode), std::move(options)).finish();
  }
  // A guest says stop; all of the job ends.
  Outcome stop() {
    EXPECT_EQ(guest("stop").out, "good\n");
    Outcome outcome = job_.finish();
    EXPECT_FALSE(outcome.timed_out);
    EXPECT_GE(job_.ms_until_all_gone(), 0);
    return outcome;
  }
  void expect_good_end(int nodes) {
    Outcome outcome = stop();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(count(outcome.out, "good"), nodes) << outcome.err;
    EXPECT_EQ(outcome.err, "");
  }
  // Of a job with -v.
  pid_t process_of(int node) const {
    std::string words = "node " + std::to_string(node) + " is process ";
    std::size_t at = job_.err().find(words);
    if (at == std::string::npos) return -1;
    return std::stoi(job_.err().substr(at + words.size()));
  }
  bool wait_for(const std::string& text) { return job_.wait_for(text); }
  const std::string& name() const { return name_; }
  pid_t pid() const { return job_.pid(); }

 private:
  static inline int count_ = 0;
  std::string name_;
  Launched job_;
};

void expect_good(const Outcome& guest) {
  EXPECT_EQ(guest.exit_code, 0) << guest.err;
  EXPECT_EQ(guest.out, "good\n") << guest.err;
  EXPECT_EQ(guest.err, "");
}

TEST(ChunkGuestsTest, WhoJoinsReadsWhatIsThereAndHearsOfWhatComes) {
  for (const char* options :
       {"-n 1 --guests 2", "-n 3 --guests 2", "-n 3 --servers 2 --guests 2"}) {
    Hosts hosts(options);
    expect_good(hosts.guest("guest"));
    hosts.expect_good_end(options[3] - '0');
  }
}

TEST(ChunkGuestsTest, TwentyJoinAndLeaveAtRandomPoints) {
  Hosts hosts("-n 3 --servers 2 --guests 21");
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::deque<std::unique_ptr<Launched>> guests;
  auto finish_first = [&] {
    expect_good(guests.front()->finish());
    guests.pop_front();
  };
  for (int joined = 0; joined < 20; ++joined) {
    guests.push_back(
        std::make_unique<Launched>(hosts.join(std::string(CHUNKS_PROGRAM) + " guest")));
    ::usleep(random() % 30'000);
    if (guests.size() > random() % 5) finish_first();
  }
  while (!guests.empty()) finish_first();
  hosts.expect_good_end(3);
}

TEST(ChunkGuestsTest, AGuestsDeathIsSurvivedWhereDeathsAre) {
  Hosts hosts("-n 2 --on-death survive --guests 3");
  Outcome dying = hosts.guest("dying-guest");
  EXPECT_EQ(dying.exit_code, 128 + 9);
  EXPECT_EQ(count(dying.err, "was killed by SIGKILL"), 1) << dying.err;
  expect_good(hosts.guest("guest"));
  Outcome outcome = hosts.stop();
  EXPECT_EQ(count(outcome.out, "good"), 2) << outcome.err;
  EXPECT_EQ(count(outcome.err, "was killed by SIGKILL"), 1) << outcome.err;
  EXPECT_EQ(count(outcome.err, "chunk 'lost': what a node wrote"), 1) << outcome.err;
}

// Nobody is let in before node 1 knows it, which is stopped meanwhile.
TEST(ChunkGuestsTest, WhoDiesOnTheWayInHasNeverBeenThere) {
  for (bool let_in : {false, true}) {
    SCOPED_TRACE(let_in);
    Hosts hosts("-n 2 --guests 3 -v --heartbeat 0");
    ASSERT_GT(hosts.process_of(1), 0);
    ::kill(hosts.process_of(1), SIGSTOP);
    Launched guest(hosts.join(std::string(CHUNKS_PROGRAM) + " guest"));
    EXPECT_TRUE(hosts.wait_for("joins the job"));
    ASSERT_GT(hosts.process_of(2), 0);
    ::kill(hosts.process_of(2), SIGSTOP);
    if (let_in) {
      ::kill(hosts.process_of(1), SIGCONT);
      EXPECT_TRUE(hosts.wait_for("all nodes know node 2"));  // it cannot hear so
    }
    ::kill(hosts.process_of(2), SIGKILL);
    EXPECT_EQ(guest.finish().exit_code, 128 + SIGKILL);
    ::kill(hosts.process_of(1), SIGCONT);
    expect_good(hosts.guest("guest"));
    Outcome outcome = hosts.stop();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(count(outcome.out, "good"), 2) << outcome.err;
    EXPECT_EQ(count(outcome.err, "killed"), 0) << outcome.err;
  }
}

TEST(ChunkGuestsTest, WhoCannotJoinIsToldWhyAndTheJobGoesOn) {
  Hosts hosts("-n 2 --guests 8");
  auto refused = [](const Outcome& guest, const std::string& says) {
    EXPECT_NE(guest.exit_code, 0);
    EXPECT_NE(guest.err.find(says), std::string::npos) << guest.err;
  };
  refused(hosts.guest("guest", {.environment = {"TERRANE_UNIT=8192"}}), "TERRANE_UNIT is 8192");
  for (auto [program, engine_says, node_says] :
       {std::tuple{OTHER_VERSION, "runs Terrane 9.9.9", "Terrane is 9.9.9 at node"},
        std::tuple{OTHER_ARCHITECTURE, "processors of another architecture (riscv64)",
                   "the architecture is riscv64 at node"}}) {
    refused(Launched({program, "join", hosts.name(), CHUNKS_PROGRAM, "guest"}).finish(),
            engine_says);
    Outcome node = Launched(hosts.join(program)).finish();
    EXPECT_NE(node.exit_code, 0);
    EXPECT_EQ(node.out.find("not joined: " + std::string(node_says)), 0u) << node.out;
  }
  refused(Launched(words(std::string(kTerrane) + " join nowhere " + CHUNKS_PROGRAM)).finish(),
          "no job nowhere that takes guests runs on this host (there are: ");
  refused(Launched(words(std::string(kTerrane) + " join nowhere")).finish(), "give a job and");
  refused(Launched(hosts.join("/nonexistent")).finish(), "/nonexistent");
  if (is_root())
    refused(hosts.guest("guest", {.as_nobody = true}), "belongs to user 0, and user 65534");
  expect_good(
      Launched(hosts.join("/bin/echo good")).finish());  // joins nothing, and has had a place
  expect_good(hosts.guest("guest"));
  hosts.expect_good_end(2);
  refused(hosts.guest("guest"), "no job " + hosts.name());
}

// Both nodes know why, whichever is heard.
TEST(ChunksBadInputTest, NodesOfTwoVersionsMakeNoJob) {
  Outcome outcome =
      Launched({kTerrane, "run", "-n", "2", "sh", "-c",
                "[ $TERRANE_NODE = 0 ] && exec " CHUNKS_PROGRAM " scopes; exec " OTHER_VERSION})
          .finish();
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_EQ(count(outcome.out, "good") + count(outcome.out, "has joined"), 0) << outcome.out;
  EXPECT_GE(count(outcome.out + outcome.err, "Terrane is "), 1) << outcome.out << outcome.err;
  EXPECT_GE(count(outcome.out + outcome.err, "9.9.9"), 1) << outcome.out << outcome.err;
}

TEST(ChunkGuestsTest, PlacesAreCountedAndJobsWithoutThemTakeNobody) {
  Hosts hosts("-n 1 --guests 2");
  expect_good(hosts.guest("guest"));
  hosts.expect_good_end(1);
  Hosts full("-n 1 --guests 1");
  full.expect_good_end(1);
  Outcome outcome = run("-n 1 --guests 513", "");
  EXPECT_NE(outcome.err.find("--guests 513: must be a number from 0 to 512"), std::string::npos);
  outcome = run("-n 1 --name -a", "");
  EXPECT_NE(outcome.exit_code, 0);
}

TEST(ChunkGuestsTest, AGuestEndsWithItsJobAndSaysWhy) {
  Hosts hosts("-n 1 --guests 1");
  Launched guest({kTerrane, "join", hosts.name(), "sh", "-c", "echo here; exec sleep 100"});
  EXPECT_TRUE(guest.wait_for("here"));
  ::kill(hosts.pid(), SIGKILL);
  Outcome outcome = guest.finish();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("the job that this program had joined has gone"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(count(outcome.err, "\n"), 1) << outcome.err;
  EXPECT_GE(guest.ms_until_all_gone(), 0);
}

TEST(ChunkGuestsTest, AnInvitationLetsOthersInAndIsChecked) {
  Hosts hosts("-n 1 --guests 2");
  Outcome invitation = Launched(words(std::string(kTerrane) + " invite " + hosts.name())).finish();
  EXPECT_EQ(invitation.exit_code, 0) << invitation.err;
  auto join = words(std::string(kTerrane) + " join --invitation - " + CHUNKS_PROGRAM + " guest");
  expect_good(Launched(join, {.input = invitation.out}).finish());
  std::string wrong = invitation.out;
  std::size_t secret = wrong.rfind(' ') - 1;
  wrong[secret] = wrong[secret] == '0' ? '1' : '0';
  Outcome stranger = Launched(join, {.input = wrong}).finish();
  EXPECT_EQ(stranger.exit_code, 1);
  EXPECT_NE(stranger.err.find("another job, or a wrong secret"), std::string::npos) << stranger.err;
  Outcome nonsense = Launched(join, {.input = "let me in\n"}).finish();
  EXPECT_NE(nonsense.err.find("it holds no invitation"), std::string::npos) << nonsense.err;
  hosts.expect_good_end(1);
}

}  // namespace
}  // namespace terrane::cluster_test
