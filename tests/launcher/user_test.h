#pragma once

#include <gtest/gtest.h>

#include "launched.h"

namespace terrane::cluster_test {

// Tests that run once as the user at hand and, where that is root, once more as nobody.
class UserTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!GetParam()) return;
    if (!is_root()) GTEST_SKIP() << "only root can become another user";
    Outcome probe = Launched({kTerrane, "--version"}, {.as_nobody = true}).finish();
    if (probe.exit_code != 0) GTEST_SKIP() << "nobody may not run " << kTerrane;
  }

  Launched::Options options() const { return {.as_nobody = GetParam()}; }
  Outcome run_job(const std::string& run_options, const std::string& actions) const {
    return run(run_options, actions, options());
  }
};

inline testing::AssertionResult holds(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "\"" << part << "\" is not in \"" << text << "\"";
}

inline std::string user_name(const testing::TestParamInfo<bool>& info) {
  return info.param ? "AsNobody" : "AsTheUser";
}

}  // namespace terrane::cluster_test

#define TERRANE_FOR_BOTH_USERS(suite) \
  INSTANTIATE_TEST_SUITE_P(Users, suite, testing::Bool(), user_name)
