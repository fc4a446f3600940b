#include "options.h"

#include <gtest/gtest.h>

namespace restore {
namespace {

Outcome<Options> parse(std::vector<std::string> words) {
  words.insert(words.begin(), "restore");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return parse_options(static_cast<int>(words.size()), argv.data());
}

void expect_refused(const std::vector<std::string>& words, const std::string& what) {
  const Outcome<Options> outcome = parse(words);
  ASSERT_FALSE(outcome.ok());
  EXPECT_NE(outcome.sentence().find(what), std::string::npos) << outcome.sentence();
}

TEST(OptionsTest, EveryOptionIsTaken) {
  const Outcome<Options> outcome =
      parse({"--damage", "42", "--mask=m.png", "--output", "out", "--threads", "3", "--tolerance",
             "0.5", "--check-every", "7", "--iterations", "90", "photo.png"});
  ASSERT_TRUE(outcome.ok()) << outcome.sentence();
  const Options& options = outcome.value();
  EXPECT_EQ(options.seed, 42u);
  EXPECT_EQ(options.mask, "m.png");
  EXPECT_EQ(options.output, "out");
  EXPECT_EQ(options.threads, 3u);
  EXPECT_EQ(options.solver.tolerance, 0.5);
  EXPECT_EQ(options.solver.check_every, 7u);
  EXPECT_EQ(options.solver.max_iterations, 90u);
  EXPECT_EQ(options.photograph, "photo.png");
}

TEST(OptionsTest, HelpNeedsNoPhotograph) {
  const Outcome<Options> outcome = parse({"--help"});
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome.value().help);
}

TEST(OptionsTest, UnknownOptionsAreNamed) {
  expect_refused({"--brighten", "photo.png"}, "unknown option '--brighten'");
  expect_refused({"-x", "photo.png"}, "unknown option '-x'");
}

TEST(OptionsTest, MissingAndImpossibleValuesAreNamed) {
  expect_refused({"photo.png", "--mask"}, "'--mask' needs a value");
  expect_refused({"--threads", "0", "photo.png"}, "'0' is no value for --threads");
  expect_refused({"--threads", "257", "photo.png"}, "'257' is no value for --threads");
  expect_refused({"--damage", "-1", "photo.png"}, "'-1' is no value for --damage");
  expect_refused({"--damage", "seven", "photo.png"}, "'seven'");
  expect_refused({"--tolerance", "nan", "photo.png"}, "'nan'");
  expect_refused({"--iterations", "1e3", "photo.png"}, "'1e3'");
  expect_refused({"--check-every", "0", "photo.png"}, "'0'");
}

TEST(OptionsTest, ExactlyOnePhotographIsWanted) {
  expect_refused({}, "no photograph");
  expect_refused({"a.png", "b.png"}, "'b.png' is one too many");
}

}  // namespace
}  // namespace restore
