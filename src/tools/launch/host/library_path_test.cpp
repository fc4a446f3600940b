#include "tools/launch/host/library_path.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/test_folder.h"

namespace terrane::tools {
namespace {

class LibraryPathTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ + "/lib");
    std::ofstream(folder_ + "/lib/libterrane.so.0") << "library";
  }

  ProgramFile program(const std::string& own_path) const {
    ProgramFile file;
    file.path = folder_ + "/bin/program";
    file.own_path = own_path;
    file.terrane_libraries.emplace_back("libterrane.so.0");
    return file;
  }
  base::TestFolder of_test_;
  const std::string& folder_ = of_test_.path();
};

TEST_F(LibraryPathTest, AProgramWithoutAPathGetsTheInstallation) {
  EXPECT_EQ(library_path(program(""), "", "/opt/terrane/lib"), "/opt/terrane/lib");
  EXPECT_EQ(library_path(program("/none"), "/a:/b", "/opt/lib"), "/a:/b:/opt/lib");
  EXPECT_EQ(library_path(ProgramFile{}, "/a", "/opt/lib"), "/a:/opt/lib");  // a script
}

TEST_F(LibraryPathTest, AProgramThatFindsItsLibrariesKeepsItsPath) {
  EXPECT_EQ(library_path(program("/none:" + folder_ + "/lib"), "/a", "/opt/lib"), "/a");
  EXPECT_EQ(library_path(program("$ORIGIN/../lib"), "", "/opt/lib"), "/opt/lib");  // no bin yet
  std::filesystem::create_directories(folder_ + "/bin");
  EXPECT_EQ(library_path(program("$ORIGIN/../lib"), "", "/opt/lib"), "");
  EXPECT_EQ(library_path(program("${ORIGIN}/../lib"), "", "/opt/lib"), "");
  EXPECT_EQ(library_path(program(""), folder_ + "/lib", "/opt/lib"), folder_ + "/lib");
  ProgramFile both = program(folder_ + "/lib");
  both.terrane_libraries.emplace_back("libterrane_chunks.so.0");  // which is not there
  EXPECT_EQ(library_path(both, "", "/opt/lib"), "/opt/lib");
}

TEST_F(LibraryPathTest, NothingIsAddedTwiceOrFromNowhere) {
  EXPECT_EQ(library_path(program(""), "/opt/lib:/a", "/opt/lib"), "/opt/lib:/a");
  EXPECT_EQ(library_path(program(""), "/a", ""), "/a");
}

}  // namespace
}  // namespace terrane::tools
