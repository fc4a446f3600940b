#include "messages.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace terrane::conformance {
namespace {

std::uint64_t word_of(NodeId from, std::uint64_t number, std::uint64_t index) {
  return (std::uint64_t{from.value} << 48 ^ number << 20 ^ index) * 0x9e3779b97f4a7c15u;
}

}  // namespace

std::vector<std::byte> make_message(NodeId from, std::uint64_t number, std::size_t bytes) {
  std::vector<std::byte> message(bytes);
  for (std::size_t at = 0; at < bytes; at += 8) {
    std::uint64_t word = word_of(from, number, at / 8);
    std::memcpy(message.data() + at, &word, std::min<std::size_t>(8, bytes - at));
  }
  return message;
}

void require_message(transport::Bytes message, NodeId from, std::uint64_t number,
                     std::size_t bytes) {
  if (message.size() != bytes) {
    require(false, fmt::format("message {} of node {} has {} bytes instead of {}", number,
                               from.value, message.size(), bytes));
  }
  for (std::size_t at = 0; at < bytes; at += 8) {
    std::uint64_t word = word_of(from, number, at / 8);
    if (std::memcmp(message.data() + at, &word, std::min<std::size_t>(8, bytes - at)) == 0)
      continue;
    require(false, fmt::format("message {} of node {} ({} bytes) is wrong at byte {}", number,
                               from.value, bytes, at));
  }
}

void poll_until(Node& node, Recorder& recorder, const std::function<bool()>& condition) {
  constexpr std::uint64_t kNap_ns = 1'000'000;
  while (!condition()) {
    if (node.transport.poll(recorder) == 0) node.transport.sleep(kNap_ns);
  }
}

void leave_together(Node& node, Recorder& recorder) {
  node.board.leaving.fetch_add(1);
  std::uint32_t there = node.nodes - static_cast<std::uint32_t>(recorder.losses.size());
  poll_until(node, recorder, [&] { return node.board.leaving.load() >= there; });
  // No node ends while another still polls, since the other would report a loss.
  node.board.left.fetch_add(1);
  while (node.board.left.load() < there) ::usleep(100);
}

std::vector<std::size_t> telling_sizes() {
  std::vector<std::size_t> sizes = {0, 1, 7, 8, 63, 64, 65, 4095, 4096, 4097};
  for (std::size_t power = std::size_t{8} << 10; power <= std::size_t{1} << 20; power *= 2) {
    // With and without room for headers of some 16 to 80 bytes.
    for (std::size_t less : {96, 80, 64, 48, 16, 1, 0}) {
      sizes.push_back(power - less);
      sizes.push_back(power - less + 1);
    }
  }
  // A long one between short ones, and two long ones behind each other.
  for (std::size_t mebibytes : {3, 16, 0, 5, 6}) sizes.push_back(mebibytes << 20);
  sizes.push_back(100);
  return sizes;
}

}  // namespace terrane::conformance
