// One file that threads of all nodes write, line by line under a mutex: what is in it is what a
// process alone would have written.
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "base/test_folder.h"
#include "beside_plain.h"

namespace terrane::test_hosts {
namespace {

const std::string kProgram = PROGRAM;
constexpr const char* kWays[] = {"lines",        "parts",        "looks",
                                 "reopens",      "main_too",     "overwrites",
                                 "never_closed", "thread_exits", "by_lines"};

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::remove(path.c_str());
  return text;
}

std::string own_file() {
  static const base::TestFolder folder;
  return folder / "file";
}

void expect_as_plain(const std::string& way, const Outcome& outcome, const std::string& text,
                     const std::string& lines = "") {
  std::string file = own_file() + "_plain";
  Outcome expected = finish(plain(kProgram + " " + way + " " + file + lines));
  EXPECT_EQ(outcome.exit_code, expected.exit_code) << way << ": " << outcome.err;
  EXPECT_TRUE(text == contents(file)) << way << ": " << text.size() << " bytes";
}

void expect_as_plain(const std::string& options, const std::string& way) {
  SCOPED_TRACE(options);
  std::string file = own_file();
  Outcome outcome = finish(threads(options, kProgram + " " + way + " " + file));
  expect_as_plain(way, outcome, contents(file));
}

TEST(MainFileTest, LinesOfAllNodesStandInTheirOrder) {
  for (const char* way : kWays) expect_as_plain("-n 2 --placement 1", way);
  for (const char* options : {"-n 1", "-n 3 --placement 1"})
    for (const char* way : {"lines", "looks", "reopens", "main_too"}) expect_as_plain(options, way);
}

TEST(MainFileTest, TheyDoWithEveryFaultSource) {
  for (const char* source : {"uffd-async", "uffd-sync", "sigsegv"})
    expect_as_plain(std::string("-n 2 --placement 1 --fault-source ") + source, "main_too");
}

TEST(MainFileTest, AnErrorIsThatOfTheStream) {
  for (const char* options : {"-n 1", "-n 2 --placement 1"}) {
    Outcome outcome = finish(threads(options, kProgram + " error /dev/full"));
    EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
    EXPECT_EQ(finish(threads(options, kProgram + " lines /dev/full")).exit_code, 6);
  }
}

class MainFileHostsTest : public OnHosts {};

TEST_F(MainFileHostsTest, TheyDoOnTwoHosts) {
  if (!make_hosts({.hosts = 2})) return;
  for (const char* way : {"lines", "looks", "main_too"}) {
    // A name is looked up on the host of the thread that asks, so all hosts see the file.
    std::string file = TEST_HOSTS_BUILD "/terrane_main_file_" + std::to_string(::getpid());
    std::string program = kProgram + " " + way + " " + file + " 500";
    Outcome outcome = launch(0, threads("--heartbeat 20 -H h0,h1 --placement 1", program)).finish();
    expect_as_plain(way, outcome, contents(file), " 500");
  }
}

}  // namespace
}  // namespace terrane::test_hosts
