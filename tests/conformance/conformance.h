#pragma once

#include <gtest/gtest.h>

#include <string>

#include "forked_nodes.h"
#include "messages.h"

namespace terrane::conformance {

// What every transport must do, also for a job of one node.
class LoopbackTest : public ::testing::TestWithParam<std::string> {};
// What every transport for several nodes must do.
class PeersTest : public ::testing::TestWithParam<std::string> {};

}  // namespace terrane::conformance
