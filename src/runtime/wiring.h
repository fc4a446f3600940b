#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bootstrap/bootstrap.h"
#include "runtime/options.h"
#include "transport/transport.h"

namespace terrane::runtime {

// A node's connections to the other nodes, and what each node contributed to the exchange.
struct Wiring {
  std::unique_ptr<transport::Transport> transport;
  std::vector<std::vector<std::byte>> said;  // by node, with our own; empty: the node is not there
};

// An error if the job accepts guests: `interface` does not support them.
base::Result<> refuse_guests(const bootstrap::Bootstrap& bootstrap, std::string_view interface);

// Collective: opens the transport that `options` name, exchanges cards with all nodes, checks that
// the nodes fit together (JobFacts), and connects. Sets the processor share of waiting/backoff.h.
// `interface`: the one that this program uses. `regions`: memory that other nodes may access; the
// descriptors are borrowed. `saying`: bytes for the callers on the other nodes (Wiring::said).
base::Result<Wiring> wire_up(bootstrap::Bootstrap& bootstrap, const Options& options,
                             std::string_view interface,
                             std::span<const transport::ExportedRegion> regions,
                             std::span<const std::byte> saying = {});

// The transport's part of the card that a guest contributed when it joined.
base::Result<transport::Card> card_of_newcomer(std::span<const std::byte> contribution);

}  // namespace terrane::runtime
