// The example that loads a file by all hosts, beside its run without Terrane.
#include <unistd.h>

#include <fstream>

#include "beside_plain.h"

namespace terrane::test_hosts {
namespace {

const std::string kProgram = PROGRAM;

// A text of so many MiB in the build folder, which every host sees; removed at the end.
class Text {
 public:
  explicit Text(int mib) {
    std::ofstream file(name_);
    std::uint64_t random = 1;
    for (std::string line; mib > 0; --mib) {
      for (int bytes = 0; bytes < 1 << 20; bytes += static_cast<int>(line.size())) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        line = std::string(random >> 62, ' ') + std::string((random >> 56) % 9, 'a') + " some" +
               std::string((random >> 48) % 5, '\n') + std::string((random >> 40) % 64, 'b');
        file << line;
      }
    }
  }
  ~Text() { ::unlink(name_.c_str()); }
  Text(const Text&) = delete;

  const std::string& name() const { return name_; }

 private:
  std::string name_ = TEST_HOSTS_BUILD "/load_test_" + std::to_string(::getpid()) + ".txt";
};

TEST(LoadTest, AFileLargerThanANodeHasTheCountsOfWc) {
  Text text(48);
  std::string program = kProgram + " " + text.name() + " 3 ";
  Outcome alone = finish(plain(program + "all"));
  std::istringstream wc(finish({"sh", "-c", "LC_ALL=C wc < " + text.name()}).out);
  std::string lines, words, bytes;
  wc >> lines >> words >> bytes;
  EXPECT_EQ(alone.out, lines + " lines, " + words + " words, " + bytes + " bytes\n");
  for (const char* who : {"all", "main"}) {
    Outcome together = finish(threads("-n 2 --memory 32M", program + who));
    EXPECT_EQ(together.exit_code, 0) << together.err;
    EXPECT_EQ(together.out, alone.out) << together.err;
  }
}

TEST(LoadTest, ItDoesWithAnyNumberOfNodesAndEachFaultSource) {
  Text text(8);
  std::string program = kProgram + " " + text.name();
  Outcome alone = finish(plain(program));
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  for (const char* options :
       {"-n 1", "-n 2 --placement cyclic", "-n 3 --placement 1 --fault-source uffd-async",
        "-n 2 --fault-source uffd-sync", "-n 2 --fault-source sigsegv"})
    EXPECT_EQ(finish(threads(options, program)).out, alone.out) << options;
}

TEST(LoadTest, BadArgumentsAreSaid) {
  EXPECT_EQ(finish(plain(kProgram)).exit_code, 2);
  EXPECT_EQ(finish(plain(kProgram + " x 2 some")).exit_code, 2);
  Outcome missing = finish(plain(kProgram + " /nowhere"));
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_EQ(missing.err, "load: /nowhere: No such file or directory\n");
}

class LoadHostsTest : public OnHosts {};

TEST_F(LoadHostsTest, AFileLargerThanAHost) {
  if (!make_hosts({.hosts = 2})) return;
  Text text(48);
  std::string program = kProgram + " " + text.name();
  Outcome outcome = launch(0, threads("-H h0,h1 --memory 32M", program)).finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, finish(plain(program)).out) << outcome.err;
}

TEST_F(LoadHostsTest, WhereAHostSeesAnotherFileOrNoneMainsIsRead) {
  if (!make_hosts({.hosts = 2})) return;
  Text text(8);
  ASSERT_EQ(shell(0, "cp " + text.name() + " /tmp/text").exit_code, 0);
  std::string right = finish(plain(kProgram + " " + text.name())).out;
  for (const char* there : {"true", "echo another > /tmp/text"}) {
    ASSERT_EQ(shell(1, there).exit_code, 0);
    Outcome outcome = launch(0, threads("-H h0,h1", kProgram + " /tmp/text 4")).finish();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, right) << outcome.err;
  }
}

}  // namespace
}  // namespace terrane::test_hosts
