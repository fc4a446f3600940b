#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "runtime/shmem/strided_mail.h"
#include "transport/transport.h"
#include "waiting/handler_thread.h"

namespace terrane::runtime::shmem {

// Serves the PEs of other hosts: handles their requests to this process's memory, in its own thread
// while the program computes, and in threads that wait. Reports a PE that is lost, unless the
// launcher ends the job first. Owns the thread. Any thread may call.
class FarService final : private transport::Receiver {
 public:
  using LossHandler = std::function<void(NodeId peer, const std::string& why)>;

  // The transport outlives it. `on_loss` is called once, seconds after a loss, in the service's
  // thread.
  FarService(transport::Transport& transport, StridedMail::Own own, LossHandler on_loss);
  ~FarService() override { thread_.stop(); }

  // Between attend() and unattend() the calling thread calls progress() again and again, and the
  // service's thread sleeps.
  void attend() { transport_.attend(); }
  // True: some message was handled, here or in another thread that polls.
  bool progress() {
    std::uint64_t moves = transport_.moves();
    if (transport_.pending()) transport_.poll(*this);
    return transport_.moves() != moves;
  }
  void unattend() {
    if (transport_.unattend()) progress();
  }
  // For a thread between attend() and unattend(): sleeps until a message comes, or for
  // `timeout_ns`.
  void sleep(std::uint64_t timeout_ns);

  // The requests between PEs that are not one-sided.
  StridedMail& mail() { return mail_; }

  // expected: PEs may leave the job in order now, so a lost connection is no error.
  void expect_losses(bool expected) { expected_.store(expected); }

 private:
  void received(NodeId from, transport::Bytes message) override;
  void lost(NodeId peer, std::string_view why) override;
  waiting::HandlerTurn turn();

  transport::Transport& transport_;
  StridedMail mail_;
  LossHandler on_loss_;
  std::atomic<bool> expected_{false};
  NodeId lost_;  // the first one; written before lost_at_ns_
  std::string why_;
  std::atomic<std::uint64_t> lost_at_ns_{0};
  bool told_ = false;
  waiting::HandlerThread thread_;
};

}  // namespace terrane::runtime::shmem
