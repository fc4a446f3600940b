// Both sides of a TLS session: somebody without the key opens nothing, and somebody on the way
// changes nothing of what is read.
#include <algorithm>

#include "base/check.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_reader.h"
#include "fuzz/input_writer.h"
#include "stream/tls_session.h"

namespace terrane::fuzz {
namespace {

using namespace stream;

enum Mode : std::uint8_t { kRaw, kHandshake, kOpen, kRecord, kModes };

const TlsKey& key() {
  static const TlsKey made =
      TlsKey::derive(*Secret::parse("00112233445566778899aabbccddeeff"), "fuzz").value();
  return made;
}

std::vector<std::byte> take_out(TlsSession& side) {
  std::vector<std::byte> bytes(side.out().begin(), side.out().end());
  side.sent(bytes.size());
  return bytes;
}

// Gives `wire` in pieces of at most `piece` bytes; what was plain of it.
std::vector<std::byte> give(TlsSession& side, std::span<const std::byte> wire, std::size_t piece) {
  std::vector<std::byte> all;
  std::byte plain[3000];
  for (TlsSession::Taken got{1, 0}; got.wire + got.plain > 0;) {
    std::span<const std::byte> some = wire.first(std::min(wire.size(), piece));
    got = side.take(some, plain);
    TERRANE_CHECK(got.wire <= some.size() && got.plain <= sizeof plain, "no more than there is");
    TERRANE_CHECK(got.plain == 0 || side.state() != TlsState::kGoingOn, "nothing before the proof");
    wire = wire.subspan(got.wire);
    all.insert(all.end(), plain, plain + got.plain);
  }
  TERRANE_CHECK(
      wire.empty() || side.state() == TlsState::kRefused || side.state() == TlsState::kClosed,
      "an end that goes on takes all");
  TERRANE_CHECK((side.state() == TlsState::kRefused) == !side.complaint().empty(), "says why");
  TERRANE_CHECK(side.out().size() < 2000, "answers are short");
  return all;
}

// Bytes with a few changes that the input decides.
std::vector<std::byte> changed(InputReader& reader, std::vector<std::byte> bytes) {
  while (!reader.empty() && !bytes.empty()) {
    auto at =
        bytes.begin() + reader.take<std::uint16_t>() % static_cast<std::ptrdiff_t>(bytes.size());
    switch (reader.below(4)) {
      case 0:
        *at = static_cast<std::byte>(reader.take<std::uint8_t>());
        break;
      case 1:
        bytes.erase(at, at + std::min<std::ptrdiff_t>(bytes.end() - at, 1 + reader.below(16)));
        break;
      case 2: {
        auto more = reader.take_bytes(reader.below(40));
        bytes.insert(at, more.begin(), more.end());
        break;
      }
      default:
        bytes.resize(static_cast<std::size_t>(at - bytes.begin()));
        break;
    }
  }
  return bytes;
}

void strangers(InputReader& reader, TlsRole role, std::size_t piece) {
  TlsSession side(key(), role);
  take_out(side);
  give(side, reader.rest(), piece);
  TERRANE_CHECK(side.state() != TlsState::kOpen && side.state() != TlsState::kClosed,
                "nobody opens it without the key");
}

void changed_handshake(InputReader& reader, TlsRole role, std::size_t piece) {
  TlsSession client(key(), TlsRole::kClient), server(key(), TlsRole::kServer);
  bool is_first = reader.below(2) == 0, to_server = role == TlsRole::kServer;
  std::vector<std::byte> hello = take_out(client);
  give(server, to_server && is_first ? changed(reader, hello) : hello, piece);
  std::vector<std::byte> answer = take_out(server);
  give(client, to_server ? answer : changed(reader, answer), piece);
  std::vector<std::byte> proof = take_out(client);
  give(server, to_server && !is_first ? changed(reader, proof) : proof, piece);
  client.write(std::as_bytes(std::span("text", 4)));
  std::vector<std::byte> plain = give(server, take_out(client), piece);
  TERRANE_CHECK(plain.empty() || client.state() == TlsState::kOpen, "both sides, or neither");
}

void after_handshake(InputReader& reader, Mode mode, TlsRole role, std::size_t piece) {
  TlsSession client(key(), TlsRole::kClient), server(key(), TlsRole::kServer);
  give(server, take_out(client), piece);
  give(client, take_out(server), piece);
  give(server, take_out(client), piece);
  TERRANE_CHECK(client.state() == TlsState::kOpen && server.state() == TlsState::kOpen, "opens");
  TlsSession& from = role == TlsRole::kServer ? client : server;
  TlsSession& to = role == TlsRole::kServer ? server : client;
  const std::vector<std::byte> text(5000, std::byte{42});
  from.write(text);
  from.write(std::span(text).first(10));
  from.close();
  std::vector<std::byte> wire = take_out(from);
  if (mode == kOpen) {
    auto strange = reader.rest();
    wire.assign(strange.begin(), strange.end());
  } else {
    wire = changed(reader, wire);
  }
  std::vector<std::byte> plain = give(to, wire, piece);
  TERRANE_CHECK(mode != kOpen || plain.empty(), "a stranger is not read");
  TERRANE_CHECK(
      plain.size() <= text.size() + 10 &&
          std::ranges::all_of(plain, [](std::byte byte) { return byte == std::byte{42}; }),
      "what is read was written");
  TERRANE_CHECK(to.state() != TlsState::kClosed || plain.size() == text.size() + 10,
                "closed after all was read");
}

}  // namespace

void run_one(std::span<const std::byte> input) {
  InputReader reader(input);
  auto mode = static_cast<Mode>(reader.below(kModes));
  TlsRole role = reader.below(2) == 0 ? TlsRole::kServer : TlsRole::kClient;
  std::size_t piece = 1 + reader.take<std::uint16_t>();
  if (mode == kRaw) {
    strangers(reader, role, piece);
  } else if (mode == kHandshake) {
    changed_handshake(reader, role, piece);
  } else {
    after_handshake(reader, mode, role, piece);
  }
}

std::vector<Input> seeds() {
  TlsSession client(key(), TlsRole::kClient);
  std::vector<std::byte> hello = take_out(client);
  // The same at every call: without what is drawn at random (nonce, key share, proof).
  std::fill_n(hello.begin() + 11, 32, std::byte{7});
  std::fill_n(hello.end() - 32, 32, std::byte{7});
  const std::byte share[] = {std::byte{0}, std::byte{0x1d}, std::byte{0}, std::byte{0x20}};
  auto at = std::search(hello.begin(), hello.end(), std::begin(share), std::end(share));
  if (hello.end() - at > 36) std::fill_n(at + 4, 32, std::byte{9});
  const auto begin = [](Mode mode, std::uint32_t role) {
    InputWriter out;
    out.byte(mode).byte(role).put(std::uint16_t{100});
    return out;
  };
  std::vector<Input> all;
  for (std::uint32_t role : {0u, 1u}) {
    all.push_back(begin(kRaw, role).raw(hello).input());
    all.push_back(
        begin(kHandshake, role).byte(role).put(std::uint16_t{80}).byte(0).byte(1).input());
    all.push_back(begin(kOpen, role).text("\x17\x03\x03").byte(0).byte(20).raw(hello).input());
    all.push_back(begin(kRecord, role).put(std::uint16_t{4000}).byte(3).input());
    all.push_back(begin(kRecord, role).put(std::uint16_t{5023}).byte(1).byte(200).input());
  }
  return all;
}

}  // namespace terrane::fuzz
