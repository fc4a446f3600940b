// OpenMP programs of stock compilers on several nodes: the same results as on one machine.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "base/test_folder.h"
#include "on_hosts.h"

namespace terrane::test_hosts {
namespace {

Outcome run_omp(const std::string& options, const std::string& program,
                std::vector<std::string> environment = {}) {
  std::string line = std::string(cluster_test::kTerrane) + " omp " + options + " " + program;
  Launched job(cluster_test::words(line), {.environment = std::move(environment)});
  Outcome outcome = job.finish();
  EXPECT_FALSE(outcome.timed_out) << line << " hangs";
  return outcome;
}

void expect_good(const std::string& options, const std::string& program) {
  Outcome outcome = run_omp(options, program);
  EXPECT_EQ(outcome.exit_code, 0) << options << " " << program << ": " << outcome.out
                                  << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), 1) << program << ": " << outcome.out << outcome.err;
  EXPECT_EQ(outcome.err, "") << program;
}

void expect_refused(const std::string& options, const std::string& program,
                    const std::string& sentence, std::vector<std::string> environment = {}) {
  Outcome outcome = run_omp(options, program, std::move(environment));
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find(sentence), std::string::npos) << outcome.err;
}

const std::string kC = C_PROGRAM, kCpp = CPP_PROGRAM;
constexpr const char* kTeams[] = {"-n 1 --threads 1", "-n 1 --threads 2", "-n 2 --threads 1",
                                  "-n 2 --threads 2"};

TEST(OmpTest, ProgramsInCRun) {
  for (const char* team : kTeams) expect_good(team, kC);
}

TEST(OmpTest, EachConstructWorksAlone) {
  for (const char* mode : {"loops",           "reductions", "exclusion",       "once",
                           "order",           "teams",      "between_regions", "tasks",
                           "privates",        "locks",      "barriers",        "heap",
                           "devices",         "flushes",    "doacross",        "task_reductions",
                           "copied_privates", "events",     "leagues",         "affinity",
                           "share_a_page",    "atomics",    "ordered_atomics"})
    expect_good("-n 2 --threads 2", kC + " " + mode);
}

TEST(OmpTest, ProgramsInCppRun) {
  for (const char* team : kTeams) expect_good(team, kCpp);
}

TEST(OmpTest, ProgramsInFortranRun) {
#ifdef FORTRAN_PROGRAM
  for (const char* team : kTeams) expect_good(team, FORTRAN_PROGRAM);
#else
  GTEST_SKIP() << "there is no gfortran";
#endif
}

// Units of Fortran keep what goes to a file until the program ends.
TEST(OmpTest, FortransOutputToAFileIsWritten) {
#ifdef FORTRAN_PROGRAM
  base::TestFolder folder;
  std::string file = folder / "units";
  std::string line = std::string(cluster_test::kTerrane) +
                     " omp -n 2 --threads 1 " FORTRAN_PROGRAM " > " + file + " && cat " + file;
  Launched job({"/bin/sh", "-c", line}, {});
  Outcome outcome = job.finish();
  EXPECT_EQ(outcome.out, "good\n") << outcome.err;
#else
  GTEST_SKIP() << "there is no gfortran";
#endif
}

// What threads of other nodes print reaches a pipe, too, where units have buffers.
TEST(OmpTest, UnitsOfFortranAreThoseOfAllThreads) {
#ifdef FORTRAN_UNITS_PROGRAM
  for (const char* team : {"-n 1 --threads 4", "-n 2 --threads 2", "-n 4 --threads 1"}) {
    Outcome outcome = run_omp(team, FORTRAN_UNITS_PROGRAM);
    EXPECT_EQ(outcome.exit_code, 0) << team << outcome.out << outcome.err;
    EXPECT_EQ(count(outcome.out, "good"), 1) << team << outcome.out << outcome.err;
    EXPECT_EQ(count(outcome.out, "printed by"), 40) << team << outcome.out;
  }
  expect_refused("-n 2 --threads 1", std::string(FORTRAN_UNITS_PROGRAM) + " private",
                 "copy it to another variable");
#else
  GTEST_SKIP() << "there is no gfortran";
#endif
}

