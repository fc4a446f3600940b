// What a node does for others: the protocol's Server, every step of which takes effect at once.
#include <algorithm>
#include <cstring>
#include <variant>

#include "protocol/serve/requests.h"
#include "scale/machine.h"
#include "scale/memory_count.h"

namespace terrane::bench::scale {

// How many differences a flush has; what it takes on a real node.
std::uint64_t Machine::differences_in(const std::vector<std::byte>& flush, std::size_t& bytes) {
  constexpr std::size_t kWordBytes = kPageBytes / kPageWords;
  protocol::Bytes rest(flush);
  wire::Flush head;
  wire::FlushedBlock block;
  Difference diff;
  wire::take(rest, head);
  bytes = sizeof head;
  std::uint64_t count = 0;
  for (; wire::take(rest, block) && wire::take(rest, diff); ++count)
    bytes += sizeof block + static_cast<std::size_t>(__builtin_popcount(diff.changed)) * kWordBytes;
  return count;
}

std::size_t Machine::size_of(const std::vector<std::byte>& bytes) {
  if (static_cast<wire::Kind>(bytes[0]) != wire::Kind::kFlush) return bytes.size();
  std::size_t size = 0;
  differences_in(bytes, size);
  return size;
}

template <typename T>
T Machine::run_at_once(std::uint32_t self, protocol::Strand& strand, protocol::Task<T> task) {
  MemoryCount::work_for(self);
  strand.start(task);
  while (!task.done()) {
    MemoryCount::work_for(MemoryCount::kNobody);
    perform(self, strand);
    MemoryCount::work_for(self);
    strand.move_on();
  }
  MemoryCount::work_for(MemoryCount::kNobody);
  return task.value();
}

void Machine::serve(const Message& message) {
  protocol::Strand strand(protocol::kNobody);
  protocol::Server& server = nodes_[message.to]->hlrc->server();
  bool good =
      run_at_once(message.to, strand, server.serve(strand, NodeId{message.from}, message.bytes));
  TERRANE_CHECK(good, "no node sends what another refuses");
}

// What a grant, or an arrival, carries.
void Machine::add_granted(std::uint32_t self, const protocol::Send& send,
                          std::vector<std::byte>& grant) {
  protocol::Server& server = nodes_[self]->hlrc->server();
  for (std::uint32_t i = 0; i < send.wanted; ++i) {
    std::uint64_t block = 0;
    std::size_t at = send.offset + send.size + i * sizeof block;
    std::memcpy(&block, effects_.bytes.data() + at, sizeof block);
    protocol::Strand strand(protocol::kNobody);
    run_at_once(self, strand, server.grant(strand, send.to, block, grant));
  }
}

// ---- answers

template <typename Result>
void Machine::end_exchange(std::uint32_t self, const Result& result) {
  nodes_[self]->answer = result;
  wake(self);
}

void Machine::answered(const Message& message) {
  Node& node = *nodes_[message.to];
  protocol::Bytes bytes(message.bytes);
  if (message.kind() == wire::Kind::kOwnerReply) {
    wire::OwnerReply answer;
    wire::take(bytes, answer);
    return end_exchange(message.to, protocol::result_of(answer));
  }
  wire::PageData answer;
  wire::take(bytes, answer);
  node.tally.fetched += answer.blocks;
  for (std::uint64_t i = 0; i < answer.blocks; ++i) {
    Page& page = node.stages ? node.staged[i] : node.frames[answer.block + i];
    std::memcpy(&page, bytes.data() + i * kPageBytes, sizeof page);
  }
  end_exchange(message.to, protocol::result_of(answer));
}

void Machine::flushed(const Message& message) {
  Node& node = *nodes_[message.to];
  wire::Flush answer;
  protocol::Bytes bytes(message.bytes);
  wire::take(bytes, answer);
  bool good = node.flushes.answered(answer);
  TERRANE_CHECK(good, "what is answered was sent");
  if (node.flushes.over() && node.wait == Wait::kFlushed) wake(message.to);
}

}  // namespace terrane::bench::scale
