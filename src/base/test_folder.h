#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace terrane::base {

// A folder of one test, which goes with this object. Tests run at once, each in a process of its
// own: what has a fixed name, another test writes or removes.
class TestFolder {
 public:
  TestFolder() : TestFolder(std::filesystem::temp_directory_path().string()) {}
  // In a folder that is there.
  explicit TestFolder(const std::string& within) : path_(within + "/terrane_test_XXXXXX") {
    if (::mkdtemp(path_.data()) != nullptr) return;
    std::perror(path_.c_str());
    std::abort();
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& path() const { return path_; }
  // The path of a file in it.
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace terrane::base