TEST(OmpTest, ProgramsRunOnThreeNodes) { expect_good("-n 3 --threads 1", kC); }

// The line of a text that has this part; empty: none has.
std::string line_with(const std::string& text, const std::string& part) {
  std::size_t at = text.find(part);
  if (at == std::string::npos) return {};
  std::size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

TEST(OmpTest, TheReportNamesRegionsAndPagesThatSeveralNodesWrite) {
  Outcome outcome = run_omp("-n 2 --threads 2 --stats", kC + " share_a_page");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("terrane: parallel regions of 2 nodes\n"), std::string::npos)
      << outcome.err;
  bool has_lines = ::system("addr2line --version >/dev/null 2>&1") == 0;
  std::string name = has_lines ? "c_program.c:" : "share_a_page._omp_fn.0";
  std::string region = line_with(outcome.err, "  " + name);
  std::istringstream words(region);
  std::string region_name, seconds;
  std::uint64_t calls = 0, faults = 0, fetched = 0, unused = 0, flushed = 0;
  words >> region_name >> calls >> seconds >> faults >> fetched >> unused >> flushed;
  EXPECT_EQ(calls, 20u) << region << outcome.err;
  EXPECT_GT(faults, 0u) << region;
  EXPECT_GT(flushed, 0u) << region;
  std::string page = line_with(outcome.err, "  neighbours ");
  EXPECT_NE(page.find("by nodes 0 1, in " + region_name), std::string::npos) << outcome.err;
}

TEST(OmpTest, AProgramThatEndsInARegionIsReportedByNode0Alone) {
  Outcome outcome = run_omp("-n 2 --threads 1 --stats", kC + " exit_in_region");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("counts of node 0 alone"), std::string::npos) << outcome.err;
}

TEST(OmpTest, EnvironmentVariablesAreRead) {
  Outcome outcome = run_omp("-n 2", kC + " show",
                            {"OMP_NUM_THREADS=3", "OMP_SCHEDULE=guided,5", "OMP_THREAD_LIMIT=7"});
  EXPECT_NE(outcome.out.find("threads 3 schedule 3,5 limit 7"), std::string::npos) << outcome.out;
  outcome = run_omp("-n 2 --threads 2", kC + " show");
  EXPECT_NE(outcome.out.find("threads 4 schedule 2,1"), std::string::npos) << outcome.out;
}

TEST(OmpTest, WrongSettingsAreRefusedInASentence) {
  const std::string wanted = "must be a number of threads from 1 to 1000";
  for (const char* wrong : {"0", "abc", "1000000", "-2", "4x"})
    expect_refused("-n 2", kC, wanted, {std::string("OMP_NUM_THREADS=") + wrong});
  expect_refused("-n 2 --threads 0", kC, wanted);
  expect_refused("-n 2", kC, "OMP_SCHEDULE=often: must be static", {"OMP_SCHEDULE=often"});
  expect_refused("-n 2", kC, "OMP_STACKSIZE=large: must be a size", {"OMP_STACKSIZE=large"});
}

TEST(OmpTest, WhatIsNotServedEndsTheProgramWithItsName) {
  expect_refused("-n 2 --threads 1", kC + " written_private",
                 "written to a thread-local (threadprivate) variable of the first thread");
}

// Those of gcc 12 that the machine's own library has; each later one by its name.
TEST(OmpTest, TheLibraryHasTheVersionsOfGcc) {
  std::string of = " 2>/dev/null | awk '$2 ~ /[TWA]/ {print $3}' | sort -u";
  std::string theirs = "gcc -print-file-name=libgomp.so.1";
  std::string command =
      "nm -D --with-symbol-versions " OMP_LIBRARY + of +
      " > ours.txt; nm -D --with-symbol-versions $(" + theirs + ")" + of +
      " > theirs.txt; comm -13 ours.txt theirs.txt; rm -f theirs.txt; " +
      "for name in GOMP_taskwait_depend_nowait@@GOMP_5.1.1 omp_get_mapped_ptr@@OMP_5.1.1 " +
      "omp_in_explicit_task_@@OMP_5.2 GOMP_PLUGIN_target_rev@@GOMP_PLUGIN_1.4 " +
      "GOMP_add_alloc@@GOMP_5.1.2 GOMP_is_alloc@@GOMP_5.1.2 " +
      "GOMP_target_map_indirect_ptr@@GOMP_5.1.2; do grep -qx $name ours.txt || echo $name; done; "
      "rm -f ours.txt";
  Launched job({"/bin/sh", "-c", "cd $(mktemp -d) && " + command}, {});
  EXPECT_EQ(job.finish().out, "") << "these names are missing";
}

