#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/frame.h"

namespace terrane::transport::ucx {

// What travels between two nodes in an order of its own. The number is UCX's name for its handler.
enum class Traffic : std::uint8_t {
  kMessages = 0,  // for receivers, and notices between the transports
  kCalls = 1      // one-sided calls, which are served even where nobody receives
};
inline constexpr std::size_t kTraffics = 2;

constexpr Traffic traffic_of(wire::NetworkFrameKind kind) {
  return kind == wire::NetworkFrameKind::kCall ? Traffic::kCalls : Traffic::kMessages;
}
// Of what is no notice.
constexpr wire::NetworkFrameKind kind_of(Traffic traffic) {
  return traffic == Traffic::kCalls ? wire::NetworkFrameKind::kCall
                                    : wire::NetworkFrameKind::kMessage;
}

}  // namespace terrane::transport::ucx
