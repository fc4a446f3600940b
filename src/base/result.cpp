#include "base/result.h"

#include <cerrno>
#include <cstring>

namespace terrane::base {

Error errno_error(std::string_view what) {
  int saved = errno;
  return Error{fmt::format("{}: {}", what, std::strerror(saved))};
}

}  // namespace terrane::base
