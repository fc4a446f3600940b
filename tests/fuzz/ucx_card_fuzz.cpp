// Cards of the ucx transport that any process of the job may have sent, with any descriptors.
#include <fcntl.h>

#include "base/check.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_reader.h"
#include "fuzz/input_writer.h"
#include "transport/ucx/card.h"

namespace terrane::fuzz {

void run_one(std::span<const std::byte> input) {
  InputReader reader(input);
  transport::Card card;
  for (std::uint32_t fds = reader.below(3); fds > 0; --fds) {
    card.fds.push_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  std::span<const std::byte> rest = reader.rest();
  card.bytes.assign(rest.begin(), rest.end());
  auto decoded = transport::ucx::UcxCard::decode(card);
  if (!decoded) return;
  TERRANE_CHECK(decoded.value().encode().bytes == card.bytes,
                "a card that is taken has one reading");
}

std::vector<Input> seeds() {
  std::vector<Input> all;
  for (std::size_t size : {1, 40, 300}) {
    transport::ucx::UcxCard card{0x1234567890abcdef, std::vector<std::byte>(size, std::byte{3})};
    all.push_back(InputWriter().byte(0).raw(card.encode().bytes).input());
    card.regions.push_back({1 << 20, 0x7f0000000000, std::vector<std::byte>(size, std::byte{5})});
    card.regions.push_back({4096, 0, {}});
    all.push_back(InputWriter().byte(0).raw(card.encode().bytes).input());
  }
  return all;
}

}  // namespace terrane::fuzz
