#include "options.h"

#include <gtest/gtest.h>

#include <vector>

namespace lu {
namespace {

Outcome<Options> parse(std::vector<std::string> words) {
  words.insert(words.begin(), "lu");
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return parse_options(static_cast<int>(words.size()), argv.data());
}

void expect_refused(const std::vector<std::string>& words, const std::string& what) {
  const Outcome<Options> outcome = parse(words);
  ASSERT_FALSE(outcome.ok());
  EXPECT_NE(outcome.sentence().find(what), std::string::npos) << outcome.sentence();
}

TEST(LuOptionsTest, EveryOptionIsTaken) {
  const Outcome<Options> outcome =
      parse({"--generate", "90", "--density=0.25", "--seed", "4", "--rhs", "b", "--write", "w",
             "--output", "x", "--threads", "3", "--compare"});
  ASSERT_TRUE(outcome.ok()) << outcome.sentence();
  const Options& options = outcome.value();
  EXPECT_EQ(options.generate, 90u);
  EXPECT_EQ(options.density, 0.25);
  EXPECT_EQ(options.seed, 4u);
  EXPECT_EQ(options.rhs + options.write + options.output, "bwx");
  EXPECT_EQ(options.threads, 3u);
  EXPECT_TRUE(options.compare);
}

TEST(LuOptionsTest, ExactlyOneMatrixIsWanted) {
  EXPECT_EQ(parse({"a.mtx"}).value().matrix, "a.mtx");
  EXPECT_TRUE(parse({"--help"}).ok());
  expect_refused({}, "no matrix named");
  expect_refused({"a", "b"}, "'b' is one too many");
  expect_refused({"--generate", "4", "a"}, "one matrix at a time");
}

TEST(LuOptionsTest, WrongValuesAndOptionsAreNamed) {
  expect_refused({"--generate", "0"}, "'0' is no value for --generate");
  expect_refused({"--generate", "20001"}, "'20001'");
  expect_refused({"--density", "1.5", "a"}, "'1.5'");
  expect_refused({"--threads", "x", "a"}, "'x' is no value for --threads");
  expect_refused({"--pivot", "a"}, "unknown option '--pivot'");
  expect_refused({"a", "--seed"}, "'--seed' needs a value");
}

}  // namespace
}  // namespace lu
