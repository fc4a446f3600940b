#include "membership/membership.h"

#include "membership/place.h"

namespace terrane::membership {

base::Result<std::unique_ptr<bootstrap::Bootstrap>> join() {
  static auto* place = new Place(bootstrap::Bootstrap::connect);  // threads outlive main()
  return place->join();
}

}  // namespace terrane::membership
