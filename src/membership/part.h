#pragma once

#include <deque>

#include "base/unique_fd.h"
#include "membership/place.h"

namespace terrane::membership {

// A front-end's part in the place of its process.
class Part final : public bootstrap::Bootstrap {
 public:
  static base::Result<std::unique_ptr<Bootstrap>> create(Place& place);
  ~Part() override { place_.give_back(*this); }

  NodeId self() const override { return job_.self(); }
  std::uint32_t nodes() const override { return job_.nodes(); }
  std::uint32_t guests() const override { return job_.guests(); }
  std::span<const std::uint32_t> hosts() const override { return job_.hosts(); }
  std::span<const std::uint32_t> clusters() const override { return job_.clusters(); }
  const bootstrap::GatewayRoutes* routes() const override { return job_.routes(); }
  std::string_view host_name(NodeId node) const override { return job_.host_name(node); }
  std::uint32_t nodes_on_host() const override { return job_.nodes_on_host(); }
  base::Result<std::vector<bootstrap::Contribution>> exchange(std::span<const std::byte> bytes,
                                                              std::span<const int> fds) override {
    return place_.exchange(*this, bytes, fds);
  }
  base::Result<bootstrap::History> enter() override { return job_.enter(); }
  void admitted(NodeId guest) override { job_.admitted(guest); }
  void closing() override { job_.closing(); }
  void leaving(bootstrap::Departure departure) override { place_.left(*this, departure); }
  void ending(int code) override { job_.ending(code); }
  [[noreturn]] void fail(std::string_view sentence, int code) override;
  bool is_shared() const override { return place_.has_others(*this); }
  std::uint32_t interfaces() const override { return place_.interfaces(); }
  void answer(std::span<const std::byte> snapshot, std::uint32_t of) override {
    job_.answer(snapshot, of);
  }
  int news_fd() const override { return either_.get(); }
  std::optional<bootstrap::News> take_news() override { return place_.take_news(*this); }

 private:
  friend class Place;

  explicit Part(Place& place) : place_(place), job_(*place.job_) {}
  base::Result<> watch_news();
  void hear(const bootstrap::News& news);
  std::optional<bootstrap::News> next();

  Place& place_;
  bootstrap::Bootstrap& job_;
  bool inside_ = true;                // guarded by the place's joining_
  std::deque<bootstrap::News> news_;  // guarded by the place's news_
  base::UniqueFd heard_;              // readable while there are news in the queue
  base::UniqueFd either_;             // readable while that is, or the launcher's descriptor
};

}  // namespace terrane::membership
