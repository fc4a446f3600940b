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
    if (strand.step().kind == protocol::StepKind::kTyped) perform_typed(self, strand.typed());
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

void Machine::end_exchange(std::uint32_t self, std::uint64_t result) {
  nodes_[self]->strand.result = result;
  nodes_[self]->resumed = true;
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
    bool aside = node.strand.step().flag;
    Page& page = aside ? node.aside[i] : node.frames[answer.block + i];
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

// ---- steps, and what they cost

double Machine::perform_typed(std::uint32_t self, protocol::TypedStep& step) {
  return std::visit([&](auto& one) { return perform(self, one); }, step);
}

double Machine::perform(std::uint32_t, protocol::LoadWord& step) {
  step.result = nodes_[step.node.value]->words[step.block.value];
  return 10;
}

double Machine::perform(std::uint32_t, protocol::SwapWord& step) {
  std::uint32_t& word = nodes_[step.node.value]->words[step.block.value];
  step.result = word == step.expected;
  if (step.result) word = step.desired;
  return 10;
}

double Machine::perform(std::uint32_t, protocol::SetWanted& step) {
  std::uint64_t& word = nodes_[step.node.value]->wanted[step.block.value / 64];
  std::uint64_t bit = 1ull << (step.block.value % 64);
  step.result = (word & bit) != 0;
  word |= bit;
  return 10;
}

// One thread a node: nobody looks at these between two steps.
double Machine::perform(std::uint32_t, protocol::CountFlush&) { return 10; }
double Machine::perform(std::uint32_t, protocol::CountGiving&) { return 10; }

double Machine::perform(std::uint32_t self, protocol::SendBuffer& step) {
  std::vector<std::byte>& out = nodes_[self]->out;
  out.assign(step.blocks * kPageBytes, std::byte{0});
  step.result = out.data();
  return 0;
}

// And compared to what was sent last.
double Machine::perform(std::uint32_t self, protocol::ReadBlock& step) {
  std::memcpy(step.to, &nodes_[self]->frames[step.block.value], sizeof(Page));
  return costs_.copy_page + costs_.compare_page;
}

double Machine::perform(std::uint32_t self, protocol::ApplyDiff& step) {
  Difference diff;
  step.result = wire::take(step.diff, diff);
  Page& page = nodes_[self]->frames[step.block.value];
  for (std::uint32_t w = 0; w < kPageWords; ++w)
    if (diff.changed >> w & 1) page.words[w] = diff.page.words[w];
  return costs_.compare_page;
}

double Machine::perform(std::uint32_t, protocol::PerformAtomic&) {
  TERRANE_CHECK(false, "the patterns have no atomic operations");
}

double Machine::perform(std::uint32_t self, protocol::LoadOwner& step) {
  step.result = nodes_[self]->owners[step.block.value];
  return 10;
}

double Machine::perform(std::uint32_t self, protocol::ClaimOwner& step) {
  std::uint32_t* owners = &nodes_[self]->owners[step.blocks.first];
  for (std::uint64_t b = 0; b < step.blocks.count; ++b) {
    if (owners[b] == 0) owners[b] = step.owner;
    if (owners[b] != step.owner) break;
  }
  step.result = owners[0];
  return 10;
}

double Machine::perform(std::uint32_t self, protocol::CountOwned& step) {
  const auto& owners = nodes_[self]->owners;
  while (step.result < step.blocks.count && owners[step.blocks.first + step.result] == step.owner)
    ++step.result;
  return 10;
}

double Machine::perform(std::uint32_t self, protocol::SendMessage& step) {
  Message message{self, step.to.value, 0, {step.head.begin(), step.head.end()}};
  message.bytes.insert(message.bytes.end(), step.tail.begin(), step.tail.end());
  if (step.to == NodeId{self}) {
    flushed(message);
  } else {
    post(self, step.to.value, std::move(message.bytes));
  }
  return 0;
}

double Machine::perform(std::uint32_t self, protocol::SendPush& step) {
  std::vector<std::byte> message;
  protocol::put_news_head(message, *step.part, step.further);
  message.insert(message.end(), step.part->bytes.begin(), step.part->bytes.end());
  post(self, step.to.value, std::move(message));
  return 0;
}

double Machine::perform(std::uint32_t, protocol::SendPushes&) { return 0; }

double Machine::perform(std::uint32_t self, protocol::KeepPush& step) {
  Node& node = *nodes_[self];
  const protocol::NewsPart& part = *step.part;
  step.result = node.news.put(part);  // pages' bytes, as frames are: not counted
  if (node.wait == Wait::kNews) wake(self);
  return 0;
}

}  // namespace terrane::bench::scale
