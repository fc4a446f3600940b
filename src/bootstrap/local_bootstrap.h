#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>

#include "bootstrap/bootstrap.h"
#include "bootstrap/job_map.h"
#include "bootstrap/packet.h"

namespace terrane::bootstrap {

// A node's place in a job that `terrane run` started on this host. Owns the channel to the
// launcher, the job's news and the lifeline: a pipe whose other end only the launcher holds, so
// that the kernel kills this process (SIGKILL) when the launcher dies, even where this process is
// not the launcher's own child. exchange() and take_news() are each for one thread at a time;
// answer() is for any thread, and fail() also for signal handlers.
class LocalBootstrap final : public Bootstrap {
 public:
  // Claims the place that the inherited socket names.
  static base::Result<std::unique_ptr<Bootstrap>> claim(base::UniqueFd inherited);

  NodeId self() const override { return self_; }
  std::uint32_t nodes() const override { return map_.nodes(); }
  std::uint32_t guests() const override { return map_.guests; }
  std::span<const std::uint32_t> hosts() const override { return map_.host_of; }
  std::span<const std::uint32_t> clusters() const override { return clusters_; }
  const GatewayRoutes* routes() const override { return &map_.routes; }
  std::string_view host_name(NodeId node) const override {
    const std::string* guest = guest_names_[node.value].load(std::memory_order_acquire);
    return guest != nullptr ? *guest : map_.name_of(node.value);
  }
  std::uint32_t nodes_on_host() const override { return nodes_on_host_; }
  base::Result<std::vector<Contribution>> exchange(std::span<const std::byte> bytes,
                                                   std::span<const int> fds) override;
  base::Result<History> enter() override;
  void admitted(NodeId guest) override;
  void closing() override;
  void answer(std::span<const std::byte> snapshot, std::uint32_t of) override;
  void leaving(Departure departure) override;
  void ending(int code) override;
  [[noreturn]] void fail(std::string_view sentence, int code) override;
  int news_fd() const override { return news_.get(); }
  std::optional<News> take_news() override;

 private:
  LocalBootstrap(base::UniqueFd channel, base::UniqueFd lifeline)
      : channel_(std::move(channel)), lifeline_(std::move(lifeline)) {}

  base::Result<> await_welcome();
  std::optional<News> newcomer();
  base::Result<> arm_lifeline();
  base::Result<> send_card(std::span<const std::byte> bytes, std::span<const int> fds);
  base::Result<> receive_cards(std::vector<Contribution>& all);

  NodeId self_{};
  JobMap map_;
  std::vector<std::uint32_t> clusters_;                             // by node
  std::unique_ptr<std::atomic<const std::string*>[]> guest_names_;  // of hosts; by node
  std::deque<std::string> names_;
  std::uint32_t nodes_on_host_ = 0;
  base::UniqueFd place_;  // the inherited socket: a program that this one executes claims by it
  base::UniqueFd channel_;
  base::UniqueFd lifeline_;
  base::UniqueFd news_;
  PacketReader reader_;
  PacketReader news_reader_;
};

}  // namespace terrane::bootstrap
