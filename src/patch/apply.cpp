#include "patch/apply.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "patch/emit.h"
#include "patch/entries.h"
#include "patch/room.h"
#include "platform/page_size.h"

namespace terrane::patch {
namespace {

using Pair = std::pair<std::uintptr_t, std::uintptr_t>;

// Sites and their trampolines. Looked up in signal handlers: what is shown is never changed or
// freed.
struct Traps {
  std::vector<Pair> all;
  const Traps* before;
};
std::atomic<const Traps*> shown{nullptr};

constexpr std::uint8_t kTrapCode = 0xcc, kShortJump = 0xeb;

std::uint64_t page_down(std::uint64_t address) {
  return address / platform::page_bytes() * platform::page_bytes();
}
std::uint64_t page_up(std::uint64_t address) {
  return page_down(address + platform::page_bytes() - 1);
}

std::uint8_t* bytes_at(std::uint64_t address) { return reinterpret_cast<std::uint8_t*>(address); }

LockedInstruction moved(LockedInstruction one, std::uint64_t bias) {
  one.address += bias;
  return one;
}

// Room for all trampolines of a file, near its code. Owns it until keep().
class Trampolines {
 public:
  Trampolines(const Plan& plan, std::uint64_t bias, Changes changes)
      : plan_(plan), bias_(bias), changes_(changes) {}
  ~Trampolines() {
    if (begin_ != nullptr) ::munmap(begin_, bytes_);
  }
  Trampolines(const Trampolines&) = delete;

  base::Result<> make() {
    constexpr std::uint64_t kMostEach = 256;
    bytes_ = page_up(sizeof(std::uintptr_t[4]) + plan_.sites.size() * kMostEach);
    std::uint64_t first = plan_.sites.front().instruction.address + bias_;
    std::uint64_t last = plan_.sites.back().instruction.address + bias_;
    void* room = map_near(first, last, bytes_);
    if (room == nullptr)
      return base::error("no address space is left within 2 GiB of its code: {}",
                         std::strerror(errno));
    begin_ = static_cast<std::uint8_t*>(room);
    const std::uintptr_t entries[] = {check_entry(), check_flags_entry(), enter_entry(),
                                      change_entry()};
    std::memcpy(begin_, entries, sizeof entries);
    at_ = begin_ + sizeof entries;
    for (const Site& site : plan_.sites)
      if (auto added = add(site); !added) return added;
    if (::mprotect(begin_, bytes_, PROT_READ | PROT_EXEC) != 0)
      return base::errno_error("cannot make code that runs");
    return {};
  }
  std::uintptr_t of(std::size_t site) const { return at_of_[site]; }
  void keep() { begin_ = nullptr; }

 private:
  base::Result<> add(const Site& site) {
    auto at = reinterpret_cast<std::uint64_t>(at_), table = reinterpret_cast<std::uint64_t>(begin_);
    EntryPointers pointers{table, table + 8, table + 16};
    if (changes_ == Changes::kByService) pointers.change = table + 24;
    LockedInstruction one = moved(site.instruction, bias_);
    auto made = make_trampoline(one, at, pointers);
    if (!made) return base::error("an operand is more than 2 GiB away from its trampoline");
    TERRANE_CHECK(at_ + made->size() <= begin_ + bytes_, "a trampoline is longer than it can be");
    std::memcpy(at_, made->data(), made->size());
    at_of_.push_back(at);
    at_ += made->size();
    return {};
  }

