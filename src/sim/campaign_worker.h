#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/campaign.h"

namespace terrane::sim {

// The part of a campaign that one thread runs. Only that thread makes, uses and destroys it.
class CampaignWorker {
 public:
  virtual ~CampaignWorker() = default;
  // Plays the history of the seed and adds its figures to `mine`. Returns the reason if it failed.
  virtual std::optional<std::string> play(std::uint64_t seed, CampaignReport& mine) = 0;
  // The branches that its histories have taken, in the same order for all workers.
  virtual std::vector<BranchCount> branches() const = 0;
};

// For mesi_chunk: its worker, replay, shrinking and planted faults.
std::unique_ptr<CampaignWorker> make_chunk_worker(const CampaignOptions& options);
Replay replay_chunks(const CampaignOptions& options, std::uint64_t seed);
Shrunk shrink_chunks(const CampaignOptions& options, std::uint64_t seed);
std::vector<std::string_view> chunk_mutant_names();
// The same for work_stream.
std::unique_ptr<CampaignWorker> make_work_worker(const CampaignOptions& options);
Replay replay_work(const CampaignOptions& options, std::uint64_t seed);
std::vector<std::string_view> work_mutant_names();
// The same for routing.
std::unique_ptr<CampaignWorker> make_routing_worker(const CampaignOptions& options);
Replay replay_routing(const CampaignOptions& options, std::uint64_t seed);
std::vector<std::string_view> routing_mutant_names();
// For mesi_chunk: the programs of the first seeds, as text.
std::string drawn_chunks(std::uint64_t seeds);

}  // namespace terrane::sim
