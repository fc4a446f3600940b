#include "sim/random_predictor.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace terrane::sim {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(std::string(TERRANE_SOURCES "/") + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What the mechanism asks a predictor: its virtual functions that return something.
std::set<std::string> questions() {
  std::string text = text_of("protocol/predict/predictor.h");
  text.erase(0, text.find("class FullNodePredictor {"));
  std::set<std::string> names;
  std::regex question(R"(virtual (?!void)[\w:]+ (\w+)\()");
  for (std::sregex_iterator at(text.begin(), text.end(), question), end; at != end; ++at)
    names.insert((*at)[1]);
  return names;
}

TEST(RandomPredictorTest, AnswersEveryQuestionThatAPredictorIsAsked) {
  std::set<std::string> asked = questions();
  EXPECT_GE(asked.size(), 28u) << "the questions were not found";
  std::string answers = text_of("sim/random_predictor.h");
  for (const std::string& name : asked)
    EXPECT_TRUE(std::regex_search(answers, std::regex("\\b" + name + R"(\([^{]*override)")))
        << name;
}

TEST(RandomPredictorTest, DrawsNumbersUpToTheLargest) {
  bool none = false, few = false, many = false, largest = false, whole = false;
  for (std::uint64_t history = 0; history < 2'000; ++history) {
    RandomPredictor predictor(history, 0);
    for (int i = 0; i < 20; ++i) {
      std::uint64_t blocks = predictor.prefetch_before(5);
      none |= blocks == 0;
      few |= blocks > 0 && blocks < 6;
      many |= blocks >= 6 && blocks < 64;
      largest |= blocks > ~0ull >> 2;
    }
    whole |= predictor.homes_to_ask({}, 3, 9).end() < 3;  // beyond what there is
  }
  EXPECT_TRUE(none && few && many && largest && whole);
}

}  // namespace
}  // namespace terrane::sim
