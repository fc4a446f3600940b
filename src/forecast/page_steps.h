#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "forecast/node.h"
#include "protocol/steps/step_kinds.h"

namespace terrane::forecast {

// The steps on a node's own words, pages and view, which is all that is in its reach: what each
// does, and what it costs. No actor waits in one.
class PageSteps {
 public:
  PageSteps(Node& node, const Costs& costs) : node_(node), costs_(costs) {}

  // ---- words

  std::optional<double> perform(protocol::LoadWord& step) {
    step.result = node_.words[step.block.value];
    return 10;
  }

  std::optional<double> perform(protocol::StoreWord& step) {
    node_.words[step.block.value] = step.word;
    return 10;
  }

  std::optional<double> perform(protocol::SwapWord& step) {
    std::uint32_t& word = node_.words[step.block.value];
    step.result = word == step.expected;
    if (step.result) word = step.desired;
    return 10;
  }

  std::optional<double> perform(protocol::CountFlush& step) {
    node_.flushing += step.begins ? 1 : ~0u;
    return 10;
  }

  std::optional<double> perform(protocol::LoadFlushing& step) {
    step.result = node_.flushing;
    return 10;
  }

  std::optional<double> perform(protocol::CountAnnounced&) { return 10; }

  std::optional<double> perform(protocol::LoadAnnounced& step) {
    step.result = 0;  // a forecast counts none
    return 10;
  }

  std::optional<double> perform(protocol::CountGiving& step) {
    node_.giving += step.begins ? 1 : ~0u;
    return 10;
  }

  std::optional<double> perform(protocol::LoadGiving& step) {
    step.result = node_.giving;
    return 10;
  }

  std::optional<double> perform(protocol::SetWanted& step) {
    std::uint64_t& word = node_.wanted[step.block.value / 64];
    std::uint64_t bit = 1ull << (step.block.value % 64);
    step.result = (word & bit) != 0;
    word |= bit;
    return 10;
  }

  std::optional<double> perform(protocol::TakeWanted& step) {
    for (std::uint64_t w = 0; w < node_.wanted.size(); ++w) {
      std::uint64_t word = std::exchange(node_.wanted[w], 0);
      for (; word != 0; word &= word - 1)
        add(*step.runs, w * 64 + static_cast<std::uint64_t>(std::countr_zero(word)));
    }
    return 10;
  }

  std::optional<double> perform(protocol::ClearOwner& step) {
    node_.owners[step.block.value] = 0;
    return 10;
  }

  // ---- memory and view

  std::optional<double> perform(protocol::Populate& step) {
    for (std::uint64_t b = step.blocks.first; b < step.blocks.end(); ++b) node_.frames[b];
    note_held();
    return 0;
  }

  std::optional<double> perform(protocol::Map& step) {
    for (std::uint64_t b = step.blocks.first; b < step.blocks.end(); ++b) {
      View& view = node_.views[b];
      if (!view.present) view = {.present = true, .guarded = step.access == Access::kRead};
    }
    return costs_.enter;
  }

  // By scan: an entry that was not protected may have been written.
  std::optional<double> perform(protocol::Remap& step) {
    for (std::uint64_t b = step.blocks.first; b < step.blocks.end(); ++b) {
      View& view = node_.views[b];
      view.present = true;
    }
    return costs_.enter;
  }

  std::optional<double> perform(protocol::Protect& step) {
    for (std::uint64_t b = step.blocks.first; b < step.blocks.end(); ++b)
      node_.views[b].guarded = true;
    return costs_.view_call + static_cast<double>(step.blocks.count) * costs_.view_page;
  }

  std::optional<double> perform(protocol::Unprotect& step) {
    for (std::uint64_t b = step.blocks.first; b < step.blocks.end(); ++b)
      node_.views[b].guarded = false;
    return costs_.view_call + static_cast<double>(step.blocks.count) * costs_.view_page;
  }

  std::optional<double> perform(protocol::Zap& step) {
    for (std::uint64_t b = step.blocks.first; b < step.blocks.end(); ++b)
      node_.views[b].present = false;
    return costs_.zap;
  }

  void scan(protocol::BlockRange blocks, bool protects, std::vector<protocol::BlockRange>& runs) {
    for (std::uint64_t b = blocks.first; b < blocks.end(); ++b) {
      View& view = node_.views[b];
      if (view.guarded) continue;
      view.guarded = protects;
      add(runs, b);
    }
  }

  std::optional<double> perform(protocol::Scan& step) {
    scan(step.blocks, true, *step.runs);
    return costs_.view_call + static_cast<double>(step.blocks.count) * costs_.view_page;
  }

