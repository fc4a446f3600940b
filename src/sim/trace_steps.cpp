#include "sim/trace_steps.h"

#include <fmt/format.h>

#include <variant>

#include "protocol/push/news_tree.h"
#include "protocol/serve/served.h"
#include "sim/names.h"

namespace terrane::sim {
namespace {

using protocol::StepKind;

std::string text_of_word(std::uint32_t word) {
  std::string text = word & protocol::kTracked ? "tracked" : "untracked";
  std::uint32_t node = protocol::home_in(word).value;
  if (word & protocol::kMoved) text = fmt::format("moved to node {}", node);
  if (word & protocol::kOffered) text += fmt::format(", offered to node {}", node);
  if (word & protocol::kArmed) text += ", armed";
  if (word & protocol::kComing) text += ", coming";
  return text;
}

std::string text_of_owner(std::uint64_t result) {
  auto owner = static_cast<std::uint32_t>(result);
  return owner == 0 ? "no owner" : fmt::format("owner is node {}", owner - 1);
}

std::string text_of_runs(const std::vector<protocol::BlockRange>& runs, const BlockNames& names) {
  std::string text;
  for (const protocol::BlockRange& run : runs)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", names(run));
  return text.empty() ? "nothing" : text;
}

std::string text_of_fetch(std::uint64_t result) {
  std::uint32_t count = protocol::fetched_count(result);
  if (count == 0) return fmt::format("nothing, ask node {}", result >> 32);
  std::string text = count == 1 ? "1 block" : fmt::format("{} blocks", count);
  if (auto low = static_cast<std::uint32_t>(result); low & protocol::kFetchedOwn) {
    text += ", the home moves here";
  } else if ((low & 0xffff) != 0) {
    text += ", tracked";
  }
  return text;
}

std::string text_of_push(std::uint64_t result) {
  if (result == protocol::kNewsGone) return "gone";
  return protocol::taken_same(result) != 0 ? "taken, the same as before" : "taken";
}

std::string text_of_asked_atomic(std::uint64_t result, std::uint64_t before) {
  if (result == protocol::kAtomicDone) return fmt::format("it was {:#x}", before);
  if (result == protocol::kAtomicNotYet) return "not yet";
  return fmt::format("ask node {}", result);
}

bool names_a_node(StepKind kind) {
  switch (kind) {
    case StepKind::kLoadWord:
    case StepKind::kSwapWord:
    case StepKind::kSetWanted:
    case StepKind::kLoadOwner:
    case StepKind::kClaimOwner:
    case StepKind::kCopyHome:
    case StepKind::kStoreHome:
    case StepKind::kStoreDiff:
    case StepKind::kFetch:
    case StepKind::kPostFetch:
    case StepKind::kPostDiff:
    case StepKind::kAtomic:
    case StepKind::kAskAtomic:
    case StepKind::kEndPromise:
      return true;
    default:
      return false;
  }
}

// Of the steps with a type of their own (protocol/steps/step_kinds.h).
std::string detail_of(const protocol::TypedStep& typed) {
  return std::visit(
      [](const auto& step) -> std::string {
        if constexpr (requires { step.node; }) return fmt::format("at node {}", step.node.value);
        if constexpr (requires { step.to.value; }) return fmt::format("to node {}", step.to.value);
        if constexpr (requires { step.begins; }) return step.begins ? "begins" : "ends";
        return {};
      },
      typed);
}

std::string result_of(const protocol::TypedStep& typed) {
  if (const auto* word = std::get_if<protocol::LoadWord>(&typed)) return text_of_word(word->result);
  if (const auto* swap = std::get_if<protocol::SwapWord>(&typed))
    return swap->result ? "swapped" : "it was another word";
  if (const auto* owner = std::get_if<protocol::LoadOwner>(&typed))
    return text_of_owner(owner->result);
  if (const auto* claim = std::get_if<protocol::ClaimOwner>(&typed))
    return text_of_owner(claim->result);
  if (const auto* atomic = std::get_if<protocol::PerformAtomic>(&typed))
    return fmt::format("it was {:#x}", atomic->result);
  return {};
}

}  // namespace

std::string_view kind_of(const protocol::Strand& strand) {
  if (strand.step().kind != StepKind::kTyped) return name_of(strand.step().kind);
  return std::visit([](const auto& step) { return step.kName; }, strand.typed());
}

protocol::BlockRange blocks_of(const protocol::Strand& strand) {
  if (strand.step().kind != StepKind::kTyped) return strand.step().blocks;
  return std::visit(
      [](const auto& step) -> protocol::BlockRange {
        if constexpr (requires { step.block; }) return {step.block.value, 1};
        if constexpr (requires { step.blocks.first; }) return step.blocks;
        if constexpr (requires { step.part; })
          return {step.part->head.block, step.part->head.blocks};
        return {};
      },
      strand.typed());
}

const protocol::Event* event_of(const protocol::Strand& strand) {
  return strand.step().kind == StepKind::kTyped ? nullptr : strand.step().event;
}

std::string detail_of(const protocol::Strand& strand) {
  const protocol::Step& step = strand.step();
  if (step.kind == StepKind::kTyped) return detail_of(strand.typed());
  std::string text;
  if (names_a_node(step.kind)) text = fmt::format("at node {}", step.node.value);
  if (step.kind == StepKind::kTakeNews) text = fmt::format("of node {}", step.node.value);
  if (step.kind == StepKind::kMap)
    text = step.access == protocol::Access::kRead ? "protected" : "free";
  if (step.kind == StepKind::kStoreWord)
    text = fmt::format("= {}", text_of_word(static_cast<std::uint32_t>(step.value)));
  if (step.kind == StepKind::kClaimOwner) text += fmt::format(" for node {}", step.value - 1);
  bool diff = step.kind == StepKind::kStoreDiff || step.kind == StepKind::kPostDiff;
  if (diff && step.flag) text += ", and twin";
  return text;
}

std::string result_of(const protocol::Strand& strand, const BlockNames& names) {
  const protocol::Step& step = strand.step();
  if (step.kind == StepKind::kTyped) return result_of(strand.typed());
  std::uint64_t result = strand.result;
  switch (step.kind) {
    case StepKind::kLoadWord:
      return text_of_word(static_cast<std::uint32_t>(result));
    case StepKind::kSwapWord:
      return result != 0 ? "swapped" : "it was another word";
    case StepKind::kLoadOwner:
    case StepKind::kClaimOwner:
      return text_of_owner(result);
    case StepKind::kScan:
    case StepKind::kLook:
    case StepKind::kTakeWanted:
      return text_of_runs(strand.runs, names);
    case StepKind::kPopulate:
      return result != 0 ? "" : "memory is short";
    case StepKind::kStoreDiff:
    case StepKind::kPostDiff:
      return fmt::format("{} byte{}", result, result == 1 ? "" : "s");
    case StepKind::kFetch:
      return text_of_fetch(result);
    case StepKind::kTakeNews:
      return text_of_push(result);
    case StepKind::kMeet:
      return result != 0 ? "held" : "not held";
    case StepKind::kAtomic:
      return fmt::format("it was {:#x}", result);
    case StepKind::kAskAtomic:
      return text_of_asked_atomic(result, strand.before);
    case StepKind::kLoadFlushing:
    case StepKind::kLoadGiving:
      return fmt::format("{}", result);
    case StepKind::kCall:
      return result != 0 ? fmt::format("{:#x}", result) : "";
    default:
      return {};
  }
}

std::string describe(const protocol::Strand& strand) {
  std::string text(kind_of(strand));
  protocol::BlockRange blocks = blocks_of(strand);
  if (const protocol::Event* event = event_of(strand)) text += fmt::format(" {}", name_of(*event));
  if (blocks.count == 1) text += fmt::format(" b{}", blocks.first);
  if (blocks.count > 1) text += fmt::format(" b{}..{}", blocks.first, blocks.end() - 1);
  std::string detail = detail_of(strand);
  return detail.empty() ? text : fmt::format("{} {}", text, detail);
}

}  // namespace terrane::sim
