#include "transport/ucx/card.h"

#include <unistd.h>

#include <array>
#include <cstring>

namespace terrane::transport::ucx {
namespace {

constexpr std::uint32_t kVersion = 3;

struct Fixed {
  std::uint32_t version;
  std::uint32_t address_bytes;
  std::uint64_t token;
  std::uint64_t regions;
  std::uint64_t places;
  std::array<std::byte, 32> door_word;
};
static_assert(sizeof(Fixed) == 64);

struct FixedRegion {
  std::uint64_t bytes;
  std::uint64_t base;
  std::uint64_t key_bytes;
};
static_assert(sizeof(FixedRegion) == 24);

void append(std::vector<std::byte>& to, const void* from, std::size_t bytes) {
  std::size_t before = to.size();
  to.resize(before + bytes);
  if (bytes != 0) std::memcpy(to.data() + before, from, bytes);
}

// Takes pieces off the front of a card's bytes.
class Pieces {
 public:
  explicit Pieces(Bytes left) : left_(left) {}

  bool take(void* into, std::size_t bytes) {
    if (bytes > left_.size()) return false;
    std::memcpy(into, left_.data(), bytes);
    left_ = left_.subspan(bytes);
    return true;
  }
  bool take(std::vector<std::byte>& into, std::uint64_t bytes) {
    if (bytes > left_.size()) return false;
    into.assign(left_.begin(), left_.begin() + static_cast<std::ptrdiff_t>(bytes));
    left_ = left_.subspan(bytes);
    return true;
  }
  std::size_t left() const { return left_.size(); }

 private:
  Bytes left_;
};

bool take_region(Pieces& pieces, UcxCard::Region& region) {
  FixedRegion fixed{};
  if (!pieces.take(&fixed, sizeof fixed)) return false;
  region.bytes = fixed.bytes;
  region.base = fixed.base;
  return fixed.bytes <= UINT64_MAX - fixed.base && pieces.take(region.key, fixed.key_bytes);
}

}  // namespace

Card UcxCard::encode() const {
  Fixed fixed{kVersion,
              static_cast<std::uint32_t>(address.size()),
              token,
              regions.size(),
              door.places.size(),
              door.word};
  Card card;
  append(card.bytes, &fixed, sizeof fixed);
  append(card.bytes, address.data(), address.size());
  append(card.bytes, door.places.data(), door.places.size() * sizeof(DoorPlace));
  for (const Region& region : regions) {
    FixedRegion one{region.bytes, region.base, region.key.size()};
    append(card.bytes, &one, sizeof one);
    append(card.bytes, region.key.data(), region.key.size());
  }
  return card;
}

base::Result<UcxCard> UcxCard::decode(const Card& card) {
  for (int fd : card.fds) ::close(fd);
  Pieces pieces(card.bytes);
  Fixed fixed{};
  if (!pieces.take(&fixed, sizeof fixed)) return base::error("{} bytes only", card.bytes.size());
  if (fixed.version != kVersion) {
    return base::error("version {} instead of {}: all nodes must run the same Terrane",
                       fixed.version, kVersion);
  }
  UcxCard decoded;
  decoded.token = fixed.token;
  decoded.door.word = fixed.door_word;
  bool whole = fixed.address_bytes != 0 && pieces.take(decoded.address, fixed.address_bytes);
  for (std::uint64_t i = 0; whole && i < fixed.places; ++i) {
    whole = pieces.take(&decoded.door.places.emplace_back(), sizeof(DoorPlace));
  }
  for (std::uint64_t i = 0; whole && i < fixed.regions; ++i) {
    whole = take_region(pieces, decoded.regions.emplace_back());
  }
  if (whole && pieces.left() == 0) return decoded;
  return base::error("an address of {} bytes and {} regions in {} bytes", fixed.address_bytes,
                     fixed.regions, card.bytes.size());
}

}  // namespace terrane::transport::ucx
