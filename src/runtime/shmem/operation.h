#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/shmem/context.h"
#include "runtime/shmem/copy.h"
#include "runtime/shmem/world.h"

namespace terrane::runtime::shmem {

// When a call that copies may return.
enum class Completion : std::uint8_t {
  kBlocking,    // when the local memory may be used again: a put's source, a get's result
  kNonBlocking  // at once; the local memory belongs to the operation until quiet
};

enum class SignalUpdate : std::uint8_t { kSet, kAdd };

// An operation on a word of 4 or 8 bytes: those of transport::Atomic, kFetch and kStore.
enum class WordOp : std::uint8_t { kFetch, kStore, kSwap, kCompareSwap, kAdd, kAnd, kOr, kXor };
struct WordUpdate {
  WordOp op = WordOp::kFetch;
  std::uint32_t bytes = 8;
  std::uint64_t operand = 0;
  std::uint64_t expected = 0;
};

// The function that the program called.
struct CallSite {
  const char* name;
  // Also checks for errors that do no harm here, such as operands that overlap.
  bool strict = false;
  // Names the place of the program's call, for the end of an error message; may be nullptr.
  std::string (*place)() = nullptr;
};

// One call of the data path: finds the other PE's memory and works on it, by loads and stores if it
// is in reach, otherwise by the transport. Checks every argument: a PE that is not in the context's
// team, or an object that is not in symmetric memory, ends the job with an error message. `pe` is a
// number in the context's team. A symmetric object is named by its address in this process.
class Operation {
 public:
  Operation(World& world, Context& context, const CallSite& call)
      : world_(world), context_(context), call_(call) {}

  void put(void* dest, const void* source, std::uint64_t bytes, int pe, Completion completion);
  void get(void* dest, const void* source, std::uint64_t bytes, int pe, Completion completion);
  void put_strided(void* dest, const void* source, const Strides& strides, int pe);
  void get_strided(void* dest, const void* source, const Strides& strides, int pe);
  // Updates the signal after the data have been stored.
  void put_signal(void* dest, const void* source, std::uint64_t bytes, void* signal,
                  std::uint64_t value, SignalUpdate update, int pe, Completion completion);
  void signal(void* signal, std::uint64_t value, SignalUpdate update, int pe);
  // Returns the old word; kStore returns nothing useful.
  std::uint64_t update(const void* word, const WordUpdate& update, int pe);
  // Without a result if the operation permits that: may return before a far word has changed.
  void post(void* word, const WordUpdate& update, int pe);
  // After quiet the result is in `into`, which has as many bytes as the word.
  void update_nbi(void* into, const void* word, const WordUpdate& update, int pe);

  void fence();
  void quiet();
  // The part of fence and quiet for memory in reach. order_stores: other PEs see this thread's
  // stores in order. finish_stores: all PEs see them when this returns.
  static void order_stores() { std::atomic_thread_fence(std::memory_order_acq_rel); }
  static void finish_stores() { std::atomic_thread_fence(std::memory_order_seq_cst); }
  // Quiet for puts to `count` PEs only.
  void quiet(const int* pes, std::uint64_t count);

 private:
  // The object of another PE that corresponds to one of ours.
  struct There {
    NodeId pe;
    SymmetricAddress place;
    std::byte* near;  // nullptr: on another host

    transport::RemoteAddress far() const {
      return {static_cast<std::uint32_t>(place.part), place.offset};
    }
  };

  NodeId world_pe(int pe);
  There find(const char* argument, const void* address, std::uint64_t bytes, int pe);
  There find_word(const char* argument, const void* address, std::uint32_t bytes, int pe);
  // For strict calls: checks that `here` is not nullptr and does not overlap the other object.
  void check_local(const char* name, const void* here, std::uint64_t bytes, const There& there,
                   std::uint64_t there_bytes);
  void check_strides(const Strides& strides);
  void put_signal_at(const There& there, std::uint64_t value, SignalUpdate update);
  void put_scattered(const There& there, const std::byte* from, const Strides& strides);
  void get_scattered(std::byte* into, const There& there, const Strides& strides);
  StridedMail* mail_for(const There& there, const Strides& strides);
  void await(const StridedMail& mail, std::uint64_t ticket);
  // The transport's result. An error ends the job; its message names the PE that was not reached.
  template <typename T>
  T good(base::Result<T> result);
  void good(const base::Result<>& result);
  [[noreturn]] void fail(const std::string& what);
  [[noreturn]] void fail_unreached(const std::string& what);
  std::string sentence(const std::string& what) const;

  World& world_;
  Context& context_;
  CallSite call_;
};

}  // namespace terrane::runtime::shmem