  const Plan& plan_;
  std::uint64_t bias_;
  Changes changes_;
  std::uint8_t* begin_ = nullptr;
  std::uint8_t* at_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::vector<std::uintptr_t> at_of_;
};

// Bytes that replace others.
struct Replaced {
  std::uint64_t address;
  std::vector<std::uint8_t> bytes;
};

std::vector<Replaced> changes_for(const Site& site, std::uint64_t bias, std::uintptr_t trampoline) {
  std::uint64_t at = site.instruction.address + bias;
  // What lies behind a jump is never run: it would be a mistake of ours, which a trap shows.
  std::vector<std::uint8_t> own(site.instruction.length, kTrapCode);
  std::vector<Replaced> changes;
  if (site.way == Way::kJump) {
    auto jump = make_jump(at, trampoline);
    std::copy(jump->begin(), jump->end(), own.begin());
  } else if (site.way == Way::kHop) {
    std::uint64_t hop = site.hop + bias;
    own[0] = kShortJump;
    own[1] = static_cast<std::uint8_t>(hop - (at + kHopBytes));
    auto jump = make_jump(hop, trampoline);
    changes.push_back({hop, {jump->begin(), jump->end()}});
  } else {
    own.resize(1);
  }
  changes.push_back({at, std::move(own)});
  return changes;
}

// Stores the changes, in the order of their addresses, page by page.
base::Result<> store(const std::vector<Replaced>& changes) {
  constexpr int kRuns = PROT_READ | PROT_EXEC;
  for (std::size_t i = 0; i < changes.size();) {
    std::uint64_t begin = page_down(changes[i].address), end = begin;
    std::size_t behind = i;
    for (; behind < changes.size() && (behind == i || page_down(changes[behind].address) <= end);
         ++behind)
      end = std::max(end, page_up(changes[behind].address + changes[behind].bytes.size()));
    // It runs all the while: this function may use the library that it changes.
    if (::mprotect(bytes_at(begin), end - begin, kRuns | PROT_WRITE) != 0)
      return base::errno_error("its code cannot be written");
    for (; i < behind; ++i)
      std::memcpy(bytes_at(changes[i].address), changes[i].bytes.data(), changes[i].bytes.size());
    if (::mprotect(bytes_at(begin), end - begin, kRuns) != 0)
      return base::errno_error("its code stays writable");
  }
  return {};
}

void show(const Plan& plan, std::uint64_t bias, const Trampolines& trampolines) {
  if (plan.count(Way::kTrap) == 0) return;
  const Traps* before = shown.load();
  auto* traps = new Traps{before == nullptr ? std::vector<Pair>() : before->all, before};
  for (std::size_t i = 0; i < plan.sites.size(); ++i)
    if (plan.sites[i].way == Way::kTrap)
      traps->all.emplace_back(plan.sites[i].instruction.address + bias, trampolines.of(i));
  std::sort(traps->all.begin(), traps->all.end());
  shown.store(traps, std::memory_order_release);
}

// Whether memory holds what the file does.
bool is_loaded(const Plan& plan, std::uint64_t bias) {
  return std::all_of(plan.sites.begin(), plan.sites.end(), [bias](const Site& site) {
    const LockedInstruction& one = site.instruction;
    return std::memcmp(bytes_at(one.address + bias), one.bytes.data(), one.length) == 0;
  });
}

}  // namespace

base::Result<> apply(const Plan& plan, std::uint64_t bias, const std::string& name, Changes by) {
  if (plan.sites.empty()) return {};
  auto refuse = [&name](const std::string& why) {
    return base::error("cannot replace the locked instructions of {}: {}", name, why);
  };
  if (!is_loaded(plan, bias)) return refuse("the file has changed since it was loaded");
  Trampolines trampolines(plan, bias, by);
  if (auto made = trampolines.make(); !made) return refuse(made.error().message);
  std::vector<Replaced> changes;
  for (std::size_t i = 0; i < plan.sites.size(); ++i)
    for (Replaced& change : changes_for(plan.sites[i], bias, trampolines.of(i)))
      changes.push_back(std::move(change));
  std::sort(changes.begin(), changes.end(),
            [](const Replaced& a, const Replaced& b) { return a.address < b.address; });
  show(plan, bias, trampolines);
  trampolines.keep();
  if (auto stored = store(changes); !stored) return refuse(stored.error().message);
  return {};
}

std::uintptr_t trampoline_of(std::uintptr_t site) {
  const Traps* traps = shown.load(std::memory_order_acquire);
  if (traps == nullptr) return 0;
  auto found = std::lower_bound(traps->all.begin(), traps->all.end(), Pair{site, 0});
  return found != traps->all.end() && found->first == site ? found->second : 0;
}

}  // namespace terrane::patch
