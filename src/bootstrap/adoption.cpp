#include "bootstrap/adoption.h"

#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "bootstrap/packet.h"

namespace terrane::bootstrap {
namespace {

constexpr int kWaitingNodes = 512;
constexpr std::uint32_t kMaxHubText = 4096;

template <std::size_t size>
std::string hexadecimal(const std::array<std::byte, size>& bytes) {
  std::string text;
  for (std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

// A name that begins with a zero byte is in no folder and goes with its last descriptor.
socklen_t door_address(const std::string& name, sockaddr_un& address) {
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

bool take(std::span<const std::byte>& from, void* to, std::size_t size) {
  if (from.size() < size) return false;
  std::memcpy(to, from.data(), size);
  from = from.subspan(size);
  return true;
}

base::Error engine_gone() {
  return base::error(
      "the engine that the first node of this host started for the job has gone; what it wrote to "
      "that node's standard error says why");
}

// Another user could have opened a door of that name after ours was closed.
base::Result<> check_owner(int socket) {
  ucred owner{};
  socklen_t size = sizeof owner;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &owner, &size) < 0) {
    return base::errno_error("cannot tell whose the engine of this host is");
  }
  if (owner.uid != ::geteuid()) {
    return base::error("the engine at the door of this host belongs to user {}, not to user {}",
                       owner.uid, ::geteuid());
  }
  return {};
}

}  // namespace

base::Result<JobSecret> make_secret() {
  JobSecret secret;
  if (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size())) {
    return base::errno_error("cannot draw the job's secret");
  }
  return secret;
}

std::string to_text(const JobSecret& secret) { return hexadecimal(secret); }

std::optional<JobSecret> secret_of(const std::string& text) {
  JobSecret secret;
  if (text.size() != 2 * secret.size()) return std::nullopt;
  for (std::size_t i = 0; i < secret.size(); ++i) {
    char digits[3] = {text[2 * i], text[2 * i + 1], '\0'};
    char* end = nullptr;
    secret[i] = static_cast<std::byte>(std::strtoul(digits, &end, 16));
    if (end != digits + 2) return std::nullopt;
  }
  return secret;
}

bool same_secret(const JobSecret& secret, std::span<const std::byte> bytes) {
  if (bytes.size() != secret.size()) return false;
  std::byte difference{};
  for (std::size_t i = 0; i < secret.size(); ++i) difference |= secret[i] ^ bytes[i];
  return difference == std::byte{};
}

std::vector<std::byte> encode_order(const AdoptionOrder& order) {
  std::vector<std::byte> out;
  auto put = [&out](const void* data, std::size_t size) {
    auto bytes = static_cast<const std::byte*>(data);
    out.insert(out.end(), bytes, bytes + size);
  };
  auto hub_size = static_cast<std::uint32_t>(order.hub.size());
  put(&order.host, sizeof order.host);
  put(order.secret.data(), order.secret.size());
  put(&hub_size, sizeof hub_size);
  put(order.hub.data(), order.hub.size());
  std::vector<std::byte> map = encode_map(order.map);
  put(map.data(), map.size());
  return out;
}

std::optional<AdoptionOrder> decode_order(std::span<const std::byte> bytes) {
  AdoptionOrder order;
  std::uint32_t hub_size = 0;
  if (!take(bytes, &order.host, sizeof order.host) ||
      !take(bytes, order.secret.data(), order.secret.size()) ||
      !take(bytes, &hub_size, sizeof hub_size) || hub_size > kMaxHubText) {
    return std::nullopt;
  }
  order.hub.resize(hub_size);
  if (!take(bytes, order.hub.data(), hub_size)) return std::nullopt;
  auto map = decode_map(bytes);
  if (!map || order.host >= map->names.size()) return std::nullopt;
  order.map = std::move(*map);
  return order;
}

base::Result<Door> open_door() {
  auto name = make_secret();
  if (!name) return name.error();
  Door door{base::UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)),
            "terrane-" + hexadecimal(name.value())};
  sockaddr_un address{};
  socklen_t size = door_address(door.name, address);
  auto generic = reinterpret_cast<const sockaddr*>(&address);
  if (!door.socket || ::bind(door.socket.get(), generic, size) < 0 ||
      ::listen(door.socket.get(), kWaitingNodes) < 0) {
    return base::errno_error("cannot open a door for the nodes of this host");
  }
  return door;
}

base::Result<base::UniqueFd> knock(const std::string& door, NodeId node, const JobSecret& secret) {
  base::UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  if (door.size() > sizeof address.sun_path - 1) return base::error("a door's name is too long");
  socklen_t size = door_address(door, address);
  auto generic = reinterpret_cast<const sockaddr*>(&address);
  if (!socket || ::connect(socket.get(), generic, size) < 0) return engine_gone();
  if (auto ours = check_owner(socket.get()); !ours) return ours.error();
  MessageHeader header{.kind = MessageKind::kKnock, .node = node.value};
  PacketStatus status = send_packet(socket.get(), header, secret, {}, 0);
  PacketReader reader;
  if (status == PacketStatus::kDone) status = reader.receive(socket.get(), 0);
  if (status == PacketStatus::kClosed || status == PacketStatus::kFailed) return engine_gone();
  if (status == PacketStatus::kDone && reader.header().kind == MessageKind::kRefused) {
    return base::Error{std::string(reader.text())};
  }
  bool is_place = status == PacketStatus::kDone && reader.header().kind == MessageKind::kPlace &&
                  reader.fds().size() == 1;
  if (!is_place) {
    return base::error(
        "the engine of this host sent a message that makes no sense; this program's Terrane and "
        "the command `terrane` beside it may be of different versions");
  }
  return std::move(reader.fds().front());
}

}  // namespace terrane::bootstrap
