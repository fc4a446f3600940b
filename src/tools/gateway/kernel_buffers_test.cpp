#include "tools/gateway/kernel_buffers.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/test_folder.h"

namespace terrane::tools {
namespace {

class KernelBuffersTest : public testing::Test {
 protected:
  void set(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }

  base::TestFolder folder_;
};

TEST_F(KernelBuffersTest, AreLargeEnoughWithoutFigures) {
  set("tcp_rmem", "4096\t131072\t6291456\n");
  set("tcp_wmem", "4096\t16384\t4194304\n");
  EXPECT_EQ(small_buffers(4 << 20, folder_.path()), std::nullopt);
}

TEST_F(KernelBuffersTest, AreTooSmallForALongAndFastLink) {
  set("tcp_rmem", "4096\t131072\t6291456\n");
  set("tcp_wmem", "4096\t16384\t64000000\n");
  EXPECT_EQ(
      small_buffers(18'750'000, folder_.path()),
      "a pair of nodes has up to 12.5 MB on its way between clusters, and the kernel's buffers of "
      "a "
      "connection are too small for that; sysctl -w net.ipv4.tcp_rmem='4096 131072 25000000'");
}

TEST_F(KernelBuffersTest, ThatAreNotKnownAreNotSpokenOf) {
  EXPECT_EQ(small_buffers(64 << 20, folder_.path()), std::nullopt);
}

}  // namespace
}  // namespace terrane::tools
