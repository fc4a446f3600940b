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
  kBlocking,    // the memory here may be used again: a put's source, a get's result
  kNonBlocking  // at once; the memory here belongs to the operation until quiet
};

enum class SignalUpdate : std::uint8_t { kSet, kAdd };

// One operation on a word of 4 or 8 bytes; see transport::Atomic. kFetch and kStore besides.
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
  // Looks also for what is wrong without doing harm here, such as operands that overlap.
  bool strict = false;
  // Where the program called it, for the end of a sentence; may be nullptr.
  std::string (*place)() = nullptr;
};

// One call of the data path: finds the other PE's memory and
// does the work there, by loads and stores where it is in reach, else through the transport. Every
// argument is checked: a PE that the context's team does not have, or an object that is not
// symmetric memory, ends the job with a sentence. `pe` counts the context's team; what is said to
// be symmetric is named by its address here.
class Operation {
 public:
  Operation(World& world, Context& context, const CallSite& call)
      : world_(world), context_(context), call_(call) {}

  void put(void* dest, const void* source, std::uint64_t bytes, int pe, Completion completion);
  void get(void* dest, const void* source, std::uint64_t bytes, int pe, Completion completion);
  void put_strided(void* dest, const void* source, const Strides& strides, int pe);
  void get_strided(void* dest, const void* source, const Strides& strides, int pe);
  // The signal is updated after the data are there.
  void put_signal(void* dest, const void* source, std::uint64_t bytes, void* signal,
                  std::uint64_t value, SignalUpdate update, int pe, Completion completion);
  void signal(void* signal, std::uint64_t value, SignalUpdate update, int pe);
  // Returns the word as it was. kStore returns nothing of use.
  std::uint64_t update(const void* word, const WordUpdate& update, int pe);
  // Without a result where the operation allows it: returns before it has taken place far away.
  void post(void* word, const WordUpdate& update, int pe);
  // The result is in `into`, which has as many bytes, after quiet.
  void update_nbi(void* into, const void* word, const WordUpdate& update, int pe);

  void fence();
  void quiet();
  // The part of both that concerns memory in reach: stores of this thread are seen in order; or by
  // all PEs when this returns.
  static void order_stores() { std::atomic_thread_fence(std::memory_order_acq_rel); }
  static void finish_stores() { std::atomic_thread_fence(std::memory_order_seq_cst); }
  // Toward `count` PEs only.
  void quiet(const int* pes, std::uint64_t count);

 private:
  // An object of ours at another PE.
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
  // Strict calls: the object here is one, and none of it is the object there.
  void check_local(const char* name, const void* here, std::uint64_t bytes, const There& there,
                   std::uint64_t there_bytes);
  void check_strides(const Strides& strides);
  void put_signal_at(const There& there, std::uint64_t value, SignalUpdate update);
  void put_scattered(const There& there, const std::byte* from, const Strides& strides);
  void get_scattered(std::byte* into, const There& there, const Strides& strides);
  StridedMail* mail_for(const There& there, const Strides& strides);
  void await(const StridedMail& mail, std::uint64_t ticket);
  // What the transport answered. Its error names the PE that it could not reach.
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
