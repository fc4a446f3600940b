#include "platform/module_owners.h"

#include <gtest/gtest.h>

namespace terrane::platform {
namespace {

using enum ModuleOwner;

Module module(const char* name, std::vector<std::string> needed, const char* soname = "") {
  Module made;
  made.name = name;
  made.soname = soname;
  made.needed = std::move(needed);
  return made;
}

bool none(const Module&) { return false; }

TEST(ModuleOwnersTest, WhatTheProgramNeedsIsItsOwnWhateverItIsCalled) {
  EXPECT_EQ(
      owners_of({module("", {"libz.so.1", "libc.so.6"}),
                 module("libterrane_threads.so.0", {"libfmt.so.9", "libc.so.6"}),
                 module("libz.so.1.2", {"libevent.so.2"}, "libz.so.1"), module("libevent.so.2", {}),
                 module("libfmt.so.9", {}), module("libc.so.6", {})},
                none),
      (std::vector{kProgram, kTerrane, kProgram, kProgram, kTerrane, kLanguage}));
}

TEST(ModuleOwnersTest, WhatTerraneOpensIsItsOwnWithAllThatBelongsToIt) {
  EXPECT_EQ(owners_of({module("", {"libm.so.6"}), module("libucp.so.0", {"libucs.so.0"}),
                       module("libucs.so.0", {}), module("libuct_ib.so.0", {"libucs.so.0"}),
                       module("libm.so.6", {})},
                      [](const Module& one) { return one.name == "libucp.so.0"; }),
            (std::vector{kProgram, kTerrane, kTerrane, kTerrane, kLanguage}));
}

TEST(ModuleOwnersTest, WhatBothUseStaysPrivate) {
  EXPECT_EQ(owners_of({module("", {"libnuma.so.1"}), module("libnuma.so.1", {}),
                       module("libucp.so.0", {"libnuma.so.1"})},
                      [](const Module& one) { return one.name == "libucp.so.0"; }),
            (std::vector{kProgram, kBoth, kTerrane}));
}

TEST(ModuleOwnersTest, ALibraryWithoutDataOfItsOwnKeepsNothing) {
  Module made = module("libz.so.1", {});
  made.state_bytes = 24;  // the words of compilers
  EXPECT_TRUE(keeps_nothing(made));
  made.state_bytes = 2200;
  EXPECT_FALSE(keeps_nothing(made));
}

TEST(ModuleOwnersTest, TheDataOfALoadedLibraryAreCounted) {
  for (const Module& one : loaded_modules()) {
    if (one.name.starts_with("libc.")) {
      EXPECT_FALSE(keeps_nothing(one)) << one.state_bytes;
    }
    if (one.name.starts_with("libm.")) {
      EXPECT_TRUE(keeps_nothing(one)) << one.state_bytes;
    }
  }
}

TEST(ModuleOwnersTest, LibrariesThatTheProgramOpensOrItsUserPreloadsAreItsOwn) {
  EXPECT_EQ(owners_of({module("", {"libterrane_shmem.so.0"}), module("plugin.so", {"libpart.so"}),
                       module("libpart.so", {}), module("libterrane_shmem.so.0", {"libown.so"}),
                       module("libown.so", {})},
                      none),
            (std::vector{kProgram, kProgram, kProgram, kTerrane, kTerrane}));
}

TEST(ModuleOwnersTest, LibrariesThatComputeByThreadsOfTheirOwnAreTheNodes) {
  EXPECT_TRUE(is_node_library("/v/numpy.libs/libscipy_openblas64_-8fb3d286.so"));
  EXPECT_TRUE(is_node_library("/v/scikit_learn.libs/libgomp-e985bcbb.so.1.0.0"));
  EXPECT_TRUE(is_node_library("/usr/lib/x86_64-linux-gnu/libgomp.so.1"));
  EXPECT_TRUE(is_node_library("/usr/lib/llvm-16/lib/libomp.so.5"));
  EXPECT_FALSE(is_node_library("/usr/lib/terrane/omp/libgomp.so.1"));
  EXPECT_FALSE(is_node_library("/usr/lib/x86_64-linux-gnu/libtbb.so.12"));
}

}  // namespace
}  // namespace terrane::platform
