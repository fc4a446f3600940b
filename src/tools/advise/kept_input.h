#pragma once

#include <memory>
#include <string>
#include <thread>

#include "base/result.h"
#include "base/unique_fd.h"

namespace terrane::tools::advise {

// This process's standard input for two programs, one after the other. The first one gets it as it
// comes, and what it has got is kept in a file for the second. A terminal is given to both as it
// is, and a file from the same place on.
class KeptInput {
 public:
  // `path`: of the file. An error if there can be no file.
  static base::Result<std::unique_ptr<KeptInput>> begin(const std::string& path);
  ~KeptInput() { stop(); }
  KeptInput(const KeptInput&) = delete;

  // What the first program is to read. It is still open here when that program has ended.
  int first() const { return first_; }
  // The first program has ended: what the second one is to read.
  int again();

 private:
  KeptInput() = default;
  base::Result<> pump_to(const std::string& path);
  void pump(int to);
  void stop();

  int first_ = 0, again_ = 0;
  base::UniqueFd file_, read_end_, write_end_, stop_;
  std::thread pump_;
};

}  // namespace terrane::tools::advise
