#include "sim/trace_steps.h"

#include <fmt/format.h>

#include <variant>

#include "protocol/push/push_tree.h"
#include "sim/names.h"

namespace terrane::sim {
namespace {

std::string text_of_word(std::uint32_t word) {
  std::string text = word & protocol::kTracked ? "tracked" : "untracked";
  std::uint32_t node = protocol::home_in(word).value;
  if (word & protocol::kMoved) text = fmt::format("moved to node {}", node);
  if (word & protocol::kOffered) text += fmt::format(", offered to node {}", node);
  if (word & protocol::kArmed) text += ", armed";
  if (word & protocol::kComing) text += ", coming";
  return text;
}

// The details of a step besides its kind, blocks and event: one of these, or the general one.
std::string detail(const protocol::TakePush& step) {
  return fmt::format("of node {}", step.node.value);
}
std::string detail(const protocol::Map& step) {
  return step.access == protocol::Access::kRead ? "protected" : "free";
}
std::string detail(const protocol::StoreWord& step) {
  return fmt::format("= {}", text_of_word(step.word));
}
std::string detail(const protocol::ClaimOwner& step) {
  return fmt::format("at node {} for node {}", step.node.value, step.entry - 1);
}
template <typename Kind>
std::string detail(const Kind& step) {
  std::string text;
  if constexpr (requires { step.node; }) text = fmt::format("at node {}", step.node.value);
  if constexpr (requires { step.to.value; }) text = fmt::format("to node {}", step.to.value);
  if constexpr (requires { step.begins; }) text = step.begins ? "begins" : "ends";
  if constexpr (requires {
                  step.node;
                  step.twin_follows;
                })
    if (step.twin_follows) text += ", and twin";
  return text;
}

// A result in words: one of these, or the general one.
std::string result(const protocol::LoadWord& step, const BlockNames&) {
  return text_of_word(step.result);
}
std::string result(const protocol::SwapWord& step, const BlockNames&) {
  return step.result ? "swapped" : "it was another word";
}
std::string text_of_owner(const protocol::Owner& owner) {
  return owner.entry == 0 ? "no owner" : fmt::format("owner is node {}", owner.entry - 1);
}
std::string result(const protocol::LoadOwner& step, const BlockNames&) {
  return text_of_owner(step.result);
}
std::string result(const protocol::ClaimOwner& step, const BlockNames&) {
  return text_of_owner(step.result);
}
std::string result(const protocol::Populate& step, const BlockNames&) {
  return step.result ? "" : "memory is short";
}
std::string text_of_bytes(std::uint64_t bytes) {
  return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
}
std::string result(const protocol::StoreDiff& step, const BlockNames&) {
  return text_of_bytes(step.result);
}
std::string result(const protocol::PostDiff& step, const BlockNames&) {
  return text_of_bytes(step.result);
}
std::string result(const protocol::CompareHome& step, const BlockNames&) {
  return text_of_bytes(step.result);
}
std::string result(const protocol::CloseAccesses& step, const BlockNames&) {
  return step.result == protocol::CloseAccesses::kNone ? "none" : "some";
}
std::string result(const protocol::Fetch& step, const BlockNames&) {
  const protocol::FetchResult& got = step.result;
  if (got.count == 0) return fmt::format("nothing, ask node {}", got.ask.value);
  std::string text = got.count == 1 ? "1 block" : fmt::format("{} blocks", got.count);
  if (got.own) return text + ", the home moves here";
  return got.tracked != 0 ? text + ", tracked" : text;
}
std::string result(const protocol::TakePush& step, const BlockNames&) {
  if (step.result.gone) return "gone";
  return step.result.same != 0 ? "taken, the same as before" : "taken";
}
std::string result(const protocol::ArriveInMemory& step, const BlockNames&) {
  return step.result ? "held" : "not held";
}
std::string result(const protocol::Gather& step, const BlockNames&) {
  return step.result ? "all have come" : "by messages";
}
std::string result(const protocol::PerformAtomic& step, const BlockNames&) {
  return fmt::format("it was {:#x}", step.result);
}
std::string result(const protocol::AskAtomic& step, const BlockNames&) {
  using enum protocol::AtomicAnswer::What;
  if (step.result.what == kDone) return fmt::format("it was {:#x}", step.result.before);
  if (step.result.what == kNotYet) return "not yet";
  return fmt::format("ask node {}", step.result.ask.value);
}
std::string result(const protocol::LoadFlushing& step, const BlockNames&) {
  return fmt::format("{}", step.result);
}
std::string result(const protocol::LoadAnnounced& step, const BlockNames&) {
  return fmt::format("{}", step.result);
}
std::string result(const protocol::LoadGiving& step, const BlockNames&) {
  return fmt::format("{}", step.result);
}
std::string result(const protocol::Call& step, const BlockNames&) {
  return step.result != 0 ? fmt::format("{:#x}", step.result) : "";
}
template <typename Kind>
std::string result(const Kind& step, const BlockNames& names) {
  if constexpr (requires { step.runs; }) {
    std::string text;
    for (const protocol::BlockRange& run : *step.runs)
      text += fmt::format("{}{}", text.empty() ? "" : ", ", names(run));
    return text.empty() ? "nothing" : text;
  }
  return {};
}

}  // namespace

protocol::BlockRange blocks_of(const protocol::Step& step) {
  return std::visit(
      [](const auto& one) -> protocol::BlockRange {
        if constexpr (requires { one.block; }) return {one.block.value, 1};
        if constexpr (requires { one.blocks.first; }) return one.blocks;
        if constexpr (requires { one.part; }) return {one.part->head.block, one.part->head.blocks};
        return {};
      },
      step);
}

const protocol::Event* event_of(const protocol::Step& step) {
  return std::visit(
      [](const auto& one) -> const protocol::Event* {
        if constexpr (requires { one.event; }) return one.event;
        return nullptr;
      },
      step);
}

std::string detail_of(const protocol::Step& step) {
  return std::visit([](const auto& one) { return detail(one); }, step);
}

std::string result_of(const protocol::Step& step, const BlockNames& names) {
  return std::visit([&](const auto& one) { return result(one, names); }, step);
}

std::uint64_t number_of_result(const protocol::Step& step) {
  return std::visit(
      [](const auto& one) -> std::uint64_t {
        if constexpr (requires { std::uint64_t{one.result}; }) return one.result;
        if constexpr (requires { one.result.entry; }) return one.result.entry;
        if constexpr (requires { one.result.count; }) return one.result.count;
        return 0;
      },
      step);
}

std::string describe(const protocol::Step& step) {
  std::string text(protocol::name_of(step));
  protocol::BlockRange blocks = blocks_of(step);
  if (const protocol::Event* event = event_of(step)) text += fmt::format(" {}", name_of(*event));
  if (blocks.count == 1) text += fmt::format(" b{}", blocks.first);
  if (blocks.count > 1) text += fmt::format(" b{}..{}", blocks.first, blocks.end() - 1);
  std::string detail = detail_of(step);
  return detail.empty() ? text : fmt::format("{} {}", text, detail);
}

}  // namespace terrane::sim
