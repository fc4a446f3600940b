#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "routing/frame.h"
#include "stream/connection.h"

namespace terrane::transport::routed {

inline constexpr auto kHelloKind = static_cast<routing::FrameKind>(32);

// What both ends of a connection of the network that gateways form say first, once they have proved
// the secret.
struct Hello {
  routing::Address address;
  std::string version;       // of Terrane
  std::string name;          // of a gateway, for people
  std::uint64_t window = 0;  // bytes of a pair that may be on their way
  std::string refusal;       // not empty: the connection is not wanted; a sentence

  bool operator==(const Hello&) const = default;
};

// As a frame, at the end of `out`.
void append_hello(const Hello& hello, std::vector<std::byte>& out);
// nullopt: it is none.
std::optional<Hello> decode_hello(const routing::FrameHeader& header, routing::Bytes payload);
// Of this build.
Hello hello_of(routing::Address address, std::uint64_t window, std::string name = {});
// Empty: the two can go on with each other. Else a sentence about the other one.
std::string compare_hellos(const Hello& ours, const Hello& theirs);

// Says `ours` and waits for the other end's. The error is a sentence, also where the other end
// refuses.
base::Result<Hello> exchange_hello(stream::Connection& connection, const Hello& ours,
                                   std::uint64_t timeout_ms);
// The same, but the other end speaks first.
base::Result<Hello> answer_hello(stream::Connection& connection, const Hello& ours,
                                 std::uint64_t timeout_ms);

}  // namespace terrane::transport::routed
