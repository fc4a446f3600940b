#include "transport/ucx/card.h"

#include <unistd.h>

#include <cstring>

namespace terrane::transport::ucx {
namespace {

constexpr std::uint32_t kVersion = 1;

struct Fixed {
  std::uint32_t version;
  std::uint32_t address_bytes;
  std::uint64_t token;
};
static_assert(sizeof(Fixed) == 16);

}  // namespace

Card UcxCard::encode() const {
  Fixed fixed{kVersion, static_cast<std::uint32_t>(address.size()), token};
  Card card;
  card.bytes.resize(sizeof fixed + address.size());
  std::memcpy(card.bytes.data(), &fixed, sizeof fixed);
  std::memcpy(card.bytes.data() + sizeof fixed, address.data(), address.size());
  return card;
}

base::Result<UcxCard> UcxCard::decode(const Card& card) {
  for (int fd : card.fds) ::close(fd);
  Fixed fixed{};
  if (card.bytes.size() < sizeof fixed) return base::error("{} bytes only", card.bytes.size());
  std::memcpy(&fixed, card.bytes.data(), sizeof fixed);
  if (fixed.version != kVersion) {
    return base::error("version {} instead of {}: all nodes must run the same Terrane",
                       fixed.version, kVersion);
  }
  if (fixed.address_bytes == 0 || card.bytes.size() != sizeof fixed + fixed.address_bytes) {
    return base::error("an address of {} bytes in {} bytes", fixed.address_bytes,
                       card.bytes.size());
  }
  return UcxCard{fixed.token, {card.bytes.begin() + sizeof fixed, card.bytes.end()}};
}

}  // namespace terrane::transport::ucx
