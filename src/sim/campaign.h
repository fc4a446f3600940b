#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/generate.h"

namespace terrane::sim {

// kSc: programs some of whose regions are sequentially consistent, the others HLRC's.
// kWorkStream: pipelines of work streams, a part of mesi_chunk. kRouting: messages through
// gateways.
enum class Protocol : std::uint8_t { kHlrc, kSc, kMesiChunk, kWorkStream, kRouting };

// Histories seed, seed + 1, ... of one shape, on several threads.
struct CampaignOptions {
  Protocol protocol = Protocol::kHlrc;
  Shape shape;  // kMesiChunk: its nodes alone
  std::uint64_t seed = 1;
  std::uint64_t histories = 1000;
  std::uint32_t jobs = 1;
  std::uint32_t careful_every = 8;  // of the histories; 1: invariants after every step of all
  std::string mutant = "None";      // a planted fault, by name
};

struct BranchCount {
  std::string_view branch;
  std::uint64_t times = 0;
};

struct CampaignReport {
  std::uint64_t histories = 0;
  std::uint64_t counted = 0;  // with at least 4 nodes, 200 accesses, a lock, a barrier
  std::uint64_t steps = 0;
  std::uint64_t messages = 0;
  std::uint64_t accesses = 0;  // kMesiChunk: scopes
  std::uint64_t faults = 0;
  std::uint64_t hash = 0;  // of all histories, in any order
  std::vector<BranchCount> branches;

  std::optional<std::uint64_t> failed_seed;  // the lowest; the campaign stops there
  std::string reason;
};

CampaignReport run_campaign(const CampaignOptions& options);

// One history once more, with everything that happened in it.
struct Replay {
  bool failed = false;
  std::string reason;
  std::uint64_t hash = 0;
  std::vector<std::string> trace;
};
Replay replay(const CampaignOptions& options, std::uint64_t seed);

// A failing history made small: fewer nodes, threads, phases and operations with a failure of the
// same kind. Its program as text, and its trace.
struct Shrunk {
  std::string program;
  std::string reason;
  std::vector<std::string> trace;
  std::uint64_t tried = 0;  // histories
};
Shrunk shrink(const CampaignOptions& options, std::uint64_t seed);

// Which generator draws the programs of seeds, as four hexadecimal digits: a hash of what it draws
// of the first seeds. A seed names the same program for as long as this stays the same.
std::string seed_format(Protocol protocol);

// Who predicts in all histories of the shape: "random", or the text of terrane run --predict.
base::Result<> set_prediction(Shape& shape, std::string_view text);
// Whether the text is one of terrane run --predict.
base::Result<> check_prediction(std::string_view text);
// Who predicts in the history of this seed, for a person.
std::string predictor_of(const CampaignOptions& options, std::uint64_t seed);

// The planted faults' names, without "None".
std::vector<std::string_view> mutant_names(Protocol protocol = Protocol::kHlrc);

}  // namespace terrane::sim
