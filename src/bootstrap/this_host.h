#pragma once

#include <unistd.h>

#include <string>

namespace terrane::bootstrap {

inline std::string this_hosts_name() {
  char name[256] = "localhost";
  ::gethostname(name, sizeof name - 1);
  name[sizeof name - 1] = '\0';
  return name;
}

}  // namespace terrane::bootstrap
