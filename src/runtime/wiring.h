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

// A node's connections to the others, and what each of them said at their exchange.
struct Wiring {
  std::unique_ptr<transport::Transport> transport;
  std::vector<std::vector<std::byte>> said;  // by node; our own words included; empty: not there
};

// An error where the job takes guests, and this interface has no use for them.
base::Result<> refuse_guests(const bootstrap::Bootstrap& bootstrap, std::string_view interface);

// Collective: opens the transport that `options` ask for, exchanges cards with all nodes, finds out
// whether they fit together (JobFacts), and connects. Tells waiting/backoff.h how crowded the
// processors are. `interface`: that this program uses. `regions`: to be reached by the others, as
// they are when this is called; the descriptors are borrowed. `saying`: for the caller of the other
// nodes.
base::Result<Wiring> wire_up(bootstrap::Bootstrap& bootstrap, const Options& options,
                             std::string_view interface,
                             std::span<const transport::ExportedRegion> regions,
                             std::span<const std::byte> saying = {});

// Of the card with which a newcomer introduces itself: what the transport is to have of it.
base::Result<transport::Card> card_of_newcomer(std::span<const std::byte> contribution);

}  // namespace terrane::runtime
