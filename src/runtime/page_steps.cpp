#include "runtime/page_space.h"

// Steps on words that peers reach, a type each.
namespace terrane::runtime {

void PageSpace::perform(protocol::LoadWord& step) {
  auto& word = control_of(step.node).words[step.block.value];
  step.result = word.load(std::memory_order_seq_cst);
}

void PageSpace::perform(protocol::SwapWord& step) {
  auto& word = control_of(step.node).words[step.block.value];
  std::uint32_t expected = step.expected;
  step.result = word.compare_exchange_strong(expected, step.desired);
}

void PageSpace::perform(protocol::SetWanted& step) {
  step.result = control_of(step.node).wanted.insert(step.block.value);
}

// Seen by all before what follows, and after what went before; as the next one.
void PageSpace::perform(const protocol::CountFlush& step) {
  peers_[self_.value].control.flushing->fetch_add(step.begins ? 1 : ~0u, std::memory_order_seq_cst);
}

void PageSpace::perform(const protocol::CountGiving& step) {
  giving_.fetch_add(step.begins ? 1 : ~0u, std::memory_order_seq_cst);
}

void PageSpace::perform(protocol::PerformAtomic& step) {
  step.result = atomic(step.node, step.block.value, step.op);
}

void PageSpace::perform(protocol::LoadOwner& step) {
  const auto& owner = peers_[self_.value].control.owners[step.block.value];
  step.result = owner.load(std::memory_order_acquire);
}

void PageSpace::perform(protocol::ClaimOwner& step) {
  auto* owners = peers_[self_.value].control.owners;
  for (std::uint64_t b = step.blocks.first; b < step.blocks.end(); ++b) {
    std::uint32_t before = 0;
    std::uint32_t now = owners[b].compare_exchange_strong(before, step.owner) ? step.owner : before;
    if (b == step.blocks.first) step.result = now;
    if (now != step.owner) return;
  }
}

void PageSpace::perform(protocol::CountOwned& step) {
  const auto* owners = peers_[self_.value].control.owners;
  while (step.result < step.blocks.count &&
         owners[step.blocks.first + step.result].load(std::memory_order_acquire) == step.owner)
    ++step.result;
}

}  // namespace terrane::runtime
