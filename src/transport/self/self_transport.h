#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "transport/interrupt_ledger.h"
#include "transport/message_queue.h"
#include "transport/regions.h"
#include "transport/spin_lock.h"
#include "transport/transport.h"

namespace terrane::transport::self {

// The transport of a job of one: a queue from the node to itself. Owns the queued messages.
class SelfTransport final : public Transport {
 public:
  explicit SelfTransport(std::unique_ptr<Regions> regions) : regions_(std::move(regions)) {}

  std::string_view name() const override { return "self"; }
  void send(NodeId to, Bytes head, Bytes tail) override;
  std::size_t poll(Receiver& receiver) override;
  bool pending() const override { return queued_.load() != 0; }
  void sleep(std::uint64_t timeout_ns) override;
  void attend() override { attending_.fetch_add(1); }
  bool unattend() override {
    attending_.fetch_sub(1);
    return pending();
  }
  void interrupt() override;
  std::byte* reach(NodeId peer, std::uint32_t region) override {
    return regions_->reach(peer, region);
  }
  std::uint64_t region_bytes(NodeId peer, std::uint32_t region) const override {
    return regions_->bytes(peer, region);
  }

 private:
  void wake() noexcept;

  std::unique_ptr<Regions> regions_;
  InterruptLedger interrupts_;
  std::atomic<std::uint32_t> bell_{0};
  std::atomic<std::uint32_t> sleeping_{0};
  std::atomic<std::uint32_t> attending_{0};
  std::atomic<std::uint64_t> queued_{0};
  SpinLock lock_;  // guards incoming_
  MessageQueue incoming_;
  SpinLock delivering_;  // held by the thread that delivers; guards delivered_
  MessageQueue delivered_;
};

}  // namespace terrane::transport::self
