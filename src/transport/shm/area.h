#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/ids.h"
#include "base/result.h"
#include "platform/mapping.h"
#include "transport/shm/node_bits.h"
#include "transport/transport.h"
#include "transport/unique_fd.h"

namespace terrane::transport::shm {

// The inbound area of a node: one memory file that all nodes of the host map. A control page, then
// what steers each sender's ring, then the rings. Untouched rings take no memory. Zero is the
// initial state of everything but the identity, so an area needs no set-up.

inline constexpr std::size_t kLine = 64;
inline constexpr std::size_t kPage = 4096;

// Each cache line has one kind of writer.
struct ControlPage {
  // Written by the owner before its card leaves, then read-only.
  std::uint64_t magic;
  std::uint32_t pid;
  std::uint32_t nodes;
  std::uint64_t ring_bytes;
  // The nodes that have sent: set by senders whose ring is not watched, cleared by the owner before
  // it looks.
  alignas(kLine) NodeBits arrivals;
  // A thread of the owner sleeps, or is about to: the thread that clears it moves the bell on and
  // wakes it in the way that is here (Sleeping).
  alignas(kLine) std::atomic<std::uint32_t> sleeping;
  // The same of those that take in what nobody waits for: they sleep on the bell.
  std::atomic<std::uint32_t> beside;
  std::atomic<std::uint32_t> bell;
  // Threads of the owner that poll all the time: while there are any, nobody is woken.
  std::atomic<std::uint32_t> attending;
};
static_assert(sizeof(ControlPage) == 3 * kLine);
static_assert(sizeof(std::atomic<std::uint32_t>) == 4);

// How a thread sleeps.
enum class Sleeping : std::uint32_t { kNobody = 0, kOnBell = 1, kOnDescriptor = 2 };

struct RingControl {
  // Bytes taken out since the beginning: written by the receiver, read by a sender that is short of
  // space.
  std::atomic<std::uint64_t> head;
  // The receiver looks at this ring in every poll: no need to set the arrival bit.
  alignas(kLine) std::atomic<std::uint32_t> watched;
  // The sender sleeps until there is space.
  std::atomic<std::uint32_t> space_wanted;
};
static_assert(sizeof(RingControl) == 2 * kLine);

struct AreaShape {
  std::uint32_t nodes = 0;
  std::uint64_t ring_bytes = 0;  // a power of two

  static AreaShape for_job(std::uint32_t nodes);
  std::uint64_t rings_offset() const;
  std::uint64_t bytes() const { return rings_offset() + nodes * ring_bytes; }
};

// One ring, as its sender or its receiver sees it.
struct RingView {
  RingControl* control = nullptr;
  std::byte* data = nullptr;
  std::uint64_t bytes = 0;
};

// What it takes to wake an area's owner. Borrows the descriptor; -1: the owner never sleeps on one.
struct Doorbell {
  Doorbell(ControlPage& owner, int fd = -1) : control(&owner), fd(fd) {}

  ControlPage* control;
  int fd;
};

// A mapped inbound area, ours or a peer's. Owns the mapping.
class Area {
 public:
  static base::Result<Area> map(int fd, AreaShape shape);

  ControlPage& control() const { return *reinterpret_cast<ControlPage*>(mapping_.data()); }
  RingView ring(NodeId sender) const;
  // An eventfd of the owner, for owners that sleep on descriptors.
  void hang(UniqueFd bell) { bell_ = std::move(bell); }
  Doorbell doorbell() const { return {control(), bell_.get()}; }

  // The owner signs before it shows the area to anybody; peers check that they mapped what the card
  // announced.
  void sign(std::uint32_t pid);
  bool belongs_to(std::uint32_t pid, AreaShape shape) const;

 private:
  platform::SharedMapping mapping_;
  AreaShape shape_;
  UniqueFd bell_;
};

// Wakes the owner's sleeping threads, if any of those sleep that it concerns. To be called after
// what they wait for was stored with seq_cst.
void wake_owner(const Doorbell& bell, Sleepers whom = Sleepers::kAll) noexcept;

}  // namespace terrane::transport::shm
