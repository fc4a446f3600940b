#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

#include "base/result.h"
#include "runtime/shmem/copy.h"
#include "runtime/shmem/symmetric_memory.h"
#include "transport/transport.h"

namespace terrane::runtime::shmem {

// Blocks at regular distances in the memory of PEs on other hosts. They are packed into messages,
// and the PE at the other end unpacks or fills them; one-sided calls would need one for each block.
// Owns the requests that are not answered yet. Any thread may call.
class StridedMail {
 public:
  // Gives the address of `place` in our own memory; nullptr unless it has all `bytes` from there.
  using Own = std::function<std::byte*(SymmetricAddress place, std::uint64_t bytes)>;

  // The transport outlives it.
  StridedMail(transport::Transport& transport, Own own)
      : transport_(transport), own_(std::move(own)) {}

  // Copies blocks that are strides.from apart from `from` to blocks that are strides.to apart at
  // `at`. Returns a ticket. `from` may be reused when this returns; the copy is complete when
  // done(ticket).
  std::uint64_t put(NodeId pe, SymmetricAddress at, const std::byte* from, const Strides& strides);
  // Copies blocks at `at` to `into`; complete when done(ticket).
  std::uint64_t get(NodeId pe, SymmetricAddress at, std::byte* into, const Strides& strides);
  bool done(std::uint64_t ticket) const;

  // Handles a message of another PE's StridedMail; the receiver calls it. An error is that PE's
  // fault.
  base::Result<> received(NodeId from, transport::Bytes message);

 private:
  // A call under way: `left` answers are missing, and blocks of answers go here.
  struct Pending {
    std::uint64_t left = 0;
    std::byte* into = nullptr;
    Strides strides;
  };
  struct Head;

  std::uint64_t open(std::uint64_t messages, std::byte* into, const Strides& strides);
  base::Result<> spread(NodeId from, const Head& head, transport::Bytes packed);
  base::Result<> fill(NodeId from, const Head& head);
  base::Result<> take(const Head& head, transport::Bytes packed);
  std::byte* find(const Head& head) const;
  void send(NodeId to, const Head& head, transport::Bytes packed);

  transport::Transport& transport_;
  Own own_;
  mutable std::mutex mutex_;  // guards the members below
  std::map<std::uint64_t, Pending> pending_;
  std::uint64_t last_ticket_ = 0;
};

}  // namespace terrane::runtime::shmem
