#pragma once

#include <atomic>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "transport/one_sided.h"
#include "transport/spin_lock.h"

namespace terrane::transport {

// One-sided calls as messages: a request names memory of its receiver, which the receiver's
// transport serves when it takes the message in. Requests and answers of a pair stay in order.
enum class CallKind : std::uint8_t { kPut = 1, kGet, kFetch, kPost, kFlush, kAnswer, kPutAndSet };

// Precedes the bytes of a put, or of an answer to a get.
struct CallHeader {
  CallKind kind{};
  AtomicOp op{};
  std::uint8_t failed = 0;  // kAnswer: it could not be served
  std::uint8_t unused = 0;
  std::uint32_t word_bytes = 0;   // of the atomic's word
  std::uint32_t word_region = 0;  // kPutAndSet: of the word
  std::uint32_t region = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  // kGet
  std::uint64_t call = 0;   // of the caller; the answer has the same
  // kAnswer to kFetch: the word as it was before; kPutAndSet: the word's value
  std::uint64_t operand = 0;
  std::uint64_t expected = 0;  // kPutAndSet: where the word lies
};
static_assert(sizeof(CallHeader) == 56);

// What this node has asked of others, until the answers have come. Thread-safe.
class Calls {
 public:
  explicit Calls(std::uint32_t nodes) : toward_(nodes) {}

  // A thread's wait for answers.
  struct Outcome {
    std::atomic<std::uint32_t> left{0};  // answers that are still to come, and may come
    std::atomic<bool> failed{false};     // one of them cannot come, or the call was refused
  };

  // A call whose answer goes to `into`. nullptr: no thread waits for this one alone. 0: the peer
  // has gone.
  std::uint64_t begin(NodeId peer, WritableBytes into, Outcome* outcome);
  // Something without an answer is sent, which the next flush covers or need not. False: the peer
  // has gone.
  bool note_unanswered(NodeId peer, bool is_covered);
  // False: no such call, or of another length.
  bool answer(NodeId peer, const CallHeader& header, Bytes data);
  // The peer has gone: what was asked of it fails.
  void lose(NodeId peer);
  bool is_lost(NodeId peer);

  // Answers that are still to come.
  std::uint32_t under_way(NodeId peer) const { return toward_[peer.value].under_way.load(); }
  // Nothing without an answer was sent since the last flush, and nothing is under way.
  bool is_flushed(NodeId peer) const;
  // A flush is sent now that covers all up to here.
  void note_flush(NodeId peer) { toward_[peer.value].unanswered.store(0); }
  // Something failed since the last call of this.
  bool take_failure(NodeId peer) { return toward_[peer.value].failed.exchange(false); }

 private:
  struct Call {
    NodeId peer;
    WritableBytes into;
    Outcome* outcome;
  };
  struct Toward {
    std::atomic<std::uint32_t> under_way{0};
    std::atomic<std::uint32_t> unanswered{0};
    std::atomic<bool> failed{false};
    bool lost = false;  // guarded by lock_
  };

  void finish(const Call& call, bool good);

  SpinLock lock_;  // guards the calls
  std::unordered_map<std::uint64_t, Call> calls_;
  std::uint64_t next_ = 1;
  std::vector<Toward> toward_;
};

}  // namespace terrane::transport
