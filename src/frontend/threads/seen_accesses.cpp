// Compiled for general registers alone: traps call note() in the middle of the program.
#include "frontend/threads/seen_accesses.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "frontend/threads/locked_code.h"
#include "patch/accesses.h"
#include "platform/wait.h"
#include "runtime/program/own_stack.h"

namespace terrane::frontend::threads {
namespace {

// How often a site is met until its trap goes: by accesses of bytes that are known already, and by
// others. Each time it comes back it may be met half as often, down to the least. At first programs
// are seen as a whole, as long as few traps were met in all.
constexpr std::int32_t kMostKnown = 256, kLeastKnown = 8, kMostNew = 8192, kLeastNew = 64;
constexpr std::int32_t kMostNewAtFirst = 1 << 19;
constexpr std::uint64_t kFirst = 1 << 21;
constexpr std::int32_t kAgain = 16;  // and after a fault

std::atomic<std::uint64_t> met{0};  // traps

struct SiteState {
  std::atomic<std::int32_t> news, known;  // since the trap is there
  std::atomic<std::uint8_t> rounds;       // how often the trap has come back
  std::atomic<bool> is_off;

  std::int32_t most_news() const {
    std::int32_t most = met.load(std::memory_order_relaxed) < kFirst ? kMostNewAtFirst : kMostNew;
    return std::max(kLeastNew, most >> rounds.load());
  }
  std::int32_t most_known() const { return std::max(kLeastKnown, kMostKnown >> rounds.load()); }
};

// Bytes of one page that an instruction has accessed.
struct Seen {
  std::uintptr_t first;
  std::uint32_t bytes;
  std::uint32_t site;
};

// What threads have seen whose stacks lie there. A thread that finds it busy drops what it sees.
struct Shelf {
  static constexpr std::size_t kMost = 16384, kLatest = 512;
  std::atomic<bool> is_busy{false};
  std::atomic<bool> is_spoiled{false};  // what it holds belongs to no interval
  std::uint32_t count = 0;
  std::uint32_t latest[kLatest] = {};  // of sites, where what they have seen last lies
  Seen seen[kMost];
};
constexpr std::size_t kShelves = 32, kMostOff = 1 << 20;
constexpr std::uintptr_t kPage = 4096;

struct State {
  Shelf shelves[kShelves];
  SiteState sites[kMostOff];
  std::uint32_t off[kMostOff];  // sites without a trap
};
State* state = nullptr;
std::atomic<std::uint32_t> off_count{0};
std::atomic<bool> is_on{false};
std::uint64_t began = 0;

Shelf& own_shelf() {
  auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  constexpr std::uintptr_t kStack = 1 << 16, kSpread = 0x9e3779b97f4a7c15;
  return state->shelves[(here / kStack * kSpread) >> 32 & (kShelves - 1)];
}

// False: these bytes are there already. The shelf is the caller's.
bool put(Shelf& shelf, std::uintptr_t at, std::uint32_t bytes, std::uint32_t site) {
  std::uint32_t& latest = shelf.latest[site % Shelf::kLatest];
  if (latest < shelf.count && shelf.seen[latest].site == site) {
    Seen& last = shelf.seen[latest];
    if (at >= last.first && at + bytes <= last.first + last.bytes) return false;
    bool is_near = at / kPage == last.first / kPage;
    if (is_near && at == last.first + last.bytes) {
      last.bytes += bytes;
      return true;
    }
    if (is_near && at + bytes == last.first) {
      last.first = at;
      last.bytes += bytes;
      return true;
    }
  }
  if (shelf.count == Shelf::kMost) return false;
  latest = shelf.count++;
  shelf.seen[latest] = {at, bytes, site};
  return true;
}

void take_trap_away(const patch::AccessSite& site, SiteState& its) {
  if (its.is_off.exchange(true)) return;
  patch::disarm(site);
  std::uint32_t at = off_count.fetch_add(1);
  if (at < kMostOff) state->off[at] = site.number;
}

// Called by the trampoline of each site.
void note(std::uintptr_t address, std::uint64_t number) {
  const patch::AccessSite& site = patch::access_sites()[number];
  SiteState& its = state->sites[number];
  bool is_new = false;
  if (is_on.load(std::memory_order_relaxed) && !runtime::is_in_operation() &&
      is_unserved_word(address)) {
    Shelf& shelf = own_shelf();
    is_new = shelf.is_busy.exchange(true, std::memory_order_acquire);
    if (!is_new) {
      is_new = put(shelf, address, site.bytes, site.number);
      shelf.is_busy.store(false, std::memory_order_release);
    }
  }
  met.fetch_add(1, std::memory_order_relaxed);
  auto& count = is_new ? its.news : its.known;
  std::int32_t most = is_new ? its.most_news() : its.most_known();
  if (count.fetch_add(1, std::memory_order_relaxed) + 1 >= most) take_trap_away(site, its);
}

void put_trap_back(std::uint32_t number, std::int32_t news, std::int32_t known) {
  SiteState& its = state->sites[number];
  its.news.store(news);
  its.known.store(known);
  its.is_off.store(false);
  patch::arm(patch::access_sites()[number]);
}

// Traps may take half of the time, and the first seconds: a trap takes some microseconds.
bool may_put_back() {
  constexpr std::uint64_t kTrapNs = 3000;
  return met.load() * kTrapNs < (platform::now_ns() - began) / 2 + kFirst * kTrapNs;
}

void put_traps_back() {
  std::uint32_t count = std::min<std::uint32_t>(off_count.exchange(0), kMostOff);
  for (std::uint32_t i = 0; i < count; ++i) {
    SiteState& its = state->sites[state->off[i]];
    constexpr std::uint8_t kMostRounds = 16;
    if (its.rounds.load() < kMostRounds) its.rounds.fetch_add(1);
    put_trap_back(state->off[i], 0, 0);
  }
}

// A thread keeps a shelf for some instructions, unless it was interrupted there: by a handler of
// the program that waits for us here. Then the shelf is given up until next time.
bool lock(Shelf& shelf) {
  constexpr int kMostTries = 10'000;
  for (int i = 0; i < kMostTries; ++i)
    if (!shelf.is_busy.exchange(true, std::memory_order_acquire)) return true;
  shelf.is_spoiled.store(true);
  return false;
}

void take(std::vector<protocol::AccessedBytes>& to) {
  auto sites = patch::access_sites();
  for (Shelf& shelf : state->shelves) {
    if (!lock(shelf)) continue;
    if (shelf.is_spoiled.exchange(false)) shelf.count = 0;
    for (std::uint32_t i = 0; i < shelf.count; ++i) {
      const Seen& seen = shelf.seen[i];
      const patch::AccessSite& site = sites[seen.site];
      to.push_back({seen.first, seen.bytes, site.is_written ? 1u : 0u, site.at});
    }
    shelf.count = 0;
    shelf.is_busy.store(false, std::memory_order_release);
  }
  if (off_count.load() > 0 && may_put_back()) put_traps_back();
}

void see_again(std::uintptr_t instruction) {
  const patch::AccessSite* site = patch::access_site_at(instruction);
  if (site == nullptr || !state->sites[site->number].is_off.load() || !may_put_back()) return;
  SiteState& its = state->sites[site->number];
  put_trap_back(site->number, its.most_news() - kAgain, std::max(0, its.most_known() - kAgain));
}

}  // namespace

bool sees_accesses() {
  static const bool sees = [] {
    const char* check = std::getenv("TERRANE_CHECK");
    return check != nullptr && std::string_view(check) == "races=reads";
  }();
  return sees;
}

base::Result<> see_accesses(const patch::ElfCode& file, std::uint64_t bias,
                            const std::string& name) {
  if (state == nullptr) {
    void* room = ::mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return base::errno_error("no memory for what is read");
    state = static_cast<State*>(room);
    patch::set_access_note(note);
  }
  return patch::watch_accesses(file, bias, name);
}

std::uintptr_t trampoline_of_access(std::uintptr_t site) {
  const patch::AccessSite* found = patch::access_site_at(site);
  return found == nullptr ? 0 : found->trampoline;
}

runtime::AccessSource seen_accesses() {
  is_on.store(true);
  began = platform::now_ns();
  return {take, see_again};
}

}  // namespace terrane::frontend::threads
