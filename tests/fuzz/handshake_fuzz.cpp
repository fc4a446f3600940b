// Both sides of the handshake of the launcher's processes, against somebody who does not know the
// secret: nothing but the genuine proof lets anybody in.
#include <algorithm>

#include "base/check.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_reader.h"
#include "fuzz/input_writer.h"
#include "stream/handshake.h"

namespace terrane::fuzz {
namespace {

using namespace stream;

Secret secret() { return *Secret::parse("00112233445566778899aabbccddeeff"); }

Nonce nonce_of(std::uint8_t byte) {
  Nonce nonce;
  nonce.fill(static_cast<std::byte>(byte));
  return nonce;
}

// Gives the side what it wants, in pieces that the input decides; all that it took.
std::vector<std::byte> feed(InputReader& reader, Handshake& side) {
  std::vector<std::byte> taken;
  while (!reader.empty() && side.wanted() > 0) {
    std::size_t most = std::min<std::size_t>(side.wanted(), 1 + reader.below(80));
    std::span<const std::byte> piece = reader.take_bytes(most);
    taken.insert(taken.end(), piece.begin(), piece.end());
    side.take(piece);
    side.out.clear();
  }
  return taken;
}

// A hub lets in only a host whose answer is that of an honest host with this nonce.
void check_hub(InputReader& reader) {
  Handshake hub = Handshake::of_hub(secret(), nonce_of(1));
  std::vector<std::byte> greeting = hub.out;
  std::vector<std::byte> answer = feed(reader, hub);
  if (hub.state() != HandshakeState::kProven) return;
  Nonce nonce;
  std::copy_n(answer.begin() + 16, nonce.size(), nonce.begin());
  Handshake host = Handshake::of_host(secret(), nonce);
  host.take(greeting);
  TERRANE_CHECK(std::equal(host.out.begin() + 16, host.out.end(), answer.begin() + 16),
                "who is let in has proved the secret");
}

void check_host(InputReader& reader) {
  Handshake host = Handshake::of_host(secret(), nonce_of(2));
  std::vector<std::byte> said = feed(reader, host);
  if (host.state() != HandshakeState::kProven) return;
  Nonce nonce;
  std::copy_n(said.begin() + 16, nonce.size(), nonce.begin());
  Proof genuine = secret().prove("hub", {nonce, nonce_of(2)});
  TERRANE_CHECK(std::equal(genuine.begin(), genuine.end(), said.end() - sizeof genuine),
                "who is believed has proved the secret");
}

}  // namespace

void run_one(std::span<const std::byte> input) {
  InputReader reader(input);
  if (reader.below(2) == 0) {
    check_hub(reader);
  } else {
    check_host(reader);
  }
}

std::vector<Input> seeds() {
  Handshake hub = Handshake::of_hub(secret(), nonce_of(1));
  Handshake host = Handshake::of_host(secret(), nonce_of(2));
  const auto in_pieces = [](std::uint32_t side, std::span<const std::byte> bytes) {
    InputWriter out;
    out.byte(side);
    for (std::size_t at = 0; at < bytes.size(); at += 32) out.byte(31).raw(bytes.subspan(at, 32));
    return out.input();
  };
  std::vector<std::byte> to_host = hub.out;
  host.take(hub.out);
  std::vector<std::byte> to_hub = host.out;
  hub.out.clear();
  hub.take(to_hub);
  to_host.insert(to_host.end(), hub.out.begin(), hub.out.end());
  return {in_pieces(0, to_hub), in_pieces(1, to_host)};
}

}  // namespace terrane::fuzz
