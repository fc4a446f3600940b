#include "transport/routed/hello.h"

#include <fmt/format.h>
#include <poll.h>

#include <cstring>
#include <string_view>

#include "platform/wait.h"
#include "routing/splitter.h"

namespace terrane::transport::routed {
namespace {

constexpr std::size_t kMostTextBytes = 1024;
constexpr int kHelloNap_ms = 20;

}  // namespace

Hello hello_of(routing::Address address, std::uint64_t window, std::string name) {
  return {
      .address = address, .version = TERRANE_VERSION, .name = std::move(name), .window = window};
}

std::string compare_hellos(const Hello& ours, const Hello& theirs) {
  if (!theirs.refusal.empty()) return theirs.refusal;
  if (theirs.version != ours.version)
    return fmt::format("its Terrane is {}, here it is {}: install one version on all hosts",
                       theirs.version, ours.version);
  bool same_window = ours.window == 0 || theirs.window == 0 || ours.window == theirs.window;
  return same_window ? "" : "it is of another job";
}

void append_hello(const Hello& hello, std::vector<std::byte>& out) {
  std::string text =
      hello.version + '\0' + hello.name + '\0' + hello.refusal.substr(0, kMostTextBytes / 2);
  routing::FrameHeader header{.payload_bytes = static_cast<std::uint32_t>(text.size()),
                              .kind = kHelloKind,
                              .from = hello.address,
                              .position = hello.window};
  std::size_t at = out.size();
  out.resize(at + routing::frame_bytes(header.payload_bytes));
  std::memcpy(out.data() + at, &header, sizeof header);
  std::memcpy(out.data() + at + sizeof header, text.data(), text.size());
}

std::optional<Hello> decode_hello(const routing::FrameHeader& header, routing::Bytes payload) {
  if (header.kind != kHelloKind || payload.size() > kMostTextBytes) return std::nullopt;
  std::string_view text(reinterpret_cast<const char*>(payload.data()), payload.size());
  std::size_t name = text.find('\0');
  if (name == std::string_view::npos) return std::nullopt;
  std::size_t refusal = text.find('\0', name + 1);
  if (refusal == std::string_view::npos) return std::nullopt;
  return Hello{header.from, std::string(text.substr(0, name)),
               std::string(text.substr(name + 1, refusal - name - 1)), header.position,
               std::string(text.substr(refusal + 1))};
}

namespace {

base::Result<Hello> await_hello(stream::Connection& connection, const Hello& ours,
                                std::uint64_t timeout_ms) {
  std::uint64_t deadline_ns = platform::now_ns() + timeout_ms * 1'000'000;
  while (platform::now_ns() < deadline_ns) {
    connection.flush();
    connection.receive();
    routing::Splitter splitter(connection.readable());
    if (auto frame = splitter.next()) {
      auto theirs = decode_hello(frame->header, frame->payload);
      if (!theirs) return base::error("it sent something malformed");
      connection.consume(splitter.used());
      std::string objection = compare_hellos(ours, *theirs);
      if (!objection.empty()) return base::error("{}", objection);
      return std::move(*theirs);
    }
    if (splitter.malformed()) return base::error("it sent something malformed");
    if (connection.state() == stream::Connection::State::kClosed)
      return base::error("{}", connection.why());
    auto events = static_cast<short>(connection.wants_room() ? POLLIN | POLLOUT : POLLIN);
    pollfd watched{.fd = connection.fd(), .events = events, .revents = 0};
    ::poll(&watched, 1, kHelloNap_ms);
  }
  return base::error("it does not answer");
}

}  // namespace

base::Result<Hello> exchange_hello(stream::Connection& connection, const Hello& ours,
                                   std::uint64_t timeout_ms) {
  append_hello(ours, connection.outgoing());
  return await_hello(connection, ours, timeout_ms);
}

base::Result<Hello> answer_hello(stream::Connection& connection, const Hello& ours,
                                 std::uint64_t timeout_ms) {
  auto theirs = await_hello(connection, ours, timeout_ms);
  append_hello(ours, connection.outgoing());
  connection.flush();
  return theirs;
}

}  // namespace terrane::transport::routed
