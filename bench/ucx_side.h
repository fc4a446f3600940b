#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "transport/ucx/worker.h"

namespace terrane::bench {

// One end of UCX's own puts, gets and atomics, with the settings of our transport: the floor beside
// which it is measured. Owns UCX's things. One thread at a time.
class UcxSide {
 public:
  // Opens UCX on the interfaces ("lo"), and lets the other end reach `memory`, which outlives us.
  // Refuses where UCX does.
  static base::Result<std::unique_ptr<UcxSide>> open(const std::string& devices,
                                                     std::span<std::byte> memory);
  ~UcxSide();
  UcxSide(const UcxSide&) = delete;

  // What the other end has to know, in kCardBytes.
  static constexpr std::size_t kCardBytes = 2048;
  const std::vector<std::byte>& card() const { return card_; }
  base::Result<> connect(const std::byte* card);

  // To and from the begin of the other end's memory; each returns when it is done there.
  void put_quiet(std::size_t bytes) { put_all(bytes, 1); }
  void put_all(std::size_t bytes, std::uint64_t count);
  void get(std::size_t bytes);
  void fetch_add();

  // Moves on what the other end wants.
  unsigned progress() { return worker_->progress(); }
  // True when event_fd() will tell of all that comes from now on.
  bool arm() { return worker_->arm(); }
  int event_fd() const { return worker_->event_fd(); }

 private:
  UcxSide() = default;
  const transport::ucx::UcxApi& api() const { return worker_->api(); }
  void add_to_card(const void* data, std::size_t bytes);
  void finish(ucs_status_ptr_t request);

  std::unique_ptr<transport::ucx::Worker> worker_;
  ucp_ep_h endpoint_ = nullptr;
  ucp_rkey_h key_ = nullptr;
  std::uint64_t target_ = 0;
  std::vector<std::byte> card_;
  std::vector<std::byte> buffer_;
};

}  // namespace terrane::bench
