// Variables of the environment, OpenMP in constructors of libraries, and loops that poll.
#include <set>

#include "run_omp.h"

namespace terrane::test_hosts {
namespace {

const std::string kPlaces = PLACE_PROGRAM;

// The numbers behind "place ".
std::vector<int> places_of(const std::string& text) {
  std::vector<int> all;
  for (std::size_t at = text.find("place "); at != std::string::npos;
       at = text.find("place ", at + 1))
    all.push_back(std::stoi(text.substr(at + 6)));
  return all;
}

TEST(OmpSettingsTest, ThreadsRunOnTheirPlaces) {
  for (const std::string& team : kTeams)
    for (const char* places : {"threads", "cores", "{0}:2", "{0,1}"})
      expect_good(team, kPlaces + " bound", {std::string("OMP_PLACES=") + places});
  for (const char* bind : {"true", "close", "spread", "primary", "master,close"})
    expect_good("-n 2 --threads 2", kPlaces + " bound", {std::string("OMP_PROC_BIND=") + bind});
}

TEST(OmpSettingsTest, TheThreadsOfANodeShareItsFirstPlaceWithItsPrimaryThread) {
  Outcome outcome = run_omp("-n 2 --threads 2", kPlaces + " bound",
                            {"OMP_PROC_BIND=primary", "OMP_PLACES=threads"});
  std::vector<int> places = places_of(outcome.out);
  ASSERT_EQ(places.size(), 4u) << outcome.out << outcome.err;
  EXPECT_EQ(places[0], places[1]);
  EXPECT_EQ(places[2], places[3]);
}

TEST(OmpSettingsTest, AClauseBindsRegionsWithin) {
  for (const std::string& team : kTeams)
    for (const char* bind : {"true", "spread,primary"})
      expect_good(team, kPlaces + " clauses", {std::string("OMP_PROC_BIND=") + bind});
}

TEST(OmpSettingsTest, ThreadsAreNotBoundUnlessTheUserWantsIt) {
  for (const std::string& team : kTeams) {
    expect_good(team, kPlaces + " unbound");
    expect_good(team, kPlaces + " unbound", {"OMP_PROC_BIND=false", "OMP_PLACES=threads"});
  }
}

TEST(OmpSettingsTest, TheFormatOfOneThreadIsThatOfAll) {
  for (const std::string& team : kTeams) expect_good(team, kPlaces + " format");
}

TEST(OmpSettingsTest, AffinityIsShownOnceForEachThread) {
  Outcome outcome =
      run_omp("-n 2 --threads 2", kPlaces + " regions",
              {"OMP_DISPLAY_AFFINITY=true", "OMP_AFFINITY_FORMAT=thread %n of %N at %L"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* thread : {"0", "1", "2", "3"})
    EXPECT_EQ(count(outcome.err, std::string("thread ") + thread + " of 4 at 1\n"), 1)
        << outcome.err;
}

TEST(OmpSettingsTest, VariablesSetWhatTheSpecificationSays) {
  struct Case {
    std::vector<std::string> environment;
    const char* shown;
  };
  const Case cases[] = {
      {{}, "dynamic 0 nested 0 levels 1 schedule 2,1 bind 0 priority 0"},
      {{"OMP_DYNAMIC= TRUE "}, "dynamic 1 nested 0"},
      {{"OMP_NESTED=true"}, "nested 1 levels 255"},
      {{"OMP_NESTED=true", "OMP_MAX_ACTIVE_LEVELS=1"}, "nested 0 levels 1"},
      {{"OMP_MAX_ACTIVE_LEVELS=5"}, "nested 1 levels 5"},
      {{"OMP_MAX_ACTIVE_LEVELS=0"}, "levels 0"},
      {{"OMP_SCHEDULE= Monotonic : static , 6 "}, "schedule 1,6"},
      {{"OMP_SCHEDULE=nonmonotonic:guided"}, "schedule 3,1"},
      {{"OMP_SCHEDULE=auto"}, "schedule 4,1"},
      {{"OMP_PROC_BIND=spread,close"}, "bind 4"},
      {{"OMP_PROC_BIND=primary"}, "bind 2"},
      {{"OMP_PLACES=cores"}, "bind 1"},
      {{"OMP_MAX_TASK_PRIORITY=7"}, "priority 7"},
      {{"OMP_WAIT_POLICY=passive", "OMP_CANCELLATION=true", "OMP_TARGET_OFFLOAD=disabled"},
       "good"}};
  for (const Case& one : cases) {
    Outcome outcome = run_omp("-n 2", kPlaces + " show", one.environment);
    EXPECT_NE(outcome.out.find(one.shown), std::string::npos)
        << one.shown << outcome.out << outcome.err;
  }
}

TEST(OmpSettingsTest, WrongVariablesAreRefusedByTheirName) {
  for (const char* wrong :
       {"OMP_PLACES=often", "OMP_PROC_BIND=true,close", "OMP_PROC_BIND=near", "OMP_DYNAMIC=maybe",
        "OMP_WAIT_POLICY=never", "OMP_TARGET_OFFLOAD=always", "OMP_ALLOCATOR=mine",
        "OMP_DISPLAY_AFFINITY=2", "OMP_MAX_TASK_PRIORITY=-1", "OMP_NESTED=5",
        "OMP_SCHEDULE=static,0"}) {
    Outcome outcome = run_omp("-n 2", kPlaces + " show", {wrong});
    EXPECT_NE(outcome.exit_code, 0) << wrong;
    EXPECT_NE(outcome.err.find(std::string(wrong) + ": must be"), std::string::npos)
        << wrong << outcome.err;
  }
}

TEST(OmpSettingsTest, TheEnvironmentIsShown) {
  Outcome outcome = run_omp("-n 2 --threads 1", kPlaces + " regions", {"OMP_DISPLAY_ENV=true"});
  EXPECT_EQ(count(outcome.err, "OPENMP DISPLAY ENVIRONMENT BEGIN"), 1) << outcome.err;
  EXPECT_NE(outcome.err.find("OMP_NUM_THREADS = '2'"), std::string::npos) << outcome.err;
}

// Its constructor runs before the program starts, on every node, by one thread.
TEST(OmpSettingsTest, ConstructorsOfLibrariesHaveRegions) {
  for (const std::string& team : kTeams) expect_good(team, EARLY_PROGRAM);
}

TEST(OmpSettingsTest, ConstructorsOfOpenedLibrariesHaveTeams) {
  expect_good_everywhere(OPENING_PROGRAM " " OPENED_LIBRARY);
}

// The first region with several threads is that of its destructor.
TEST(OmpSettingsTest, DestructorsOfLibrariesHaveRegions) {
  for (const std::string& team : kTeams) expect_good(team, EARLY_PROGRAM " alone");
}

// The place is the loop's own: a function of the program, whatever is in the loop.
TEST(OmpSettingsTest, ALoopThatPollsPlainMemoryIsNamed) {
  const std::pair<const char*, const char*> loops[] = {
      {"yield", "called sched_yield"}, {"pause", "polled memory"}, {"nothing", "polled memory"}};
  for (const auto& [how, does] : loops) {
    std::string line =
        "timeout -s KILL 60 " +
        omp_line("-n 2 --threads 1 --allow-inline-atomics --patience 1", POLLING_PROGRAM " ") +
        how + " 2>&1 | grep -m 1 -o '" + does +
        " again and again .*omp_polling_program+0x[0-9a-f]* (wait_for+0x[0-9a-f]*), "
        "without a flush'";
    Launched job({"/bin/sh", "-c", line}, {});
    Outcome outcome = job.finish();
    EXPECT_EQ(count(outcome.out, "polling_program"), 1) << how << outcome.out << outcome.err;
  }
}

TEST(OmpSettingsTest, AThreadThatComputesForLongIsNotNamed) {
  Outcome outcome = run_omp("-n 2 --threads 1 --patience 0.5", POLLING_PROGRAM " compute");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.out, "good\n");
  EXPECT_EQ(count(outcome.err, "again and again"), 0) << outcome.err;
}

}  // namespace
}  // namespace terrane::test_hosts