  std::optional<double> perform(protocol::Look& step) {
    scan(step.blocks, false, *step.runs);
    return costs_.view_call + static_cast<double>(step.blocks.count) * costs_.view_page;
  }

  std::optional<double> perform(protocol::Punch& step) {
    for (std::uint64_t b = step.blocks.first; b < step.blocks.end(); ++b) {
      node_.frames.erase(b);
      node_.twins.erase(b);
    }
    return costs_.zap;
  }

  std::optional<double> perform(protocol::DropTwin& step) {
    for (std::uint64_t b = step.blocks.first; b < step.blocks.end(); ++b) node_.twins.erase(b);
    return costs_.zap;
  }

  // ---- bytes

  std::optional<double> perform(protocol::CopyTwin& step) {
    node_.twins[step.block.value] = node_.frames[step.block.value];
    note_held();
    return costs_.copy_page;
  }

  std::optional<double> perform(protocol::Merge& step) {
    Page& page = node_.frames[step.block.value];
    const Page& staged = node_.staged[step.slot];
    if (!step.merges) {
      page = staged;
      return costs_.compare_page;
    }
    Page& twin = node_.twins[step.block.value];
    for (std::uint32_t w = 0; w < kLines; ++w) {
      if (staged.lines[w] == twin.lines[w]) continue;
      page.lines[w] = twin.lines[w] = staged.lines[w];
    }
    return costs_.compare_page;
  }

  static std::uint64_t changed(const Page& page, const Page& twin) {
    std::uint64_t lines = 0;
    for (std::uint32_t i = 0; i < kLines; ++i)
      if (page.lines[i] != twin.lines[i]) lines |= 1ull << i;
    return lines;
  }

  // Our own memory is the only one in reach: this looks whether a copy was written.
  std::optional<double> perform(protocol::StoreDiff& step) {
    const Page& page = node_.frames[step.block.value];
    Page& twin = node_.twins[step.block.value];
    step.result = static_cast<std::uint64_t>(std::popcount(changed(page, twin)));
    if (step.twin_follows) twin = page;
    return costs_.compare_page;
  }

  std::optional<double> perform(protocol::TakeGranted& step) {
    std::memcpy(&node_.staged[step.slot], step.bytes, sizeof(Page));
    ++node_.tally.fetched;
    return costs_.copy_page;
  }

  // And compared to what was sent last.
  std::optional<double> perform(protocol::ReadBlock& step) {
    std::memcpy(step.to, &node_.frames[step.block.value], sizeof(Page));
    return costs_.copy_page + costs_.compare_page;
  }

  std::optional<double> perform(protocol::ApplyDiff& step) {
    Difference diff;
    step.result = wire::take(step.diff, diff);
    Page& page = node_.frames[step.block.value];
    for (std::uint32_t w = 0; w < kLines; ++w)
      if (diff.changed >> w & 1) page.lines[w] = diff.page.lines[w];
    return costs_.compare_page;
  }

  std::optional<double> perform(protocol::CountOwned& step) {
    const auto& owners = node_.owners;
    while (step.result < step.blocks.count && owners[step.blocks.first + step.result] == step.entry)
      ++step.result;
    return 10;
  }

  // ---- atomic operations

  std::optional<double> perform(protocol::PerformAtomic& step) {
    std::byte* page = reinterpret_cast<std::byte*>(node_.frames[step.block.value].lines);
    step.result = protocol::perform(step.op, page);
    return 20;
  }

  std::optional<double> perform(protocol::Patch& step) {
    auto after = static_cast<std::uint32_t>(protocol::after(step.op, step.before));
    std::size_t line = step.op.offset / sizeof after;
    node_.frames[step.block.value].lines[line] = after;
    if (step.twin_follows) node_.twins[step.block.value].lines[line] = after;
    return 20;
  }

 private:
  using Access = protocol::Access;

  static void add(std::vector<protocol::BlockRange>& runs, std::uint64_t block) {
    if (!runs.empty() && runs.back().end() == block) {
      ++runs.back().count;
    } else {
      runs.push_back({block, 1});
    }
  }

  void note_held() {
    std::uint64_t pages = node_.frames.count(), twins = node_.twins.count();
    node_.most_pages = std::max(node_.most_pages, pages);
    node_.most_twins = std::max(node_.most_twins, twins);
    node_.most_held = std::max(node_.most_held, pages + twins);
  }

  Node& node_;
  const Costs& costs_;
};

}  // namespace terrane::forecast
