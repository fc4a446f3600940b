#include "runtime/shmem/operation.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "runtime/shmem/strided_mail.h"

namespace terrane::runtime::shmem {

namespace {

using transport::AtomicOp;

// Strided memory of another host is fetched with its gaps if that is at most this many times the
// size of the blocks.
constexpr std::uint64_t kFetchedWithGaps = 2;
// A block of at least this size is put or fetched by its own call.
constexpr std::uint64_t kBlockOfItsOwn = 4096;

template <typename Word>
std::uint64_t update_near(std::byte* at, const WordUpdate& update) {
  std::atomic_ref<Word> word(*reinterpret_cast<Word*>(at));
  auto operand = static_cast<Word>(update.operand);
  switch (update.op) {
    case WordOp::kFetch:
      return word.load();
    case WordOp::kStore:
      word.store(operand);
      return 0;
    case WordOp::kSwap:
      return word.exchange(operand);
    case WordOp::kAdd:
      return word.fetch_add(operand);
    case WordOp::kAnd:
      return word.fetch_and(operand);
    case WordOp::kOr:
      return word.fetch_or(operand);
    case WordOp::kXor:
      return word.fetch_xor(operand);
    case WordOp::kCompareSwap:
      break;
  }
  auto old = static_cast<Word>(update.expected);
  word.compare_exchange_strong(old, operand);
  return old;
}

std::uint64_t update_near(std::byte* at, const WordUpdate& update) {
  return update.bytes == 4 ? update_near<std::uint32_t>(at, update)
                           : update_near<std::uint64_t>(at, update);
}

// A fetch is an addition of 0.
transport::Atomic as_atomic(const WordUpdate& update) {
  switch (update.op) {
    case WordOp::kFetch:
      return {AtomicOp::kAdd, update.bytes, 0, 0};
    case WordOp::kStore:
    case WordOp::kSwap:
      return {AtomicOp::kSwap, update.bytes, update.operand, 0};
    case WordOp::kAdd:
      return {AtomicOp::kAdd, update.bytes, update.operand, 0};
    case WordOp::kAnd:
      return {AtomicOp::kAnd, update.bytes, update.operand, 0};
    case WordOp::kOr:
      return {AtomicOp::kOr, update.bytes, update.operand, 0};
    case WordOp::kXor:
      return {AtomicOp::kXor, update.bytes, update.operand, 0};
    case WordOp::kCompareSwap:
      break;
  }
  return {AtomicOp::kCompareSwap, update.bytes, update.operand, update.expected};
}

void keep_word(void* into, std::uint64_t word, std::uint32_t bytes) {
  auto half = static_cast<std::uint32_t>(word);
  std::memcpy(into, bytes == 4 ? static_cast<const void*>(&half) : &word, bytes);
}

WordUpdate as_word_update(std::uint64_t value, SignalUpdate update) {
  return {update == SignalUpdate::kSet ? WordOp::kStore : WordOp::kAdd, 8, value, 0};
}

transport::Bytes bytes_at(const void* address, std::uint64_t bytes) {
  return {static_cast<const std::byte*>(address), bytes};
}

transport::WritableBytes room_at(void* address, std::uint64_t bytes) {
  return {static_cast<std::byte*>(address), bytes};
}

}  // namespace

void Operation::put(void* dest, const void* source, std::uint64_t bytes, int pe,
                    Completion completion) {
  There there = find("dest", dest, bytes, pe);
  if (bytes == 0) return;
  check_local("source", source, bytes, there, bytes);
  if (there.near != nullptr) return copy(there.near, source, bytes);
  context_.far_work = true;
  world_.traffic().sent(there.pe, bytes);
  auto from = bytes_at(source, bytes);
  auto& transport = world_.transport();
  good(completion == Completion::kBlocking ? transport.put(there.pe, there.far(), from)
                                           : transport.put_nbi(there.pe, there.far(), from));
}

void Operation::get(void* dest, const void* source, std::uint64_t bytes, int pe,
                    Completion completion) {
  There there = find("source", source, bytes, pe);
  if (bytes == 0) return;
  check_local("dest", dest, bytes, there, bytes);
  if (there.near != nullptr) return copy(dest, there.near, bytes);
  context_.far_work = true;
  world_.traffic().came(there.pe, bytes);
  auto into = room_at(dest, bytes);
  auto& transport = world_.transport();
  good(completion == Completion::kBlocking ? transport.get(there.pe, there.far(), into)
                                           : transport.get_nbi(there.pe, there.far(), into));
}

void Operation::put_strided(void* dest, const void* source, const Strides& strides, int pe) {
  check_strides(strides);
  There there = find("dest", dest, strides.span(strides.to), pe);
  if (strides.payload() == 0) return;
  check_local("source", source, strides.span(strides.from), there, strides.span(strides.to));
  auto* from = static_cast<const std::byte*>(source);
  if (there.near != nullptr) return copy_strided(there.near, from, strides);
  context_.far_work = true;
  world_.traffic().sent(there.pe, strides.payload());
  put_scattered(there, from, strides);
}

void Operation::get_strided(void* dest, const void* source, const Strides& strides, int pe) {
  check_strides(strides);
  There there = find("source", source, strides.span(strides.from), pe);
  if (strides.payload() == 0) return;
  check_local("dest", dest, strides.span(strides.to), there, strides.span(strides.from));
  auto* into = static_cast<std::byte*>(dest);
  if (there.near != nullptr) return copy_strided(into, there.near, strides);
  world_.traffic().came(there.pe, strides.payload());
  get_scattered(into, there, strides);
}

void Operation::put_signal(void* dest, const void* source, std::uint64_t bytes, void* signal,
                           std::uint64_t value, SignalUpdate update, int pe,
                           Completion completion) {
  There word = find_word("sig_addr", signal, 8, pe);
  if (bytes != 0) check_local("source", source, bytes, word, 8);
  put(dest, source, bytes, pe, completion);
  if (word.near == nullptr) good(world_.transport().fence());
  put_signal_at(word, value, update);
}

void Operation::signal(void* signal, std::uint64_t value, SignalUpdate update, int pe) {
  put_signal_at(find_word("sig_addr", signal, 8, pe), value, update);
}

void Operation::put_signal_at(const There& there, std::uint64_t value, SignalUpdate update) {
  WordUpdate word = as_word_update(value, update);
  if (there.near != nullptr) {
    update_near(there.near, word);
    return;
  }
  context_.far_work = true;
  world_.traffic().sent(there.pe, word.bytes);
  good(world_.transport().atomic_post(there.pe, there.far(), as_atomic(word)));
}

std::uint64_t Operation::update(const void* word, const WordUpdate& update, int pe) {
  There there = find_word("dest", word, update.bytes, pe);
  if (there.near != nullptr) return update_near(there.near, update);
  world_.traffic().sent(there.pe, update.bytes);
  return good(world_.transport().atomic_fetch(there.pe, there.far(), as_atomic(update)));
}

void Operation::post(void* word, const WordUpdate& update, int pe) {
  There there = find_word("dest", word, update.bytes, pe);
  if (there.near != nullptr) {
    update_near(there.near, update);
    return;
  }
  context_.far_work = true;
  world_.traffic().sent(there.pe, update.bytes);
  good(world_.transport().atomic_post(there.pe, there.far(), as_atomic(update)));
}

void Operation::update_nbi(void* into, const void* word, const WordUpdate& update, int pe) {
  There there = find_word("dest", word, update.bytes, pe);
  check_local("fetch", into, update.bytes, there, update.bytes);
  if (there.near != nullptr) return keep_word(into, update_near(there.near, update), update.bytes);
  context_.far_work = true;
  world_.traffic().sent(there.pe, update.bytes);
  good(world_.transport().atomic_fetch_nbi(there.pe, there.far(), as_atomic(update),
                                           static_cast<std::byte*>(into)));
}

// Stores to this host's memory are in order already; copies that bypass the caches order
// themselves.
void Operation::fence() {
  order_stores();
  if (context_.far_work.load(std::memory_order_relaxed)) good(world_.transport().fence());
}

void Operation::quiet() {
  finish_stores();
  if (!context_.far_work.load(std::memory_order_relaxed)) return;
  context_.far_work = false;
  good(world_.transport().quiet());
}

void Operation::quiet(const int* pes, std::uint64_t count) {
  if (count == 0) return;
  finish_stores();
  bool far = context_.far_work.load(std::memory_order_relaxed);
  for (std::uint64_t i = 0; i < count; ++i) {
    NodeId pe = world_pe(pes[i]);
    if (far && !world_.memory().in_reach(pe)) good(world_.transport().quiet(pe));
  }
}

// Blocks that are adjacent at the target are packed into one put.
void Operation::put_scattered(const There& there, const std::byte* from, const Strides& strides) {
  auto& transport = world_.transport();
  if (strides.to == static_cast<std::ptrdiff_t>(strides.block)) {
    std::vector<std::byte> packed(strides.payload());
    copy_strided(packed.data(), from, strides);
    return good(transport.put(there.pe, there.far(), packed));
  }
  if (StridedMail* mail = mail_for(there, strides)) {
    return await(*mail, mail->put(there.pe, there.place, from, strides));
  }
  transport::RemoteAddress at = there.far();
  for (std::uint64_t i = 0; i < strides.count; ++i) {
    good(transport.put_nbi(there.pe, at, {from, strides.block}));
    at.offset += static_cast<std::uint64_t>(strides.to);
    from += strides.from;
  }
  good(transport.quiet(there.pe));
}

// Fetches the gaps between the blocks too, if they are small.
void Operation::get_scattered(std::byte* into, const There& there, const Strides& strides) {
  auto& transport = world_.transport();
  std::uint64_t span = strides.span(strides.from);
  if (span <= kFetchedWithGaps * strides.payload()) {
    std::vector<std::byte> fetched(span);
    good(transport.get(there.pe, there.far(), fetched));
    return copy_strided(into, fetched.data(), strides);
  }
  if (StridedMail* mail = mail_for(there, strides)) {
    return await(*mail, mail->get(there.pe, there.place, into, strides));
  }
  transport::RemoteAddress at = there.far();
  for (std::uint64_t i = 0; i < strides.count; ++i) {
    good(transport.get_nbi(there.pe, at, {into, strides.block}));
    at.offset += static_cast<std::uint64_t>(strides.from);
    into += strides.to;
  }
  good(transport.quiet(there.pe));
}

// Small blocks go by StridedMail; for large ones a one-sided call each is faster. Mail is not
// ordered with earlier puts, so these must be complete first.
StridedMail* Operation::mail_for(const There& there, const Strides& strides) {
  StridedMail* mail = strides.block < kBlockOfItsOwn ? world_.strided_mail() : nullptr;
  if (mail != nullptr) good(world_.transport().quiet(there.pe));
  return mail;
}

void Operation::await(const StridedMail& mail, std::uint64_t ticket) {
  world_.wait_until([&] { return mail.done(ticket); });
}

NodeId Operation::world_pe(int pe) {
  if (pe >= 0 && static_cast<std::uint32_t>(pe) < context_.team.size) {
    return context_.team.world_pe(static_cast<std::uint32_t>(pe));
  }
  fail(fmt::format("pe {} does not exist; the context's team has the PEs 0 to {}", pe,
                   context_.team.size - 1));
}

Operation::There Operation::find(const char* argument, const void* address, std::uint64_t bytes,
                                 int pe) {
  NodeId there = world_pe(pe);
  const SymmetricMemory& memory = world_.memory();
  if (bytes == 0) return {there, {}, nullptr};
  if (auto place = memory.locate(address, bytes)) {
    if (call_.strict && !memory.is_given(*place, bytes)) {
      fail(
          fmt::format("{} at {}: its {} bytes lie in no block of the symmetric heap; it was freed, "
                      "or is shorter",
                      argument, fmt::ptr(address), bytes));
    }
    return {there, *place, memory.at(there, *place)};
  }
  if (memory.locate(address, 1)) {
    fail(fmt::format("{} at {}: its {} bytes reach beyond the symmetric memory there", argument,
                     fmt::ptr(address), bytes));
  }
  fail(fmt::format("{} at {} is not symmetric; give a static variable or what shmem_malloc gave",
                   argument, fmt::ptr(address)));
}

Operation::There Operation::find_word(const char* argument, const void* address,
                                      std::uint32_t bytes, int pe) {
  if (reinterpret_cast<std::uintptr_t>(address) % bytes != 0) {
    fail(fmt::format("{} at {} is not aligned to its {} bytes, as an atomic operation needs",
                     argument, fmt::ptr(address), bytes));
  }
  return find(argument, address, bytes, pe);
}

void Operation::check_local(const char* name, const void* here, std::uint64_t bytes,
                            const There& there, std::uint64_t there_bytes) {
  if (!call_.strict) return;
  if (here == nullptr) fail(fmt::format("{} is a null pointer", name));
  if (there.near == nullptr) return;
  auto a = reinterpret_cast<std::uintptr_t>(here);
  auto b = reinterpret_cast<std::uintptr_t>(there.near);
  bool overlap = a < b + there_bytes && b < a + bytes;
  if (overlap) {
    fail(fmt::format("{} at {} overlaps in memory with the object at PE {}", name, fmt::ptr(here),
                     there.pe.value));
  }
}

void Operation::check_strides(const Strides& strides) {
  auto block = static_cast<std::ptrdiff_t>(strides.block);
  bool forward = strides.to >= block && strides.from >= block;
  if (strides.count > 1 && strides.block != 0 && !forward) {
    fail("dst and sst must not be less than the size of a block (1, where there are no blocks)");
  }
}

std::string Operation::sentence(const std::string& what) const {
  return fmt::format("{}: {}{}", call_.name, what, call_.place == nullptr ? "" : call_.place());
}

void Operation::fail(const std::string& what) {
  world_.fail(sentence(what));
  __builtin_unreachable();  // gcc does not see that a virtual function never returns
}

void Operation::fail_unreached(const std::string& what) {
  world_.fail_unreached(sentence(what));
  __builtin_unreachable();
}

template <typename T>
T Operation::good(base::Result<T> result) {
  if (!result) fail_unreached(result.error().message);
  return std::move(result).value();
}

void Operation::good(const base::Result<>& result) {
  if (!result) fail_unreached(result.error().message);
}

}  // namespace terrane::runtime::shmem
