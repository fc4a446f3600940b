#pragma once

#include <gtest/gtest.h>

#include <utility>

#include "transport/shm/area.h"
#include "transport/unique_fd.h"

namespace terrane::transport::shm {

// An inbound area of any shape for a test of one process.
inline Area make_test_area(AreaShape shape) {
  auto fd = platform::create_memfd(shape.bytes(), "test-area");
  EXPECT_TRUE(fd.ok());
  UniqueFd owned(fd.value());
  auto area = Area::map(owned.get(), shape);
  EXPECT_TRUE(area.ok());
  return std::move(area).value();
}

}  // namespace terrane::transport::shm
