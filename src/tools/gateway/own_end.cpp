#include "tools/gateway/own_end.h"

#include <cstddef>
#include <utility>

namespace terrane::tools {
namespace {

constexpr std::size_t kAll = ~std::size_t{0};
constexpr std::uint64_t kTickMs = 250;

}  // namespace

OwnEnd::OwnEnd(Loop& loop, routing::Address address, std::uint64_t window,
               std::function<void()> has_output)
    : address_(address),
      has_output_(std::move(has_output)),
      outbound_(address, window, 1),
      inbound_(address, window),
      bridge_(
          loop,
          {.send =
               [this](routing::Address to, std::uint16_t tag, routing::Bytes message) {
                 outbound_.send(to, tag, message, {});
                 has_output_();
               },
           .is_full = [this, window](
                          routing::Address to) { return outbound_.kept_bytes(to) > 2 * window; }},
          nullptr),
      tick_(loop, [this] { tick(); }) {
  outbound_.open(kWay);
  tick_.set_in(kTickMs);
}

void OwnEnd::received(const routing::FrameHeader& header, routing::Bytes payload) {
  bool is_stream =
      header.kind == routing::FrameKind::kData || header.kind == routing::FrameKind::kBye;
  if (!is_stream) {
    outbound_.control(kWay, header, payload);
    return;
  }
  inbound_.frame(header, payload, *this);
  for (const auto& taken : inbound_.take_taken()) outbound_.tell_taken(taken.peer, taken.position);
}

void OwnEnd::fill(std::vector<std::byte>& out) {
  while (outbound_.has_output(kWay)) outbound_.fill(kWay, out, kAll);
}

void OwnEnd::message(routing::Address from, std::uint16_t tag, routing::Bytes message) {
  bridge_.message(from, tag, message);
}

void OwnEnd::tick() {
  tick_.set_in(kTickMs);
  outbound_.tick();
  for (routing::Address peer : outbound_.take_lost()) bridge_.lost(peer);
}

}  // namespace terrane::tools
