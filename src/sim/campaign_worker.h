#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/campaign.h"

namespace terrane::sim {

// One thread's part of a campaign over some protocol, and of that thread alone: made, used and
// destroyed on it.
class CampaignWorker {
 public:
  virtual ~CampaignWorker() = default;
  // Plays the seed's history and adds its figures to mine; answers why it failed, if it did.
  virtual std::optional<std::string> play(std::uint64_t seed, CampaignReport& mine) = 0;
  // The branches that it has taken, in an order that is the same for all.
  virtual std::vector<BranchCount> branches() const = 0;
};

// What mesi_chunk has in place of HLRC's.
std::unique_ptr<CampaignWorker> make_chunk_worker(const CampaignOptions& options);
Replay replay_chunks(const CampaignOptions& options, std::uint64_t seed);
Shrunk shrink_chunks(const CampaignOptions& options, std::uint64_t seed);
std::vector<std::string_view> chunk_mutant_names();
// ... and work_stream.
std::unique_ptr<CampaignWorker> make_work_worker(const CampaignOptions& options);
Replay replay_work(const CampaignOptions& options, std::uint64_t seed);
std::vector<std::string_view> work_mutant_names();
// ... and routing.
std::unique_ptr<CampaignWorker> make_routing_worker(const CampaignOptions& options);
Replay replay_routing(const CampaignOptions& options, std::uint64_t seed);
std::vector<std::string_view> routing_mutant_names();
// The programs of the first seeds, as text.
std::string drawn_chunks(std::uint64_t seeds);

}  // namespace terrane::sim
