#pragma once

#include <map>
#include <string>

#include "tools/top/rates.h"

namespace terrane::tools::top {

// Names blocks of the heap by the source line of their allocation, which nodes tell as an address
// of the program's file ("kmeans:0x1136+0x2000"). Asks addr2line(1) where it is installed and the
// file is here, once for each address.
class SourceLines {
 public:
  void name(JobRates& job);

 private:
  std::string line_of(const std::string& file, const std::string& address);

  std::map<std::string, std::string> known_;  // by address; empty: no line is known
};

}  // namespace terrane::tools::top
