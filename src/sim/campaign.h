#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/generate.h"

namespace terrane::sim {

// kSc: some regions of the programs are sequentially consistent, the others follow HLRC.
// kWorkStream: pipelines of work streams, a part of mesi_chunk. kRouting: messages through
// gateways.
enum class Protocol : std::uint8_t { kHlrc, kSc, kMesiChunk, kWorkStream, kRouting };

// A campaign runs the histories of `seed`, `seed` + 1, ..., all of one shape, on `jobs` threads.
struct CampaignOptions {
  Protocol protocol = Protocol::kHlrc;
  Shape shape;  // kMesiChunk, kWorkStream: only its number of nodes counts
  std::uint64_t seed = 1;
  std::uint64_t histories = 1000;
  std::uint32_t jobs = 1;
  std::uint32_t careful_every = 8;  // one history in so many checks the invariants after every step
  std::string mutant = "None";      // a planted fault, by name
};

struct BranchCount {
  std::string_view branch;
  std::uint64_t times = 0;
};

struct CampaignReport {
  std::uint64_t histories = 0;
  std::uint64_t counted = 0;  // histories with at least 4 nodes, 200 accesses, a lock and a barrier
  std::uint64_t steps = 0;
  std::uint64_t messages = 0;
  // kMesiChunk: scopes; kWorkStream: versions taken; kRouting: messages delivered.
  std::uint64_t accesses = 0;
  std::uint64_t faults = 0;
  std::uint64_t hash = 0;  // of all histories; does not depend on their order
  std::vector<BranchCount> branches;

  std::optional<std::uint64_t> failed_seed;  // the lowest one; the campaign stops there
  std::string reason;
};

CampaignReport run_campaign(const CampaignOptions& options);

// One history, run once more, with a trace of everything that happened.
struct Replay {
  bool failed = false;
  std::string reason;
  std::uint64_t hash = 0;
  std::vector<std::string> trace;
};
Replay replay(const CampaignOptions& options, std::uint64_t seed);

// A failing history made small: fewer nodes, threads, phases and operations, which still fail in
// the same way. Its program as text, and its trace.
struct Shrunk {
  std::string program;
  std::string reason;
  std::vector<std::string> trace;
  std::uint64_t tried = 0;  // histories that were run for it
};
Shrunk shrink(const CampaignOptions& options, std::uint64_t seed);

// A hash of what the generator draws for the first seeds, as four hexadecimal digits. A seed names
// the same program as long as this hash stays the same.
std::string seed_format(Protocol protocol);

// Sets the predictor of all histories of the shape. `text`: "random", or as for terrane run
// --predict.
base::Result<> set_prediction(Shape& shape, std::string_view text);
// Succeeds if terrane run --predict accepts the text.
base::Result<> check_prediction(std::string_view text);
// The predictor in the history of this seed, as text for a person.
std::string predictor_of(const CampaignOptions& options, std::uint64_t seed);

// The planted faults' names, without "None".
std::vector<std::string_view> mutant_names(Protocol protocol = Protocol::kHlrc);

}  // namespace terrane::sim
