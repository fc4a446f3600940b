#include "runtime/shmem/strided_mail.h"

#include <cstring>
#include <type_traits>
#include <vector>

namespace terrane::runtime::shmem {

namespace {

enum class Kind : std::uint32_t {
  kPut = 1,  // blocks follow; answered by kDone
  kGet,      // answered by kBlocks
  kDone,
  kBlocks  // blocks follow
};

constexpr std::uint64_t kMessageBytes = std::uint64_t{256} << 10;  // of blocks in a message

std::uint64_t blocks_a_message(const Strides& strides) {
  return std::max<std::uint64_t>(1, kMessageBytes / strides.block);
}

// Calls part(first, count) for the blocks of each message.
template <typename Part>
void in_messages(const Strides& strides, Part part) {
  std::uint64_t most = blocks_a_message(strides);
  for (std::uint64_t first = 0; first < strides.count; first += most) {
    part(first, std::min(most, strides.count - first));
  }
}

Strides packed_to(const Strides& strides, std::uint64_t count) {
  return {static_cast<std::ptrdiff_t>(strides.block), strides.from, strides.block, count};
}

Strides unpacked_to(std::ptrdiff_t stride, std::uint64_t block, std::uint64_t count) {
  return {stride, static_cast<std::ptrdiff_t>(block), block, count};
}

}  // namespace

// The head of every message. At the receiver of kPut and kGet, blocks are `stride` apart from
// `place` on. `first` is the number of the first block in the whole call.
struct StridedMail::Head {
  Kind kind;
  std::uint32_t part;
  std::uint64_t offset;
  std::int64_t stride;
  std::uint64_t block;
  std::uint64_t count;
  std::uint64_t first;
  std::uint64_t ticket;

  bool counts(std::uint64_t bytes) const { return times(block, count) == bytes; }
};

std::uint64_t StridedMail::open(std::uint64_t messages, std::byte* into, const Strides& strides) {
  std::lock_guard hold(mutex_);
  pending_[++last_ticket_] = {messages, into, strides};
  return last_ticket_;
}

bool StridedMail::done(std::uint64_t ticket) const {
  std::lock_guard hold(mutex_);
  return !pending_.contains(ticket);
}

std::uint64_t StridedMail::put(NodeId pe, SymmetricAddress at, const std::byte* from,
                               const Strides& strides) {
  std::uint64_t messages = (strides.count - 1) / blocks_a_message(strides) + 1;
  std::uint64_t ticket = open(messages, nullptr, strides);
  std::vector<std::byte> packed;
  in_messages(strides, [&](std::uint64_t first, std::uint64_t count) {
    packed.resize(strides.block * count);
    auto skipped = static_cast<std::ptrdiff_t>(first);
    copy_strided(packed.data(), from + skipped * strides.from, packed_to(strides, count));
    std::uint64_t offset = at.offset + first * static_cast<std::uint64_t>(strides.to);
    send(pe,
         {Kind::kPut, static_cast<std::uint32_t>(at.part), offset, strides.to, strides.block, count,
          first, ticket},
         packed);
  });
  return ticket;
}

std::uint64_t StridedMail::get(NodeId pe, SymmetricAddress at, std::byte* into,
                               const Strides& strides) {
  std::uint64_t messages = (strides.count - 1) / blocks_a_message(strides) + 1;
  std::uint64_t ticket = open(messages, into, strides);
  in_messages(strides, [&](std::uint64_t first, std::uint64_t count) {
    std::uint64_t offset = at.offset + first * static_cast<std::uint64_t>(strides.from);
    send(pe,
         {Kind::kGet, static_cast<std::uint32_t>(at.part), offset, strides.from, strides.block,
          count, first, ticket},
         {});
  });
  return ticket;
}

base::Result<> StridedMail::received(NodeId from, transport::Bytes message) {
  Head head;
  static_assert(std::is_trivially_copyable_v<Head>);
  if (message.size() < sizeof head) return base::error("PE {} sent half a message", from.value);
  std::memcpy(&head, message.data(), sizeof head);
  transport::Bytes packed = message.subspan(sizeof head);
  switch (head.kind) {
    case Kind::kPut:
      return spread(from, head, packed);
    case Kind::kGet:
      return fill(from, head);
    case Kind::kDone:
    case Kind::kBlocks:
      return take(head, packed);
  }
  return base::error("PE {} sent a message that is none", from.value);
}

std::byte* StridedMail::find(const Head& head) const {
  Strides strides{head.stride, 0, head.block, head.count};
  bool sound = head.part < kParts && head.block != 0 && head.count != 0 && head.stride >= 0;
  return sound ? own_({Part{head.part}, head.offset}, strides.span(head.stride)) : nullptr;
}

base::Result<> StridedMail::spread(NodeId from, const Head& head, transport::Bytes packed) {
  std::byte* to = find(head);
  if (to == nullptr || !head.counts(packed.size())) {
    return base::error("PE {} sent blocks for memory that there is not", from.value);
  }
  copy_strided(to, packed.data(), unpacked_to(head.stride, head.block, head.count));
  Head answer = head;
  answer.kind = Kind::kDone;
  send(from, answer, {});
  return {};
}

base::Result<> StridedMail::fill(NodeId from, const Head& head) {
  std::byte* at = find(head);
  if (at == nullptr || times(head.block, head.count) > std::max(kMessageBytes, head.block)) {
    return base::error("PE {} wants blocks of memory that there is not", from.value);
  }
  std::vector<std::byte> packed(head.block * head.count);
  copy_strided(packed.data(), at, packed_to({0, head.stride, head.block, 0}, head.count));
  Head answer = head;
  answer.kind = Kind::kBlocks;
  send(from, answer, packed);
  return {};
}

base::Result<> StridedMail::take(const Head& head, transport::Bytes packed) {
  std::lock_guard hold(mutex_);
  auto found = pending_.find(head.ticket);
  bool wanted = found != pending_.end();
  if (wanted && head.kind == Kind::kBlocks) {
    const Pending& waiting = found->second;
    wanted = waiting.into != nullptr && head.block == waiting.strides.block &&
             head.first < waiting.strides.count &&
             head.count <= waiting.strides.count - head.first && head.counts(packed.size());
    if (wanted) {
      auto skipped = static_cast<std::ptrdiff_t>(head.first);
      copy_strided(waiting.into + skipped * waiting.strides.to, packed.data(),
                   unpacked_to(waiting.strides.to, head.block, head.count));
    }
  }
  if (!wanted) return base::error("an answer came that nobody waits for");
  if (--found->second.left == 0) pending_.erase(found);
  return {};
}

void StridedMail::send(NodeId to, const Head& head, transport::Bytes packed) {
  transport_.send(to, {reinterpret_cast<const std::byte*>(&head), sizeof head}, packed);
}

}  // namespace terrane::runtime::shmem
