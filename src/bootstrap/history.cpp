#include "bootstrap/history.h"

#include <cstring>

namespace terrane::bootstrap {
namespace {

constexpr std::size_t kChangeBytes = 5;  // the kind, the node

}  // namespace

std::vector<std::byte> encode_history(const History& history) {
  std::vector<std::byte> out(history.size() * kChangeBytes);
  std::byte* at = out.data();
  for (const Change& change : history) {
    *at = static_cast<std::byte>(change.kind);
    std::memcpy(at + 1, &change.node.value, sizeof change.node.value);
    at += kChangeBytes;
  }
  return out;
}

std::optional<History> decode_history(std::span<const std::byte> bytes, std::uint32_t nodes) {
  if (bytes.size() % kChangeBytes != 0) return std::nullopt;
  History history;
  for (; !bytes.empty(); bytes = bytes.subspan(kChangeBytes)) {
    Change change{static_cast<Change::Kind>(bytes[0]), {}};
    std::memcpy(&change.node.value, bytes.data() + 1, sizeof change.node.value);
    bool known = change.kind == Change::Kind::kCame || change.kind == Change::Kind::kWent;
    if (!known || change.node.value >= nodes) return std::nullopt;
    history.push_back(change);
  }
  return history;
}

}  // namespace terrane::bootstrap
