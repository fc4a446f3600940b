#pragma once

#include <gtest/gtest.h>

#include <string>

namespace terrane::cluster_test {

// For claims about every fault source: TERRANE_FAULT_SOURCE's values, and what such a test is
// called.
inline auto every_fault_source() {
  return testing::Values("uffd-async", "uffd-sync", "uffd-late", "sigsegv");
}
inline std::string fault_source_name(const testing::TestParamInfo<const char*>& info) {
  std::string name(info.param);
  return name.substr(name.find('-') + 1);  // behind "uffd-"
}

}  // namespace terrane::cluster_test
