// What the front-ends find in libterrane_runtime.

#include "membership/membership.h"
#include "membership/place.h"

namespace terrane::membership {

Descriptors& own_descriptors() noexcept {
  static constinit Descriptors own;
  return own;
}

base::Result<std::unique_ptr<bootstrap::Bootstrap>> find_place() {
  guard_descriptors();
  static auto* place = new Place(bootstrap::Bootstrap::connect);  // threads outlive main()
  return place->join();
}

}  // namespace terrane::membership