TEST(OmpTest, CallsOfOtherCompilersGiveTheSame) {
  for (const char* team : kTeams) expect_good(team, KMP_PROGRAM);
}

// What the region at this line of a report has fetched and flushed.
struct RegionLine {
  std::uint64_t calls = 0, faults = 0, fetched = 0, unused = 0, flushed = 0;
};
std::vector<RegionLine> regions_of(const std::string& report) {
  std::istringstream lines(report.substr(report.find("terrane: parallel regions")));
  std::map<std::string, RegionLine> by_name;
  std::string line;
  std::getline(lines, line), std::getline(lines, line);
  while (std::getline(lines, line) && line.starts_with("  ") && line.find("pages") > 10) {
    std::istringstream words(line);
    std::string name, seconds;
    RegionLine one;
    words >> name >> one.calls >> seconds >> one.faults >> one.fetched >> one.unused >> one.flushed;
    by_name[name] = one;
  }
  std::vector<RegionLine> found;
  for (const auto& [name, one] : by_name) found.push_back(one);
  return found;
}

// Rows that are written in turn by two nodes: half of them are at home on the other one, and a loop
// in blocks finds all of them at home.
void expect_homes_in_blocks(const std::string& program) {
  Outcome outcome = run_omp("-n 2 --threads 1 --stats", program, {"TERRANE_MIGRATE=0"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("good"), std::string::npos) << outcome.out << outcome.err;
  std::vector<RegionLine> regions = regions_of(outcome.err);
  ASSERT_EQ(regions.size(), 2u) << outcome.err;
  EXPECT_GE(regions[0].flushed, 32u) << outcome.err;
  EXPECT_LE(regions[0].flushed, 34u) << outcome.err;
  EXPECT_LE(regions[1].flushed, 2u) << outcome.err;
}

TEST(OmpTest, MappedArraysHaveTheirHomesInBlocks) {
  expect_homes_in_blocks(std::string(MAP_PROGRAM) + " mapped");
  for (const char* team : kTeams) expect_good(team, std::string(MAP_PROGRAM) + " mapped");
}

TEST(OmpTest, WrongMappingsAreRefusedInASentence) {
  const std::string program = MAP_PROGRAM;
  const std::pair<const char*, const char*> wrong[] = {
      {"twice", "it has been mapped before"},
      {"private", "it is private memory"},
      {"pointer", "it is a pointer, not an array"},
      {"empty", "it has a dimension without elements"},
      {"whole", "exactly one dimension must be dealt by TERRANE_BLOCK"},
      {"inside", "outside of parallel regions"}};
  for (const auto& [mode, sentence] : wrong)
    expect_refused("-n 2 --threads 1", program + " " + mode, sentence);
}

TEST(OmpTest, MappingsDoNothingWithoutTerrane) {
  Launched job(cluster_test::words(std::string(MAP_PROGRAM) + " mapped"), {});
  EXPECT_EQ(job.finish().out, "good\n");
}

TEST(OmpTest, DirectivesOfOmniMapArrays) {
  expect_homes_in_blocks(OMNI_PROGRAM);
  Outcome outcome = run_omp("-n 2 --threads 1", OMNI_PROGRAM);
  EXPECT_NE(outcome.out.find("good, line 22 of "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("omni_program.c\n"), std::string::npos) << outcome.out;
}

TEST(OmpTest, ArraysOfFortranAreMapped) {
#ifdef FORTRAN_MAP_PROGRAM
  for (const char* team : kTeams) expect_good(team, FORTRAN_MAP_PROGRAM);
  expect_refused("-n 2", std::string(FORTRAN_MAP_PROGRAM) + " part", "it is a part of an array");
#else
  GTEST_SKIP() << "there is no gfortran";
#endif
}

TEST(OmpTest, AtomicWordsAndAllocatorsWork) {
  for (const char* team : kTeams) expect_good(team, MEMORY_PROGRAM);
}

// Rows that the threads of two nodes write in turn, a page each: interleaved ones are at home with
// their writers; half of those that are near the first thread are not.
TEST(OmpTest, PartitionsOfAllocatorsGivePagesTheirHomes) {
  const std::pair<const char*, std::uint64_t> wanted[] = {{" nearest", 320}, {" interleaved", 0}};
  for (const auto& [mode, flushed] : wanted) {
    Outcome outcome = run_omp("-n 2 --threads 1 --stats", std::string(MEMORY_PROGRAM) + mode);
    EXPECT_NE(outcome.out.find("good"), std::string::npos) << outcome.out << outcome.err;
    std::vector<RegionLine> regions = regions_of(outcome.err);
    ASSERT_EQ(regions.size(), 1u) << outcome.err;
    EXPECT_GE(regions[0].flushed, flushed) << mode << outcome.err;
    EXPECT_LE(regions[0].flushed, flushed + 25) << mode << outcome.err;
  }
}

// Programs of tasks, of which nodes lend each other some.
const std::string kTasks = TASK_PROGRAM;

TEST(OmpTest, TasksMoveBetweenNodes) {
  for (const char* team : {"-n 2 --threads 1", "-n 2 --threads 2", "-n 3 --threads 1"})
    expect_good(team, kTasks);
}

TEST(OmpTest, ManyThreadsOfANodeWaitForATask) {
  expect_good("-n 1 --threads 1", kTasks + " crowd");
}

TEST(OmpTest, TheReportCountsTheTasksOfEachNode) {
  Outcome outcome = run_omp("-n 2 --threads 1 --stats", kTasks + " coarse");
  EXPECT_NE(outcome.out.find("good"), std::string::npos) << outcome.out << outcome.err;
  std::string line = line_with(outcome.err, "  tasks of ");
  std::size_t nodes = line.find(": run by nodes "), moved = line.find(", moved between nodes ");
  ASSERT_TRUE(nodes != std::string::npos && moved != std::string::npos) << outcome.err;
  std::istringstream words(line.substr(nodes + 15));
  std::uint64_t first = 0, second = 0;
  words >> first >> second;
  std::uint64_t lent = std::stoull(line.substr(moved + 22));
  EXPECT_EQ(first + second, 900u) << line;
  EXPECT_GT(second, 0u) << line;
  EXPECT_GE(lent, second) << line;
}

// Ten million tasks of one thread: few of them wait at a time.
TEST(OmpTest, TasksTakeBoundedMemory) {
  for (const char* team : {"-n 2 --threads 1", "-n 2 --threads 2"})
    expect_good(team, kTasks + " millions");
}

class OmpHostsTest : public OnHosts {};

TEST_F(OmpHostsTest, ProgramsRunOnTwoClusters) {
  if (!make_hosts({.hosts = 3})) return;
  for (const std::string& program : {kC + " between_regions", kC}) {
    std::string line = std::string(cluster_test::kTerrane) +
                       " omp --heartbeat 20 -H h0,h1,h2 --clusters a:h0,h1/b:h2 --threads 1 " +
                       program;
    Outcome outcome = launch(0, cluster_test::words(line)).finish();
    EXPECT_EQ(outcome.exit_code, 0) << line << ": " << outcome.out << outcome.err;
    EXPECT_EQ(count(outcome.out, "good"), 1) << line << ": " << outcome.out << outcome.err;
  }
}

TEST_F(OmpHostsTest, ProgramsRunOnTwoHosts) {
  if (!make_hosts({.hosts = 2})) return;
  for (const std::string& program : {kC, kCpp, kTasks}) {
    std::string line =
        std::string(cluster_test::kTerrane) + " omp --heartbeat 20 -H h0,h1 --threads 2 " + program;
    Outcome outcome = launch(0, cluster_test::words(line)).finish();
    EXPECT_EQ(outcome.exit_code, 0) << line << ": " << outcome.out << outcome.err;
    EXPECT_EQ(count(outcome.out, "good"), 1) << line << ": " << outcome.out << outcome.err;
  }
}

}  // namespace
}  // namespace terrane::test_hosts
