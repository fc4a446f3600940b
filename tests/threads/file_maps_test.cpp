// Files that a program maps: every node maps them, so their bytes are no memory of the job.
#include <unistd.h>

#include <csignal>

#include "beside_plain.h"

namespace terrane::test_hosts {
namespace {

// In the build folder, which every host sees; the program removes it.
std::string command(const std::string& way, int mib) {
  static int number = 0;
  return fmt::format("{} {} {}/file_maps_{}_{} {}", PROGRAM, way, TEST_HOSTS_BUILD, ::getpid(),
                     ++number, mib);
}

TEST(FileMapsTest, AFileThatIsReadMayBeLargerThanAllNodes) {
  for (const char* options : {"-n 1 --memory 16M", "-n 2 --memory 16M --placement 1",
                              "-n 3 --memory 16M --placement cyclic"})
    expect_good(options, command("parts", 64));
  expect_good("-n 2 --placement 1 --fault-source sigsegv", command("parts", 8));
}

TEST(FileMapsTest, ASharedMappingIsWrittenByAllNodesOfAKernel) {
  for (const char* options : {"-n 1", "-n 2 --memory 16M --placement 1", "-n 4 --placement 1"}) {
    expect_good(options, command("writes", 48));
    expect_good(options, command("unnamed", 4));
  }
}

TEST(FileMapsTest, StoresToAPrivateMappingAreTheProgramsAndDoNotReachTheFile) {
  for (const char* options : {"-n 1", "-n 2 --placement 1", "-n 3 --memory 32M --placement 1"})
    expect_good(options, command("copies", 24));
}

TEST(FileMapsTest, ATruncatedFileEndsTheJobAsOnOneMachine) {
  std::string program = command("truncated", 4);
  EXPECT_EQ(finish(plain(program)).exit_code, 128 + SIGBUS);
  Outcome outcome = finish(threads("-n 2 --placement 1", program));
  EXPECT_EQ(outcome.exit_code, 128 + SIGBUS) << outcome.err;
  EXPECT_NE(outcome.err.find("SIGBUS for address 0x6"), std::string::npos) << outcome.err;
}

TEST(FileMapsTest, RightsToWriteAreRefusedWhereNodesHaveTheirOwn) {
  Outcome outcome = finish(threads("-n 2 --placement 1", command("parts", 4)));
  EXPECT_NE(outcome.err.find("map it with PROT_WRITE. The call fails with EACCES"),
            std::string::npos)
      << outcome.err;
}

class FileMapsHostsTest : public GoodOnHosts {};

TEST_F(FileMapsHostsTest, HostsThatSeeTheFileMapIt) {
  for (const char* way : {"parts", "writes", "copies"}) expect_good_on_hosts(command(way, 16));
}

TEST_F(FileMapsHostsTest, WhereAHostDoesNotSeeItMainsBytesAreRead) {
  expect_good_on_hosts(fmt::format("{} reads /tmp/file_maps 8", PROGRAM));
}

TEST_F(FileMapsHostsTest, WhatWasReadAtTheCallDoesNotGrowByZeros) {
  if (!make_hosts({.hosts = 2})) return;
  std::string program = fmt::format("{} parts /tmp/file_maps 8", PROGRAM);
  Outcome outcome = launch(0, threads("-H h0,h1 --placement 1", program)).finish();
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out;
  EXPECT_NE(outcome.out.find("mremap: Cannot allocate memory"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.err.find("mremap of a file whose bytes were copied"), std::string::npos)
      << outcome.err;
}

}  // namespace
}  // namespace terrane::test_hosts
