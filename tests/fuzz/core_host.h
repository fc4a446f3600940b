#pragma once

#include <array>
#include <deque>
#include <functional>
#include <vector>

#include "fuzz/input_reader.h"
#include "protocol/core/core.h"

namespace terrane::fuzz {

// An honest node whose peers are not: owns a Core and plays the host that drives it, with threads
// that lock, wait in barriers, allocate, release and touch pages as an input says. Ends the process
// when the core breaks a guarantee: resumes a thread that does not wait for that, sends to no node,
// names what lies outside the job.
class CoreHost {
 public:
  static constexpr std::uint32_t kThreads = 6;
  static constexpr std::uint64_t kBlocks = 256;
  static constexpr std::uint64_t kScFirst = 192;
  static constexpr std::uint32_t kBlockBytes = 16;

  using Sender = std::function<void(NodeId to, std::span<const std::byte> message)>;

  // `send` is given every message that the core sends.
  CoreHost(NodeId self, std::uint32_t nodes, Sender send);

  // Decided by the input: what a thread of this node does next, if it can.
  void act(InputReader& input);
  // From a peer that has sent nothing malformed so far.
  void receive(NodeId from, std::span<const std::byte> message);
  bool closed(NodeId peer) const { return closed_[peer.value]; }

 private:
  enum class Wait : std::uint8_t {
    kNothing,
    kAcquire,
    kHandOff,
    kEnter,
    kBarrierExit,
    kAllocate,
    kFind,
    kFree,
    kScAsk,
    kScAwait,
    kOffer
  };
  struct Thread {
    Wait wait = Wait::kNothing;
    bool holds = false;
    LockId lock;
    BarrierId barrier;
    std::uint64_t first = 0;  // of an allocation
    std::uint64_t page = 0;   // asked for, counted from kScFirst
  };

  void step(const protocol::Event& event);
  std::vector<std::byte> message_of(const protocol::Send& send, wire::Bytes bytes) const;
  void carry_out(const protocol::Resume& resume, std::vector<std::byte> payload);
  void granted(Thread& thread, std::uint64_t value, const std::vector<std::byte>& payload);
  void handed_off(Thread& thread, protocol::WaiterId waiter, std::uint64_t value);
  void entered(Thread& thread, protocol::WaiterId waiter, std::uint64_t value);
  void departed(Thread& thread, std::uint64_t number, const std::vector<std::byte>& payload);
  void allocated(Thread& thread, std::uint64_t status, const std::vector<std::byte>& payload);
  void take_lock(Thread& thread, protocol::WaiterId waiter, std::uint32_t lock);
  void enter_barrier(Thread& thread, protocol::WaiterId waiter, std::uint32_t barrier);
  void allocate(Thread& thread, protocol::WaiterId waiter, InputReader& input);
  void release_blocks(InputReader& input);
  void ask_page(Thread& thread, protocol::WaiterId waiter, protocol::Access access);
  void asked(Thread& thread, protocol::WaiterId waiter, std::uint64_t granted);
  void yield(const protocol::Recall& recall);

  NodeId self_;
  std::uint32_t nodes_;
  Sender send_;
  protocol::Core core_;
  std::array<Thread, kThreads> threads_;
  std::array<std::uint32_t, 4> in_barrier_{};  // threads that wait in each
  std::deque<protocol::Drop> drops_;
  std::deque<LockId> turns_;              // that were extended
  std::deque<LockId> kept_;               // whose tokens wait for a release
  std::array<std::uint64_t, 4> pages_{};  // the Access that this node has to each
  std::deque<protocol::Expire> expires_;
  std::vector<bool> closed_;
  // What a lock's next holder here will want.
  std::vector<wire::WantedBlock> wanted_{{.block = 1, .home = 0}, {.block = 2, .home = 1}};
  std::uint32_t collective_ = 0;
};

}  // namespace terrane::fuzz
