#include "patch/plan.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>

#include "patch/gap.h"

namespace terrane::patch {
namespace {

constexpr std::uint64_t kReach = 127;  // of a jump of two bytes, and a little more before it

// A stretch that is decoded from its first byte on: a function, or what lies between two.
struct Stretch {
  CodeRange range;
  bool is_function;
};

// Where bytes of a stretch that cannot be decoded may be a locked instruction.
struct Doubt {
  std::size_t stretch;
  std::uint64_t address;
};

std::vector<Stretch> stretches_of(const ElfCode& file) {
  std::vector<Stretch> all;
  for (const CodeRange& section : file.code()) {
    std::uint64_t at = section.begin;
    auto begins_before = [](const CodeRange& one, std::uint64_t end) { return one.end <= end; };
    auto next = std::lower_bound(file.functions().begin(), file.functions().end(), section.begin,
                                 begins_before);
    for (; next != file.functions().end() && next->begin < section.end; ++next) {
      CodeRange inside{std::max(next->begin, at), std::min(next->end, section.end)};
      if (inside.begin > at) all.push_back({{at, inside.begin}, false});
      if (inside.begin < inside.end) all.push_back({inside, true});
      at = std::max(at, inside.end);
    }
    if (at < section.end) all.push_back({{at, section.end}, false});
  }
  return all;
}

std::span<const std::uint8_t> bytes_of(const ElfCode& file, const CodeRange& range) {
  return file.bytes(range.begin, range.end - range.begin);
}

// Whether the bytes before `at` are the opcode of a jump or a call of 32 bits, if they are one.
bool ends_opcode(std::span<const std::uint8_t> code, std::size_t at) {
  if (at == 0) return false;
  std::uint8_t last = code[at - 1], first = at > 1 ? code[at - 2] : 0;
  return last == 0xe8 || last == 0xe9 || (first == 0x0f && (last & 0xf0) == 0x80) ||
         (first == 0xc7 && last == 0xf8);
}

// Makes the plan of one file.
class Planner {
 public:
  Planner(const ElfCode& file, Fences fences)
      : file_(file), fences_(fences), stretches_(stretches_of(file)) {}

  Plan make(bool without_jumps) {
    for (std::size_t i = 0; i < stretches_.size(); ++i) find_in(i);
    judge_gaps();
    auto by_address = [](const Site& a, const Site& b) {
      return a.instruction.address < b.instruction.address;
    };
    std::sort(plan_.sites.begin(), plan_.sites.end(), by_address);
    if (!without_jumps && !plan_.sites.empty()) choose_ways();
    return std::move(plan_);
  }

 private:
  void find_in(std::size_t number) {
    std::span<const std::uint8_t> code = bytes_of(file_, stretches_[number].range);
    std::size_t candidate = next_candidate(code, 0, fences_);
    if (candidate == code.size()) return;
    std::uint64_t begin = stretches_[number].range.begin;
    Decoded found = decode(code, begin, fences_);
    if (!found.is_good) {
      bool has_more = next_candidate(code, found.end - begin, fences_) < code.size();
      if (!has_more && found.locked.empty()) return;
      std::uint64_t doubt = found.locked.empty() ? found.end : found.locked[0].address;
      if (stretches_[number].is_function) {
        plan_.doubts.push_back(doubt);
      } else {
        gaps_.push_back({number, doubt});
      }
      return;
    }
    for (const LockedInstruction& one : found.locked) {
      if (one.is_relative && one.has_short_addresses) {
        plan_.doubts.push_back(one.address);
      } else {
        plan_.sites.push_back({one});
      }
    }
    if (!found.locked.empty()) decoded_.emplace(number, std::move(found));
  }

  // The first gap from a stretch on; gaps are in order.
  std::vector<Doubt>::const_iterator gap_from(std::size_t number) const {
    auto before = [](const Doubt& one, std::size_t at) { return one.stretch < at; };
    return std::lower_bound(gaps_.begin(), gaps_.end(), number, before);
  }
  bool is_gap(std::size_t number) const {
    auto gap = gap_from(number);
    return gap != gaps_.end() && gap->stretch == number;
  }
  bool is_near_gap(std::size_t number) const {
    const CodeRange& range = stretches_[number].range;
    auto reaches = [&](const Doubt& one) {
      const CodeRange& gap = stretches_[one.stretch].range;
      return range.begin < gap.end + kReach && gap.begin < range.end + kReach;
    };
    auto next = gap_from(number);
    return (next != gaps_.end() && reaches(*next)) ||
           (next != gaps_.begin() && reaches(*std::prev(next)));
  }

