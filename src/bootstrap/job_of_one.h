#pragma once

#include <string>

#include "bootstrap/bootstrap.h"

namespace terrane::bootstrap {

// The job of a program that was started without a launcher: this process alone. Owns only the
// host's name.
class JobOfOne final : public Bootstrap {
 public:
  JobOfOne();

  NodeId self() const override { return NodeId{0}; }
  std::uint32_t nodes() const override { return 1; }
  std::span<const std::uint32_t> hosts() const override { return {&kHost, 1}; }
  std::string_view host_name(NodeId) const override { return host_; }
  std::uint32_t nodes_on_host() const override { return 1; }
  base::Result<std::vector<Contribution>> exchange(std::span<const std::byte> bytes,
                                                   std::span<const int> fds) override;
  void leaving(Departure) override {}
  void ending(int) override {}
  [[noreturn]] void fail(std::string_view sentence, int code) override;
  int news_fd() const override { return -1; }
  std::optional<News> take_news() override { return std::nullopt; }

 private:
  static constexpr std::uint32_t kHost = 0;

  std::string host_;
};

// Copies of one's own contribution, as every exchange hands them back.
base::Result<Contribution> copy_contribution(std::span<const std::byte> bytes,
                                             std::span<const int> fds);
void close_contributions(std::vector<Contribution>& contributions);

}  // namespace terrane::bootstrap
