#include "transport/parcel.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace terrane::transport {
namespace {

TEST(ParcelTest, AParcelHasRoomForItsMessageAndIsAligned) {
  ParcelPool pool;
  for (std::size_t bytes : {0u, 1u, 8000u, 8192u, 100'000u}) {
    Parcel* parcel = pool.take(bytes);
    EXPECT_EQ(parcel->bytes, bytes);
    EXPECT_GE(parcel->capacity, bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(parcel->data()) % 16, 0u);
    std::memset(parcel->data(), 1, bytes);
    pool.give(parcel);
  }
}

TEST(ParcelTest, WhatComesBackIsUsedAgain) {
  ParcelPool pool;
  for (std::size_t bytes : {100u, 1u << 20}) {
    Parcel* first = pool.take(bytes);
    pool.give(first);
    Parcel* second = pool.take(bytes);
    EXPECT_EQ(first, second);
    pool.give(second);
  }
}

TEST(ParcelTest, AListKeepsItsOrder) {
  ParcelPool pool;
  ParcelList list;
  for (std::size_t bytes = 1; bytes <= 3; ++bytes) list.push(pool.take(bytes));
  for (std::size_t bytes = 1; bytes <= 3; ++bytes) {
    Parcel* parcel = list.pop();
    EXPECT_EQ(parcel->bytes, bytes);
    pool.give(parcel);
  }
  EXPECT_TRUE(list.empty());
}

TEST(ParcelTest, ASizeThatNoMachineHasIsNoCrash) {
  ParcelPool pool;
  EXPECT_EQ(pool.try_take(SIZE_MAX), nullptr);
}

}  // namespace
}  // namespace terrane::transport
