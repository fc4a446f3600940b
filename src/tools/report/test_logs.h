#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "base/test_folder.h"
#include "runtime/trace/event_log.h"

namespace terrane::tools::report {

// Tests with event logs in a folder of their own, which goes with them.
class LogTest : public testing::Test {
 protected:
  std::unique_ptr<runtime::trace::EventLog> create(std::uint32_t node = 0,
                                                   std::uint32_t nodes = 2) {
    auto log = runtime::trace::EventLog::create(
        {.folder = folder_, .node = NodeId{node}, .nodes = nodes, .host = "somewhere"});
    EXPECT_TRUE(log.ok()) << log.error().message;
    return std::move(log).value();
  }

  base::TestFolder of_test_;
  const std::string& folder_ = of_test_.path();
};

}  // namespace terrane::tools::report
