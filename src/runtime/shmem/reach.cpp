#include "runtime/shmem/reach.h"

#include <fmt/format.h>

namespace terrane::runtime::shmem {
namespace {

transport::RemoteAddress remote(SymmetricAddress place) {
  return {static_cast<std::uint32_t>(place.part), place.offset};
}

// Returns the value, or ends the job. The error names the PE, which may not be the one of the call:
// a fence is for all PEs.
template <typename Value>
Value must(World& world, base::Result<Value> result) {
  if (!result) {
    world.fail_unreached(fmt::format("another host could not be reached in a collective call: {}",
                                     result.error().message));
  }
  if constexpr (!std::is_void_v<Value>) return result.value();
}

template <typename Word>
Word perform(std::atomic_ref<Word> word, transport::AtomicOp op, Word operand, Word expected) {
  switch (op) {
    case transport::AtomicOp::kAdd:
      return word.fetch_add(operand);
    case transport::AtomicOp::kAnd:
      return word.fetch_and(operand);
    case transport::AtomicOp::kOr:
      return word.fetch_or(operand);
    case transport::AtomicOp::kXor:
      return word.fetch_xor(operand);
    case transport::AtomicOp::kSwap:
      return word.exchange(operand);
    case transport::AtomicOp::kCompareSwap:
      word.compare_exchange_strong(expected, operand);
      return expected;
  }
  __builtin_unreachable();
}

}  // namespace

void Reach::put_far(NodeId pe, SymmetricAddress to, const void* from, std::uint64_t bytes) const {
  transport::Bytes data(static_cast<const std::byte*>(from), bytes);
  world_->traffic().sent(pe, bytes);
  must(*world_, world_->transport().put(pe, remote(to), data));
}

void Reach::get_far(NodeId pe, SymmetricAddress from, void* into, std::uint64_t bytes) const {
  std::span<std::byte> data(static_cast<std::byte*>(into), bytes);
  world_->traffic().came(pe, bytes);
  must(*world_, world_->transport().get(pe, remote(from), data));
}

void Reach::start_get(NodeId pe, SymmetricAddress from, void* into, std::uint64_t bytes) const {
  if (world_->memory().in_reach(pe)) return get(pe, from, into, bytes);
  std::span<std::byte> data(static_cast<std::byte*>(into), bytes);
  world_->traffic().came(pe, bytes);
  must(*world_, world_->transport().get_nbi(pe, remote(from), data));
}

void Reach::post(NodeId pe, SymmetricAddress word, std::uint64_t value) const {
  if (std::byte* here = world_->memory().at(pe, word)) {
    std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(here))
        .store(value, std::memory_order_release);
    return;
  }
  put_and_post(pe, word, nullptr, 0, word, value);
}

void Reach::put_and_post(NodeId pe, SymmetricAddress to, const void* from, std::uint64_t bytes,
                         SymmetricAddress word, std::uint64_t value) const {
  if (world_->memory().in_reach(pe)) {
    put(pe, to, from, bytes);
    return post(pe, word, value);
  }
  transport::Bytes data(static_cast<const std::byte*>(from), bytes);
  world_->traffic().sent(pe, bytes + sizeof value);
  must(*world_, world_->transport().put_and_set(pe, remote(to), data, remote(word), value));
}

std::uint64_t Reach::load(NodeId pe, SymmetricAddress word) const {
  if (std::byte* here = world_->memory().at(pe, word)) {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(here))
        .load(std::memory_order_acquire);
  }
  std::uint64_t value = 0;
  get_far(pe, word, &value, sizeof value);
  return value;
}

template <typename Word>
Word Reach::atomic(NodeId pe, SymmetricAddress word, transport::AtomicOp op, Word operand,
                   Word expected) const {
  if (std::byte* here = world_->memory().at(pe, word)) {
    return perform(std::atomic_ref<Word>(*reinterpret_cast<Word*>(here)), op, operand, expected);
  }
  transport::Atomic what;
  what.op = op;
  what.bytes = sizeof(Word);
  what.operand = operand;
  what.expected = expected;
  world_->traffic().sent(pe, sizeof(Word));
  return static_cast<Word>(must(*world_, world_->transport().atomic_fetch(pe, remote(word), what)));
}

std::uint64_t Reach::fetch(NodeId pe, SymmetricAddress word) const {
  return world_->memory().in_reach(pe) ? load(pe, word) : fetch_or(pe, word, 0);
}
std::uint64_t Reach::fetch_or(NodeId pe, SymmetricAddress word, std::uint64_t bits) const {
  return atomic<std::uint64_t>(pe, word, transport::AtomicOp::kOr, bits);
}
std::uint64_t Reach::fetch_and(NodeId pe, SymmetricAddress word, std::uint64_t bits) const {
  return atomic<std::uint64_t>(pe, word, transport::AtomicOp::kAnd, bits);
}
std::uint32_t Reach::fetch_or32(NodeId pe, SymmetricAddress word, std::uint32_t bits) const {
  return atomic<std::uint32_t>(pe, word, transport::AtomicOp::kOr, bits);
}
std::uint32_t Reach::fetch_and32(NodeId pe, SymmetricAddress word, std::uint32_t bits) const {
  return atomic<std::uint32_t>(pe, word, transport::AtomicOp::kAnd, bits);
}
std::uint32_t Reach::swap32(NodeId pe, SymmetricAddress word, std::uint32_t value) const {
  return atomic<std::uint32_t>(pe, word, transport::AtomicOp::kSwap, value);
}
std::uint32_t Reach::compare_swap32(NodeId pe, SymmetricAddress word, std::uint32_t expected,
                                    std::uint32_t value) const {
  return atomic<std::uint32_t>(pe, word, transport::AtomicOp::kCompareSwap, value, expected);
}

void Reach::quiet() const {
  if (world_->one_host()) return;
  if (quiet_toward_ == nullptr) return must(*world_, world_->transport().quiet());
  for (NodeId pe : *quiet_toward_) must(*world_, world_->transport().quiet(pe));
}

}  // namespace terrane::runtime::shmem
