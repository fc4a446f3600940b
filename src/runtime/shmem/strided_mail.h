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

// Blocks at regular distances in the memory of PEs on other hosts: packed into messages, which the
// PE at the other end spreads out or fills, where one-sided calls would be one a block. Owns what
// is not answered yet. Any thread.
class StridedMail {
 public:
  // Our own memory: where a place lies, or nullptr unless all `bytes` from it do.
  using Own = std::function<std::byte*(SymmetricAddress place, std::uint64_t bytes)>;

  // The transport outlives it.
  StridedMail(transport::Transport& transport, Own own)
      : transport_(transport), own_(std::move(own)) {}

  // The blocks from `from` on, strides.from apart, to `at` and on, strides.to apart. `from` is free
  // when this returns; they are there when done(ticket).
  std::uint64_t put(NodeId pe, SymmetricAddress at, const std::byte* from, const Strides& strides);
  // The blocks from `at` on to `into` and on; they are there when done(ticket).
  std::uint64_t get(NodeId pe, SymmetricAddress at, std::byte* into, const Strides& strides);
  bool done(std::uint64_t ticket) const;

  // A message that another PE's StridedMail sent; a receiver calls it. The error is that PE's.
  base::Result<> received(NodeId from, transport::Bytes message);

 private:
  // What is under way: `left` answers are to come, and blocks go here.
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
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::uint64_t, Pending> pending_;
  std::uint64_t last_ticket_ = 0;
};

}  // namespace terrane::runtime::shmem
