#include "transport/one_sided.h"

#include <atomic>
#include <cstring>

namespace terrane::transport {
namespace {

template <typename Word>
Word store_if_equal(std::atomic_ref<Word> word, const Atomic& atomic) {
  auto found = static_cast<Word>(atomic.expected);
  word.compare_exchange_strong(found, static_cast<Word>(atomic.operand));
  return found;
}

template <typename Word>
Word perform(std::byte* at, const Atomic& atomic) {
  std::atomic_ref<Word> word(*reinterpret_cast<Word*>(at));
  auto operand = static_cast<Word>(atomic.operand);
  switch (atomic.op) {
    case AtomicOp::kAdd:
      return word.fetch_add(operand);
    case AtomicOp::kAnd:
      return word.fetch_and(operand);
    case AtomicOp::kOr:
      return word.fetch_or(operand);
    case AtomicOp::kXor:
      return word.fetch_xor(operand);
    case AtomicOp::kSwap:
      return word.exchange(operand);
    case AtomicOp::kCompareSwap:
      return store_if_equal(word, atomic);
  }
  __builtin_unreachable();
}

std::uint64_t perform_on(std::byte* at, const Atomic& atomic) {
  if (atomic.bytes == 8) return perform<std::uint64_t>(at, atomic);
  return perform<std::uint32_t>(at, atomic);
}

template <typename Word>
void copy_word(std::byte* to, const std::byte* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  std::atomic_ref<Word>(*reinterpret_cast<Word*>(to)).store(word, std::memory_order_release);
}

// A whole word is stored once: memcpy may store some bytes twice, and so undo what the target
// stored in between.
void store(std::byte* to, Bytes from) {
  std::uint64_t place = reinterpret_cast<std::uintptr_t>(to) | from.size();
  if (from.size() == 8 && place % 8 == 0) return copy_word<std::uint64_t>(to, from.data());
  if (from.size() == 4 && place % 4 == 0) return copy_word<std::uint32_t>(to, from.data());
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

}  // namespace

base::Result<> OneSided::check(NodeId peer, RemoteAddress at, std::uint64_t bytes) const {
  std::uint64_t size = region_bytes(peer, at.region);
  if (at.offset <= size && bytes <= size - at.offset) return {};
  return base::error("one-sided: {} bytes at {} are not in region {} of node {}, which has {}",
                     bytes, at.offset, at.region, peer.value, size);
}

base::Result<> OneSided::check(NodeId peer, RemoteAddress at, const Atomic& atomic) const {
  if ((atomic.bytes != 4 && atomic.bytes != 8) || at.offset % atomic.bytes != 0) {
    return base::error(
        "one-sided: an atomic of {} bytes at {} in region {} of node {}: words have 4 or 8 bytes "
        "and lie at multiples of that",
        atomic.bytes, at.offset, at.region, peer.value);
  }
  return check(peer, at, std::uint64_t{atomic.bytes});
}

base::Result<> OneSided::check_post(NodeId peer, RemoteAddress at, const Atomic& atomic) const {
  if (atomic.op == AtomicOp::kCompareSwap) {
    return base::error("one-sided: a compare-swap has a result: use atomic_fetch");
  }
  return check(peer, at, atomic);
}

template <typename What>
base::Result<std::byte*> OneSided::locate(NodeId peer, RemoteAddress at, const What& what) {
  if (auto inside = check(peer, at, what); !inside) return inside.error();
  std::byte* region = reach(peer, at.region);
  if (region != nullptr) return region + at.offset;
  return base::error("one-sided: region {} of node {} cannot be reached from here", at.region,
                     peer.value);
}

base::Result<> OneSided::put(NodeId peer, RemoteAddress to, Bytes from) {
  auto place = locate(peer, to, from.size());
  if (!place) return place.error();
  store(place.value(), from);
  return {};
}

base::Result<> OneSided::get(NodeId peer, RemoteAddress from, WritableBytes into) {
  auto place = locate(peer, from, into.size());
  if (!place) return place.error();
  if (!into.empty()) std::memcpy(into.data(), place.value(), into.size());
  return {};
}

base::Result<> OneSided::put_nbi(NodeId peer, RemoteAddress to, Bytes from) {
  return OneSided::put(peer, to, from);
}

base::Result<> OneSided::get_nbi(NodeId peer, RemoteAddress from, WritableBytes into) {
  return OneSided::get(peer, from, into);
}

base::Result<std::uint64_t> OneSided::atomic_fetch(NodeId peer, RemoteAddress word,
                                                   const Atomic& atomic) {
  auto place = locate(peer, word, atomic);
  if (!place) return place.error();
  return perform_on(place.value(), atomic);
}

base::Result<> OneSided::atomic_fetch_nbi(NodeId peer, RemoteAddress word, const Atomic& atomic,
                                          std::byte* into) {
  auto before = OneSided::atomic_fetch(peer, word, atomic);
  if (!before) return before.error();
  std::memcpy(into, &before.value(), atomic.bytes);
  return {};
}

base::Result<> OneSided::atomic_post(NodeId peer, RemoteAddress word, const Atomic& atomic) {
  if (auto fits = check_post(peer, word, atomic); !fits) return fits;
  auto before = OneSided::atomic_fetch(peer, word, atomic);
  if (!before) return before.error();
  return {};
}

base::Result<> OneSided::put_and_set(NodeId peer, RemoteAddress to, Bytes from, RemoteAddress word,
                                     std::uint64_t value) {
  if (auto fits = check(peer, word, Atomic{}); !fits) return fits;
  if (auto done = put(peer, to, from); !done) return done;
  if (auto done = fence(); !done) return done;
  return put(peer, word, std::as_bytes(std::span(&value, 1)));
}

base::Result<> OneSided::fence() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return {};
}

base::Result<> OneSided::quiet(NodeId) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return {};
}

base::Result<> OneSided::quiet() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return {};
}

}  // namespace terrane::transport
