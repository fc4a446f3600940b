// What the commands of gdb in share/terrane/gdb.py say of a node's shared memory.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "../launcher/launched.h"

namespace terrane::cluster_test {
namespace {

const std::string kSecondPage = "(*(int**)&numbers + 1024)";

class DebuggedTest : public testing::Test {
 protected:
  void SetUp() override {
    bool installed = ::access("/usr/bin/gdb", X_OK) == 0;
    if (!installed) GTEST_SKIP() << "gdb is not installed (Debian: apt install gdb)";
    ASSERT_TRUE(job_.wait_for("is node ", 2)) << job_.out() << job_.err();
    std::size_t end = job_.out().find(" is node 0.");
    ASSERT_NE(end, std::string::npos);
    std::size_t line = job_.out().rfind('\n', end);
    line = line == std::string::npos ? 0 : line + 1;
    first_node_ = job_.out().substr(line, end - line);
  }
  ~DebuggedTest() override { ::kill(job_.pid(), SIGTERM); }

  // What gdb prints in node 0.
  std::string gdb(const std::vector<std::string>& commands) const {
    std::vector<std::string> words{"/usr/bin/gdb", "-batch", "-nx", "-q", "-x", GDB_SCRIPT};
    if (!first_node_.empty()) words.insert(words.end(), {"-p", first_node_});
    for (const std::string& command : commands) words.insert(words.end(), {"-ex", command});
    Outcome outcome = Launched(words).finish();
    return outcome.out + outcome.err;
  }

  void expect(const std::vector<std::string>& commands, std::initializer_list<std::string> texts) {
    std::string said = gdb(commands);
    for (const std::string& text : texts)
      EXPECT_NE(said.find(text), std::string::npos) << text << " is not in:\n" << said;
  }

 private:
  Launched job_{{kTerrane, "run", "-n", "2", "--predict=never", DEBUGGED_PROGRAM}, {}};
  std::string first_node_;
};

TEST_F(DebuggedTest, TheNodeAndItsPagesAreDescribed) {
  expect({"info terrane", "info terrane *(int**)&numbers"},
         {"node 0 of 2; shared memory from 0x", "present, its home (node 0 of 2)",
          "home: node 0 (this node)"});
  expect({"info terrane " + kSecondPage},
         {"not present here (node 0 of 2)", "home: node 1\n", "the home's bytes: x/16xb 0x"});
  expect({"info terrane *(int**)&numbers, 8192"}, {"home: node 0", "home: node 1"});
  expect({"info terrane &own"}, {"is private memory of this node, or none"});
}

TEST_F(DebuggedTest, ValuesAreReadWhereTheyAre) {
  expect({"print *$home_of(*(int**)&numbers)", "print *$home_of" + kSecondPage,
          "print *$home_of((int*)&own)"},
         {"$1 = 70", "$2 = 70", "$3 = 5"});
}

TEST_F(DebuggedTest, BadInputGetsASentence) {
  expect({"info terrane no_such_name"}, {"No symbol \"no_such_name\""});
  expect({"terrane fetch &own"}, {"is private memory of this node, or none"});
  expect({"terrane fetch"}, {"which address? For instance: info terrane &variable"});
}

TEST_F(DebuggedTest, AFetchedPageIsPresentOrGdbSaysWhyNot) {
  std::string said = gdb({"terrane fetch " + kSecondPage});
  bool refused = said.find("this gdb cannot call a function in the process now") != said.npos;
  if (refused) GTEST_SKIP() << said;
  EXPECT_NE(said.find("present, a copy"), std::string::npos) << said;
}

TEST(DebuggedProcessTest, OneWithoutTerraneIsSaidToBeNone) {
  Outcome outcome =
      Launched({"/usr/bin/gdb", "-batch", "-nx", "-q", "-x", GDB_SCRIPT, "-ex", "info terrane"})
          .finish();
  if (outcome.exit_code == 127) GTEST_SKIP() << "gdb is not installed";
  EXPECT_NE((outcome.out + outcome.err).find("no library of Terrane is in this process"),
            std::string::npos)
      << outcome.out << outcome.err;
}

}  // namespace
}  // namespace terrane::cluster_test
