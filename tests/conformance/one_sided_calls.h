#pragma once

#include <cstdint>
#include <string_view>

#include "forked_nodes.h"
#include "messages.h"

namespace terrane::conformance {

void require_ok(const base::Result<>& result,
                std::source_location where = std::source_location::current());
// An error that says so, or names the peer.
void require_refused(const base::Result<>& result, std::string_view words,
                     std::source_location where = std::source_location::current());
void require_refused(const base::Result<>& result, NodeId peer,
                     std::source_location where = std::source_location::current());

// The word before, of an atomic that works.
std::uint64_t fetch(Node& node, NodeId peer, transport::RemoteAddress word,
                    const transport::Atomic& atomic);

inline transport::Bytes bytes_of_word(const std::uint64_t& word) {
  return std::as_bytes(std::span(&word, 1));
}

// A barrier that serves the others while it waits.
void wait_for_all(Node& node);

}  // namespace terrane::conformance
