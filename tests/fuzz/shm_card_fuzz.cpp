// Cards of the shm transport that any process of the job may have sent, with any descriptors.
#include <fcntl.h>
#include <unistd.h>

#include "base/check.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_reader.h"
#include "fuzz/input_writer.h"
#include "transport/shm/card.h"

namespace terrane::fuzz {

void run_one(std::span<const std::byte> input) {
  InputReader reader(input);
  transport::Card card;
  for (std::uint32_t fds = reader.below(6); fds > 0; --fds) {
    card.fds.push_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  std::span<const std::byte> rest = reader.rest();
  card.bytes.assign(rest.begin(), rest.end());
  std::vector<std::byte> before = card.bytes;
  auto decoded = transport::shm::ShmCard::decode(std::move(card));
  if (!decoded) return;
  transport::Card again = std::move(decoded).value().encode();
  TERRANE_CHECK(again.bytes == before, "a card that is taken has one reading");
  for (int fd : again.fds) ::close(fd);
}

std::vector<Input> seeds() {
  std::vector<Input> all;
  for (std::uint32_t regions : {0u, 1u, 3u}) {
    transport::shm::ShmCard card;
    card.pid = 4711;
    card.shape = transport::shm::AreaShape::for_job(4);
    for (std::uint32_t i = 0; i < regions; ++i) card.regions.push_back({{}, 4096u << i});
    transport::Card encoded = std::move(card).encode();
    all.push_back(InputWriter().byte(1 + regions).raw(encoded.bytes).input());
  }
  return all;
}

}  // namespace terrane::fuzz
