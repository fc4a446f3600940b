#include "waiting/processor_share.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace terrane::waiting {
namespace {

TEST(ProcessorShareTest, BoundNodesShareWithNobody) {
  platform::ProcessorSet first{1};
  platform::ProcessorSet second{2};
  ProcessorShare share = processor_share(first, std::array{first, second});
  EXPECT_EQ(share.nodes, 1u);
  EXPECT_EQ(share.processors, 1u);
}

TEST(ProcessorShareTest, FreeNodesShareAll) {
  platform::ProcessorSet all{0xf, 1};
  ProcessorShare share = processor_share(all, std::array{all, all, all});
  EXPECT_EQ(share.nodes, 3u);
  EXPECT_EQ(share.processors, 5u);
}

TEST(ProcessorShareTest, AFewInOneCornerAreCrowded) {
  platform::ProcessorSet corner{1};
  ProcessorShare share = processor_share(corner, std::array{corner, corner});
  EXPECT_GT(share.nodes, share.processors);
}

TEST(ProcessorShareTest, WhatIsUnknownStillIsOneNodeOnOneProcessor) {
  ProcessorShare share = processor_share({}, {});
  EXPECT_EQ(share.nodes, 1u);
  EXPECT_EQ(share.processors, 1u);
}

TEST(ProcessorShareTest, AMachineIsKnownByItsKernel) {
  EXPECT_EQ(machine_identity(), machine_identity());
  if (access("/proc/sys/kernel/random/boot_id", R_OK) == 0) {
    EXPECT_NE(machine_identity(), 0u);
  }
}

}  // namespace
}  // namespace terrane::waiting
