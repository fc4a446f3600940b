#include "tools/doctor/checks.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "base/test_folder.h"
#include "tools/doctor/gather.h"
#include "tools/doctor/print.h"
#include "tools/doctor/rooms.h"
#include "tools/doctor/system_text.h"

namespace terrane::tools {
namespace {

// A host on which all is well.
HostFacts good_host() {
  HostFacts facts;
  facts.host = "alpha";
  facts.kernel.release = "6.18.5";
  facts.kernel.machine = "x86_64";
  facts.kernel.faults = {true, true, true, ""};
  facts.kernel.max_map_count = 65530;
  facts.kernel.clock_source = "tsc";
  facts.processors = {.online = 8, .usable = 8, .cores = 4};
  facts.memory = {.total_bytes = 32ull << 30, .available_bytes = 16ull << 30};
  facts.memory.shm_free_bytes = 64 << 20;
  facts.limits = {.files_soft = 1024, .files_hard = 524288, .nodes = 1024};
  facts.limits.nodes_reason = "a fixed limit";
  facts.limits.space_bytes = 1ull << 40;
  facts.interfaces = {{"lo", "127.0.0.1", true, true, 65536},
                      {"eth0", "10.0.0.7", true, false, 1500}};
  facts.chosen_interfaces = std::string("eth0");
  facts.why_chosen = std::string("the only one");
  LibraryFacts& ucx = facts.software.ucx;
  ucx.found = true;
  ucx.version = "1.13.1";
  ucx.modules.emplace_back("ib");
  facts.software.ucx_is_guarded = true;
  facts.software.pmix = {true, "4.2.2", {}};
  facts.software.ssh = "/usr/bin/ssh";
  return facts;
}

// The finding that a change to the good host makes: the only one that is not ok.
Finding finding_of(void (*spoil)(HostFacts&)) {
  HostFacts facts = good_host();
  spoil(facts);
  Finding found;
  int count = 0;
  for (const Finding& finding : examine(facts)) {
    if (finding.level == Level::kOk) continue;
    found = finding;
    ++count;
  }
  EXPECT_EQ(count, 1);
  return found;
}

void expect_finding(void (*spoil)(HostFacts&), Level level, const std::string& topic,
                    const std::string& remedy) {
  Finding finding = finding_of(spoil);
  EXPECT_EQ(finding.level, level) << finding.text;
  EXPECT_EQ(finding.topic, topic) << finding.text;
  EXPECT_NE(finding.remedy.find(remedy), std::string::npos) << finding.remedy;
}

TEST(DoctorTest, AGoodHostHasNothingButOk) {
  Findings findings = examine(good_host());
  EXPECT_GT(findings.size(), 10u);
  for (const Finding& finding : findings) EXPECT_EQ(finding.level, Level::kOk) << finding.text;
  EXPECT_TRUE(healthy(findings));
}

TEST(DoctorTest, ADenialOfUserfaultfdIsToldWithItsCause) {
  HostFacts facts = good_host();
  facts.kernel.faults = {false, false, false, "denied"};
  facts.kernel.call_denied = true;
  facts.kernel.max_map_count = 1 << 20;
  Findings by_module;
  check_page_faults(facts.kernel, by_module);
  EXPECT_EQ(by_module[0].remedy, "chmod a+rw /dev/userfaultfd");
  facts.kernel.seccomp_filter = true;
  Findings by_filter;
  check_page_faults(facts.kernel, by_filter);
  EXPECT_NE(by_filter[0].text.find("seccomp"), std::string::npos);
  EXPECT_NE(by_filter[0].remedy.find("docker run"), std::string::npos);
  EXPECT_TRUE(healthy(by_filter)) << "sigsegv serves instead";
}

TEST(DoctorTest, AnOldKernelIsTold) {
  expect_finding(
      [](HostFacts& facts) {
        facts.kernel.faults = {true, false, false, "this kernel cannot"};
      },
      Level::kNote, "page faults", "Linux 6.7");
}

TEST(DoctorTest, MappingsMatterOnlyToTheFaultSourceThatSplitsThem) {
  HostFacts facts = good_host();
  facts.kernel.faults = {false, false, false, "no userfaultfd"};
  Findings findings;
  check_page_faults(facts.kernel, findings);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[1].level, Level::kNote);
  EXPECT_NE(findings[1].remedy.find("vm.max_map_count=1048576"), std::string::npos);
}

TEST(DoctorTest, WhatKeepsAJobFromRunningIsAProblem) {
  expect_finding([](HostFacts& f) { f.kernel.machine = "riscv64"; }, Level::kProblem, "kernel", "");
  expect_finding([](HostFacts& f) { f.kernel.proc = false; }, Level::kProblem, "/proc", "mount");
  expect_finding([](HostFacts& f) { f.kernel.pidfd = false; }, Level::kProblem, "pidfd_open",
                 "seccomp");
  expect_finding([](HostFacts& f) { f.limits.address_space = 1 << 30; }, Level::kProblem, "limits",
                 "ulimit -v unlimited");
  expect_finding([](HostFacts& f) { f.software.slurm_job = "17"; }, Level::kProblem, "Slurm",
                 "module load slurm");
  HostFacts facts = good_host();
  facts.kernel.proc = false;
  EXPECT_FALSE(healthy(examine(facts)));
}

TEST(DoctorTest, AJobHoldsTheSumOfItsHosts) {
  Finding sum = sum_of_rooms("beta 1073741824\nalpha 3221225472\nbeta 1073741824\n");
  EXPECT_EQ(sum.text, "a job on 2 hosts could hold 4.0 GiB: alpha 3.0 GiB, beta 1.0 GiB");
  HostFacts facts = good_host();
  facts.memory.job_bytes = 14ull << 30;
  EXPECT_NE(as_text(facts.host, examine(facts))
                .find("a job on this host alone could hold 14.0 GiB, on several hosts their sum"),
            std::string::npos);
}

TEST(DoctorTest, WhatSlowsAJobDownIsANote) {
  expect_finding([](HostFacts& f) { f.kernel.clock_source = "hpet"; }, Level::kNote, "clock",
                 "clocksource=tsc");
  expect_finding([](HostFacts& f) { f.processors.quota = 1.5; }, Level::kNote, "processors",
                 "cpu.max");
  expect_finding([](HostFacts& f) { f.memory.available_bytes = 100 << 20; }, Level::kNote, "memory",
                 "--memory");
  expect_finding([](HostFacts& f) { f.memory.group_bytes = 100 << 20; }, Level::kNote, "memory",
                 "--memory");
  expect_finding([](HostFacts& f) { f.memory.overcommit = 2; }, Level::kNote, "overcommit",
                 "TERRANE_SPACE");
  expect_finding([](HostFacts& f) { f.memory.huge_shared_pages = "always"; }, Level::kNote,
                 "huge pages", "echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled");
  expect_finding([](HostFacts& f) { f.memory.huge_shared_pages = "within_size"; }, Level::kNote,
                 "huge pages", "shmem_enabled");
  expect_finding([](HostFacts& f) { f.memory.huge_shared_pages = "force"; }, Level::kNote,
                 "huge pages", "shmem_enabled");
  expect_finding([](HostFacts& f) { f.memory.huge_shared_pages = "deny"; }, Level::kNote,
                 "huge pages", "shmem_enabled");
  expect_finding([](HostFacts& f) { f.memory.shm_free_bytes.reset(); }, Level::kNote, "/dev/shm",
                 "mount");
  expect_finding([](HostFacts& f) { f.limits.files_hard = 256; }, Level::kNote, "limits",
                 "ulimit -Hn");
  expect_finding([](HostFacts& f) { f.limits.processes = 100; }, Level::kNote, "limits",
                 "ulimit -u");
}

TEST(DoctorTest, WhatSeveralHostsNeedIsANote) {
  expect_finding([](HostFacts& f) { f.software.ucx = {}; }, Level::kNote, "UCX", "libucx0");
  expect_finding([](HostFacts& f) { f.software.ucx_is_guarded = false; }, Level::kProblem, "UCX",
                 "--encrypt");
  expect_finding([](HostFacts& f) { f.software.pmix = {}; }, Level::kNote, "PMIx", "libpmix2");
  expect_finding([](HostFacts& f) { f.software.ssh = ""; }, Level::kNote, "ssh", "openssh-client");
  expect_finding([](HostFacts& f) { f.interfaces[1].up = false; }, Level::kNote, "network", "");
  expect_finding([](HostFacts& f) { f.interfaces[1].address = ""; }, Level::kNote, "network", "");
}

TEST(DoctorTest, InsideAnAllocationSrunStartsTheNodes) {
  HostFacts facts = good_host();
  facts.software.slurm_job = "17";
  facts.software.slurm_nodes = "4";
  facts.software.srun = "/usr/bin/srun";
  Findings findings;
  check_software(facts.software, findings);
  bool told = false;
  for (const Finding& finding : findings) {
    told = told || finding.text == "inside job 17 on 4 hosts; /usr/bin/srun starts the nodes";
  }
  EXPECT_TRUE(told);
}

TEST(DoctorTest, TheTextEndsWithTheVerdict) {
  Findings findings = {{Level::kOk, "clock", "tsc"},
                       {Level::kProblem, "/proc", "gone", "mount it"}};
  std::string text = as_text("alpha", findings);
  EXPECT_EQ(text,
            "ok       clock        tsc\n"
            "problem  /proc        gone\n"
            "                      -> mount it\n"
            "\nalpha: a job cannot run here (1 problems, 0 notes)\n");
}

TEST(DoctorTest, JsonKeepsQuotesAndControlCharacters) {
  Findings findings = {{Level::kNote, "a\"b", "c\\d\n", ""}};
  EXPECT_EQ(as_json("alpha", findings),
            "{\"host\": \"alpha\", \"healthy\": true, \"findings\": [\n"
            "  {\"level\": \"note\", \"topic\": \"a\\\"b\", \"text\": \"c\\\\d\\u000a\", "
            "\"remedy\": \"\"}\n]}\n");
}

TEST(DoctorTest, FactsOfThisHostAreFound) {
  HostFacts facts = gather_facts();
  EXPECT_FALSE(facts.host.empty());
  EXPECT_FALSE(facts.kernel.release.empty());
  EXPECT_GT(facts.processors.online, 0u);
  EXPECT_GT(facts.memory.total_bytes, 0u);
  EXPECT_GT(facts.limits.nodes, 0u);
  EXPECT_GT(facts.kernel.max_map_count, 0u);
  EXPECT_FALSE(examine(facts).empty());
}

TEST(DoctorTest, AnInstallationKnowsWhoInstalledIt) {
  base::TestFolder of_test;
  const std::string& folder = of_test.path();
  std::string command = folder + "/bin/terrane";
  auto said = [&] {
    Findings findings;
    check_installation(installation_of(command), findings);
    return findings.at(0).text;
  };
  EXPECT_EQ(said(), TERRANE_VERSION ", installation by hand; it may be moved (" + folder + ")");
  std::filesystem::create_directories(folder + "/share/terrane");
  std::ofstream(folder + "/share/terrane/installed_by") << "Debian package\n";
  EXPECT_EQ(said(), TERRANE_VERSION ", Debian package (" + folder + ")");
  std::ofstream(folder + "/CMakeCache.txt") << "";
  EXPECT_EQ(said(), TERRANE_VERSION ", build tree, not installed (" + folder + ")");
}

TEST(DoctorTest, AnotherInstallationInThePathIsNamed) {
  InstallationFacts facts = installation_of("/usr/bin/terrane");
  facts.other = "/opt/bin/terrane";
  Findings findings;
  check_installation(facts, findings);
  EXPECT_NE(findings.at(0).text.find("(/usr); PATH finds /opt/bin/terrane"), std::string::npos);
}

TEST(SystemTextTest, WordsAndNumbersAreFound) {
  EXPECT_EQ(chosen_word("always within_size [never] deny"), "never");
  EXPECT_EQ(chosen_word("no brackets"), "");
  EXPECT_EQ(first_line("no/such/file"), std::nullopt);
  EXPECT_EQ(number_in("/proc/self/comm"), std::nullopt) << "a name";
  EXPECT_TRUE(labelled("/proc/self/status", "Pid:").has_value());
}

}  // namespace
}  // namespace terrane::tools
