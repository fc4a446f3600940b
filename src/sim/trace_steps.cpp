#include "sim/trace_steps.h"

#include <fmt/format.h>

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

}  // namespace

std::string detail_of(const protocol::Step& step) {
  std::string text;
  if (names_a_node(step.kind)) text = fmt::format("at node {}", step.node.value);
  if (step.kind == StepKind::kSendNews) text = fmt::format("to node {}", step.node.value);
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

std::string result_of(const protocol::Step& step, const protocol::Strand& strand,
                      const BlockNames& names) {
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

std::string describe(const protocol::Step& step) {
  std::string text(name_of(step.kind));
  if (step.event != nullptr) text += fmt::format(" {}", name_of(*step.event));
  if (step.blocks.count == 1) text += fmt::format(" b{}", step.blocks.first);
  if (step.blocks.count > 1)
    text += fmt::format(" b{}..{}", step.blocks.first, step.blocks.end() - 1);
  std::string detail = detail_of(step);
  return detail.empty() ? text : fmt::format("{} {}", text, detail);
}

}  // namespace terrane::sim
