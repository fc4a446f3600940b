#pragma once

#include <memory>

#include "bootstrap/bootstrap.h"
#include "bootstrap/pmix_client.h"

namespace terrane::bootstrap {

// A node's place in a job that a PMIx launcher started: `mpirun ./program`, `srun --mpi=pmix
// ./program`. PMIx tells where each process is and carries the job's secret and the address of its
// hub; all else is done by an engine that the first node of each host starts (adoption.h). Owns the
// place and the connection to PMIx, which ends in order when the node leaves the job.
class PmixBootstrap final : public Bootstrap {
 public:
  // Collective: every process of the PMIx job calls it. A job of one process is a JobOfOne.
  static base::Result<std::unique_ptr<Bootstrap>> connect();
  // A process that goes without leaving() has failed.
  ~PmixBootstrap() override { pmix_->abandon(); }

  NodeId self() const override { return place_->self(); }
  std::uint32_t nodes() const override { return place_->nodes(); }
  std::uint32_t guests() const override { return place_->guests(); }
  std::span<const std::uint32_t> hosts() const override { return place_->hosts(); }
  std::span<const std::uint32_t> clusters() const override { return place_->clusters(); }
  std::string_view host_name(NodeId node) const override { return place_->host_name(node); }
  std::uint32_t nodes_on_host() const override { return place_->nodes_on_host(); }
  base::Result<std::vector<Contribution>> exchange(std::span<const std::byte> bytes,
                                                   std::span<const int> fds) override {
    return place_->exchange(bytes, fds);
  }
  void leaving(Departure departure) override;
  void ending(int code) override;
  [[noreturn]] void fail(std::string_view sentence, int code) override;
  int news_fd() const override { return place_->news_fd(); }
  std::optional<News> take_news() override { return place_->take_news(); }

 private:
  PmixBootstrap(std::unique_ptr<Bootstrap> place, std::unique_ptr<PmixClient> pmix)
      : place_(std::move(place)), pmix_(std::move(pmix)) {}

  std::unique_ptr<Bootstrap> place_;
  std::unique_ptr<PmixClient> pmix_;
};

}  // namespace terrane::bootstrap