  // Where jumps and calls into gaps lead, in order, and some others; with bytes that may be one,
  // where a function cannot be decoded. Only what may have such a jump is decoded.
  std::vector<std::uint64_t> targets_in_gaps() const {
    std::vector<std::uint64_t> all, inside;
    for (const Doubt& one : gaps_) {
      const CodeRange& gap = stretches_[one.stretch].range;
      for (std::uint64_t at = gap.begin; at < gap.end; ++at) inside.push_back(at);
    }
    const TargetFinder finder(inside);
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
      const CodeRange& range = stretches_[i].range;
      if (is_gap(i)) continue;
      auto possible = finder.find(bytes_of(file_, range), range.begin);
      if (possible.empty() && !is_near_gap(i)) continue;
      Decoded found = decode(bytes_of(file_, range), range.begin, fences_);
      all.insert(all.end(), found.targets.begin(), found.targets.end());
      if (!found.is_good) all.insert(all.end(), possible.begin(), possible.end());
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  // Doubts about what lies between two functions: see gap.h. The rest is data.
  void judge_gaps() {
    if (gaps_.empty()) return;
    std::vector<std::uint64_t> targets = targets_in_gaps();
    for (const Doubt& one : gaps_) {
      const CodeRange& range = stretches_[one.stretch].range;
      if (!file_.has_unwinding()) {
        plan_.doubts.push_back(one.address);
        continue;
      }
      std::vector<std::uint64_t> entries(
          std::lower_bound(targets.begin(), targets.end(), range.begin),
          std::lower_bound(targets.begin(), targets.end(), range.end));
      bool goes_on = one.stretch > 0 && stretches_[one.stretch - 1].range.end == range.begin &&
                     decoded(one.stretch - 1).falls_through;
      if (goes_on) entries.push_back(range.begin);
      if (auto doubt = locked_in_gap(bytes_of(file_, range), range.begin, entries, fences_))
        plan_.doubts.push_back(*doubt);
    }
    std::sort(plan_.doubts.begin(), plan_.doubts.end());
  }

  // What is decoded of a stretch near a site.
  const Decoded& decoded(std::size_t number) {
    auto known = decoded_.find(number);
    if (known != decoded_.end()) return known->second;
    const CodeRange& range = stretches_[number].range;
    return decoded_.emplace(number, decode(bytes_of(file_, range), range.begin, fences_))
        .first->second;
  }

  std::size_t stretch_at(std::uint64_t address) const {
    auto ends_before = [](const Stretch& one, std::uint64_t at) { return one.range.end <= at; };
    auto found = std::lower_bound(stretches_.begin(), stretches_.end(), address, ends_before);
    return static_cast<std::size_t>(found - stretches_.begin());
  }

  // Calls function(number) for the stretches within the reach of a short jump.
  template <typename Function>
  void for_each_near(std::uint64_t address, Function function) {
    std::uint64_t first = address > kReach ? address - kReach : 0;
    std::size_t number = stretch_at(first);
    for (; number < stretches_.size() && stretches_[number].range.begin <= address + kReach;
         ++number)
      function(number);
  }

  void choose_ways() {
    std::vector<std::uint64_t> inner;  // bytes that a jump would cover, but for each first one
    for (const Site& site : plan_.sites)
      for (std::uint64_t i = 1; i < site.instruction.length; ++i)
        inner.push_back(site.instruction.address + i);
    const TargetFinder finder(inner);
    for (const CodeRange& section : file_.code()) {
      auto some = finder.find(bytes_of(file_, section), section.begin);
      targets_.insert(targets_.end(), some.begin(), some.end());
    }
    for (const Site& site : plan_.sites)
      for_each_near(site.instruction.address, [this](std::size_t number) {
        const Decoded& near = decoded(number);
        targets_.insert(targets_.end(), near.targets.begin(), near.targets.end());
      });
    std::sort(targets_.begin(), targets_.end());
    for (Site& site : plan_.sites) choose(site);
  }

  bool is_target_within(std::uint64_t first, std::uint64_t end) const {
    auto next = std::lower_bound(targets_.begin(), targets_.end(), first);
    return next != targets_.end() && *next < end;
  }

  void choose(Site& site) {
    const LockedInstruction& one = site.instruction;
    bool is_whole = !is_target_within(one.address + 1, one.address + one.length);
    if (!is_whole) return;
    if (one.length >= kJumpBytes) {
      site.way = Way::kJump;
      return;
    }
    site.hop = take_hop(one.address);
    if (site.hop != 0) site.way = Way::kHop;
  }

  // Five bytes of padding that a short jump at `from` reaches, which are the site's from now on; 0:
  // there are none.
  std::uint64_t take_hop(std::uint64_t from) {
    std::uint64_t hop = 0;
    for_each_near(from, [&](std::size_t number) {
      if (hop != 0) return;
      CodeRange& room = room_behind(number);
      std::uint64_t at = room.begin;
      auto away = static_cast<std::int64_t>(at - (from + kHopBytes));
      bool reaches = away >= INT8_MIN && away <= INT8_MAX;
      if (!reaches || room.end - at < kJumpBytes || is_target_within(at, at + kJumpBytes)) return;
      hop = at;
      room.begin += kJumpBytes;
    });
    return hop;
  }

  // The padding between the end of a function, behind which nothing goes on, and the next one.
  CodeRange& room_behind(std::size_t number) {
    auto known = rooms_.find(number);
    if (known != rooms_.end()) return known->second;
    const Stretch& stretch = stretches_[number];
    CodeRange room{stretch.range.end, stretch.range.end};
    bool has_gap = number + 1 < stretches_.size() && !stretches_[number + 1].is_function &&
                   stretches_[number + 1].range.begin == room.begin;
    if (stretch.is_function && has_gap) {
      const Decoded& function = decoded(number);
      std::span<const std::uint8_t> gap = bytes_of(file_, stretches_[number + 1].range);
      if (function.is_good && !function.falls_through && padding(gap) == gap.size())
        room.end += gap.size();
    }
    return rooms_.emplace(number, room).first->second;
  }

  const ElfCode& file_;
  Fences fences_;
  std::vector<Stretch> stretches_;
  std::map<std::size_t, Decoded> decoded_;
  std::map<std::size_t, CodeRange> rooms_;
  std::vector<std::uint64_t> targets_;
  std::vector<Doubt> gaps_;  // between functions, in order
  Plan plan_;
};

}  // namespace

std::size_t Plan::count(Way way) const {
  return static_cast<std::size_t>(std::count_if(
      sites.begin(), sites.end(), [way](const Site& site) { return site.way == way; }));
}

Plan make_plan(const ElfCode& file, bool without_jumps, Fences fences) {
  return Planner(file, fences).make(without_jumps);
}

TargetFinder::TargetFinder(const std::vector<std::uint64_t>& wanted) {
  if (wanted.empty()) return;
  first_ = wanted.front();
  is_wanted_.resize(wanted.back() - first_ + 1);
  for (std::uint64_t one : wanted) is_wanted_[one - first_] = true;
}

std::vector<std::uint64_t> TargetFinder::find(std::span<const std::uint8_t> code,
                                              std::uint64_t address) const {
  std::vector<std::uint64_t> found;
  if (is_wanted_.empty()) return found;
  for (std::size_t at = 0; at + sizeof(std::int32_t) <= code.size(); ++at) {
    if (!ends_opcode(code, at)) continue;
    std::int32_t away = 0;
    std::memcpy(&away, code.data() + at, sizeof away);
    std::uint64_t target =
        address + at + sizeof away + static_cast<std::uint64_t>(std::int64_t{away});
    if (target - first_ < is_wanted_.size() && is_wanted_[target - first_]) found.push_back(target);
  }
  return found;
}

}  // namespace terrane::patch
