// Signals, with data and without: the specification's section "Signaling Operations".
#include "frontend/shmem/call.h"
#include "frontend/shmem/process.h"

using terrane::frontend::shmem::Completion;
using terrane::frontend::shmem::near_bytes;
using terrane::frontend::shmem::operation;
using terrane::frontend::shmem::SignalUpdate;
using terrane::frontend::shmem::times;

namespace {

void update_near(std::byte* at, std::uint64_t value, bool add) {
  std::atomic_ref<std::uint64_t> word(*reinterpret_cast<std::uint64_t*>(at));
  if (add) {
    word.fetch_add(value, std::memory_order_release);
  } else {
    word.store(value, std::memory_order_release);
  }
}

SignalUpdate update_of(int sig_op, const char* call) {
  if (sig_op == SHMEM_SIGNAL_SET) return SignalUpdate::kSet;
  if (sig_op == SHMEM_SIGNAL_ADD) return SignalUpdate::kAdd;
  terrane::frontend::shmem::fail(
      call, fmt::format("sig_op {} is neither SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD", sig_op));
}

// What a put with a signal is to do.
struct Signal {
  std::uint64_t* address;
  std::uint64_t value;
  int op;
};

void put_signal(shmem_ctx_t ctx, void* dest, const void* source, std::uint64_t bytes,
                const Signal& signal, int pe, const char* call, Completion completion) {
  SignalUpdate update = update_of(signal.op, call);
  auto* there = near_bytes(ctx, dest, bytes, pe);
  auto* word = near_bytes(ctx, signal.address, sizeof(std::uint64_t), pe);
  if (there == nullptr || word == nullptr) {
    return operation(ctx, call).put_signal(dest, source, bytes, signal.address, signal.value,
                                           update, pe, completion);
  }
  terrane::frontend::shmem::copy(there, source, bytes);
  update_near(word, signal.value, update == SignalUpdate::kAdd);
}

void signal_alone(shmem_ctx_t ctx, const Signal& signal, int pe, const char* call) {
  SignalUpdate update = update_of(signal.op, call);
  if (auto* word = near_bytes(ctx, signal.address, sizeof(std::uint64_t), pe)) {
    return update_near(word, signal.value, update == SignalUpdate::kAdd);
  }
  operation(ctx, call).signal(signal.address, signal.value, update, pe);
}

}  // namespace

#define PUT_SIGNAL_BODY(CTX, COMPLETION, BYTES, CALL)                          \
  {                                                                            \
    put_signal(CTX, dest, source, BYTES, {sig_addr, signal, sig_op}, pe, CALL, \
               Completion::COMPLETION);                                        \
  }
#define SIGNAL_BODY(CTX, OP, CALL) \
  { signal_alone(CTX, {sig_addr, signal, OP}, pe, CALL); }

#define SIGNALS_OF_TYPE(D, NAME, TYPE)                                                           \
  TERRANE_SHMEM_DEFINE_BOTH(void, NAME##_put_signal,                                             \
                            (TYPE * dest, const TYPE* source, size_t nelems, uint64_t* sig_addr, \
                             uint64_t signal, int sig_op, int pe),                               \
                            (shmem_ctx_t ctx, TYPE * dest, const TYPE* source, size_t nelems,    \
                             uint64_t* sig_addr, uint64_t signal, int sig_op, int pe),           \
                            PUT_SIGNAL_BODY, kBlocking, times(nelems, sizeof(TYPE)))             \
  TERRANE_SHMEM_DEFINE_BOTH(void, NAME##_put_signal_nbi,                                         \
                            (TYPE * dest, const TYPE* source, size_t nelems, uint64_t* sig_addr, \
                             uint64_t signal, int sig_op, int pe),                               \
                            (shmem_ctx_t ctx, TYPE * dest, const TYPE* source, size_t nelems,    \
                             uint64_t* sig_addr, uint64_t signal, int sig_op, int pe),           \
                            PUT_SIGNAL_BODY, kNonBlocking, times(nelems, sizeof(TYPE)))

#define SIGNALS_OF_SIZE(D, BITS)                                                                \
  TERRANE_SHMEM_DEFINE_BOTH(void, put##BITS##_signal,                                           \
                            (void* dest, const void* source, size_t nelems, uint64_t* sig_addr, \
                             uint64_t signal, int sig_op, int pe),                              \
                            (shmem_ctx_t ctx, void* dest, const void* source, size_t nelems,    \
                             uint64_t* sig_addr, uint64_t signal, int sig_op, int pe),          \
                            PUT_SIGNAL_BODY, kBlocking, times(nelems, BITS / 8))                \
  TERRANE_SHMEM_DEFINE_BOTH(void, put##BITS##_signal_nbi,                                       \
                            (void* dest, const void* source, size_t nelems, uint64_t* sig_addr, \
                             uint64_t signal, int sig_op, int pe),                              \
                            (shmem_ctx_t ctx, void* dest, const void* source, size_t nelems,    \
                             uint64_t* sig_addr, uint64_t signal, int sig_op, int pe),          \
                            PUT_SIGNAL_BODY, kNonBlocking, times(nelems, BITS / 8))

extern "C" {

TERRANE_SHMEM_RMA_TYPES(SIGNALS_OF_TYPE, )
TERRANE_SHMEM_SIZES(SIGNALS_OF_SIZE, )
TERRANE_SHMEM_DEFINE_BOTH(void, putmem_signal,
                          (void* dest, const void* source, size_t nelems, uint64_t* sig_addr,
                           uint64_t signal, int sig_op, int pe),
                          (shmem_ctx_t ctx, void* dest, const void* source, size_t nelems,
                           uint64_t* sig_addr, uint64_t signal, int sig_op, int pe),
                          PUT_SIGNAL_BODY, kBlocking, nelems)
TERRANE_SHMEM_DEFINE_BOTH(void, putmem_signal_nbi,
                          (void* dest, const void* source, size_t nelems, uint64_t* sig_addr,
                           uint64_t signal, int sig_op, int pe),
                          (shmem_ctx_t ctx, void* dest, const void* source, size_t nelems,
                           uint64_t* sig_addr, uint64_t signal, int sig_op, int pe),
                          PUT_SIGNAL_BODY, kNonBlocking, nelems)
TERRANE_SHMEM_DEFINE_BOTH(void, signal_add, (uint64_t * sig_addr, uint64_t signal, int pe),
                          (shmem_ctx_t ctx, uint64_t* sig_addr, uint64_t signal, int pe),
                          SIGNAL_BODY, SHMEM_SIGNAL_ADD)
TERRANE_SHMEM_DEFINE_BOTH(void, signal_set, (uint64_t * sig_addr, uint64_t signal, int pe),
                          (shmem_ctx_t ctx, uint64_t* sig_addr, uint64_t signal, int pe),
                          SIGNAL_BODY, SHMEM_SIGNAL_SET)

uint64_t shmem_signal_fetch(const uint64_t* sig_addr) noexcept {
  terrane::frontend::shmem::world_for("shmem_signal_fetch");
  return __atomic_load_n(sig_addr, __ATOMIC_ACQUIRE);
}

}  // extern "C"
