// What the nodes of a host and its engine tell each other where another launcher started them: the
// order, and the secret's text.
#include "base/check.h"
#include "bootstrap/adoption.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_writer.h"

namespace terrane::fuzz {

void run_one(std::span<const std::byte> input) {
  std::vector<std::byte> exact(input.begin(), input.end());
  auto order = bootstrap::decode_order(exact);
  if (order) {
    TERRANE_CHECK(bootstrap::encode_order(*order) == exact,
                  "an order that is taken has one reading");
    TERRANE_CHECK(order->host < order->map.names.size(), "the host is one of the map");
  }
  std::string text(reinterpret_cast<const char*>(exact.data()), exact.size());
  if (auto secret = bootstrap::secret_of(text)) {
    TERRANE_CHECK(bootstrap::secret_of(bootstrap::to_text(*secret)) == secret,
                  "a secret's text has one reading");
  }
}

std::vector<Input> seeds() {
  bootstrap::AdoptionOrder order;
  order.map = {{"alpha", "beta"}, {0, 0, 1}};
  order.host = 1;
  order.secret.fill(std::byte{0x3c});
  Input first = bootstrap::encode_order(order);
  order.hub = "10.77.0.1:4711 0123456789abcdef";
  return {first, bootstrap::encode_order(order),
          InputWriter().text(bootstrap::to_text(order.secret)).input()};
}

}  // namespace terrane::fuzz
