#include "frontend/shmem/checks.h"

#include <cstdlib>
#include <string_view>

namespace terrane::frontend::shmem {

namespace {

bool asked_for() {
  const char* check = std::getenv("TERRANE_CHECK");
  if (check != nullptr && std::string_view(check) == "shmem") return true;
  for (const char* name : {"SHMEM_DEBUG", "SMA_DEBUG"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0' && std::string_view(value) != "0") return true;
  }
  return false;
}

}  // namespace

bool checks_calls() noexcept {
  static const bool asked = asked_for();
  return asked;
}

}  // namespace terrane::frontend::shmem
