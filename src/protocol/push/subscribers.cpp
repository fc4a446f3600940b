#include "protocol/push/subscribers.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace {

constexpr std::uint32_t kForever = ~0u;

bool same(BlockRange a, BlockRange b) { return a.first == b.first && a.count == b.count; }
bool contains(BlockRange all, BlockRange part) {
  return all.first <= part.first && part.end() <= all.end();
}
std::uint64_t what_of(NodeId reader, BlockRange run) {
  return std::uint64_t{reader.value} << 48 | run.first << 8 | run.count;
}
BlockRange run_of(std::uint64_t what) { return {what >> 8 & Subscribers::kMaxFirst, what & 255}; }
bool before(const Subscribed& a, const Subscribed& b) {
  return std::tie(a.run.first, a.run.count, a.reader.value) <
         std::tie(b.run.first, b.run.count, b.reader.value);
}

}  // namespace

// The subscription is in its slot before begun_exits_ is loaded, so a barrier exit that begins
// after that finds it there.
std::uint64_t Subscribers::make(NodeId reader, BlockRange run) {
  if (most_ == 0 || run.first > kMaxFirst || run.count > 255 || reader.value > 0xffff) return 0;
  std::uint64_t what = what_of(reader, run);
  Slot* found = slot_for(what);
  if (found == nullptr) return 0;
  found->what.store(what, std::memory_order_relaxed);
  found->until.store(kForever);
  std::uint32_t after = begun_exits_.load();
  for (std::size_t i = 0; i < slots_.load(std::memory_order_relaxed); ++i) {
    Slot& other = slot(i);
    std::uint64_t its = other.what.load(std::memory_order_relaxed);
    bool within = &other != found && its >> 48 == reader.value && contains(run, run_of(its));
    if (within && other.until.load(std::memory_order_relaxed) > after) other.until.store(after);
  }
  return std::uint64_t{after} + 1;
}

void Subscribers::end(NodeId reader, BlockRange run) {
  std::uint64_t what = what_of(reader, run);
  for (std::size_t i = 0; i < slots_.load(std::memory_order_relaxed); ++i) {
    Slot& one = slot(i);
    bool lasts = one.until.load(std::memory_order_relaxed) == kForever;
    if (lasts && one.what.load(std::memory_order_relaxed) == what)
      one.until.store(begun_exits_.load());
  }
}

// The subscription's own slot, or a free one.
Subscribers::Slot* Subscribers::slot_for(std::uint64_t what) {
  std::uint32_t kept = kept_.load();
  Slot* free = nullptr;
  for (std::size_t i = 0; i < slots_.load(std::memory_order_relaxed); ++i) {
    Slot& one = slot(i);
    bool used = one.until.load(std::memory_order_relaxed) > kept;
    if (used && one.what.load(std::memory_order_relaxed) == what) return &one;
    if (!used && free == nullptr) free = &one;
  }
  return free == nullptr ? grow() : free;
}

// As many slots again. A barrier exit sees them before one of them has a subscription.
Subscribers::Slot* Subscribers::grow() {
  std::size_t slots = slots_.load(std::memory_order_relaxed);
  auto part = static_cast<std::size_t>(std::countr_zero(slots / kSlots));
  if (slots >= most_ || part == kParts) return nullptr;
  parts_[part] = std::vector<Slot>(slots);
  slots_.store(slots * 2);
  return &slot(slots);
}

Subscribers::Slot& Subscribers::slot(std::size_t index) {
  if (index < kSlots) return first_[index];
  std::size_t before = std::bit_floor(index);
  return parts_[static_cast<std::size_t>(std::countr_zero(before / kSlots))][index - before];
}

// Several barrier exits may be under way at once, and begin out of order.
void Subscribers::begin_exit(std::uint32_t number) {
  std::uint32_t last = begun_exits_.load();
  while (last < number && !begun_exits_.compare_exchange_weak(last, number)) {
  }
}

void Subscribers::keep() {
  std::uint32_t done = done_.fetch_add(1) + 1;
  if (done == begun_exits_.load()) kept_.store(done);
}

// A subscription that a longer run has replaced lasts until the exit that had begun. The longer run
// may be in a slot that this exit has already looked at, and the reader waits for one of them.
std::optional<Subscribed> Subscribers::due_at(std::size_t index, std::uint32_t number) {
  std::uint32_t until = slot(index).until.load();
  bool is_last = until == number && !mutant(Mutant::kReplacedEndsEarly);
  if (until <= number && !is_last) return std::nullopt;
  std::uint64_t what = slot(index).what.load(std::memory_order_relaxed);
  return Subscribed{run_of(what), NodeId{static_cast<std::uint32_t>(what >> 48)}};
}

void Subscribers::sort(std::vector<Subscribed>& due) { std::sort(due.begin(), due.end(), before); }

std::vector<Subscribed> Subscribers::due(std::uint32_t number) {
  std::vector<Subscribed> all;
  for (std::size_t i = 0; i < slots(); ++i)
    if (auto one = due_at(i, number)) all.push_back(*one);
  sort(all);
  return all;
}

bool SubscribedRuns::is_before(const Expected& a, const Expected& b) {
  return std::tie(a.home.value, a.run.first) < std::tie(b.home.value, b.run.first);
}

// The runs of the home that share blocks with the run. Some that do not may be among them.
std::span<const SubscribedRuns::Expected> SubscribedRuns::near(NodeId home, BlockRange run) const {
  auto from = [&](auto begin, std::uint64_t block) {
    Expected first{home, {block, 0}, 0, 0};
    return std::lower_bound(begin, list_.end(), first, is_before);
  };
  auto begin = from(list_.begin(), run.first < longest_ ? 0 : run.first - longest_ + 1);
  return {begin, from(begin, run.end())};
}

std::span<SubscribedRuns::Expected> SubscribedRuns::near(NodeId home, BlockRange run) {
  std::span<const Expected> all = std::as_const(*this).near(home, run);
  return {list_.data() + (all.data() - list_.data()), all.size()};
}

void SubscribedRuns::note(NodeId home, BlockRange run, std::uint32_t after) {
  noted_ = true;
  bool found = false;
  for (Expected& one : near(home, run)) {
    if (!contains(run, one.run)) continue;
    if (!same(one.run, run)) {
      one.until = std::min(one.until, after);
      continue;
    }
    if (one.until <= after) one.after = after;
    one.until = kForever;
    one.unused = 0;
    found = true;
  }
  if (found) return;
  if (list_.size() < kMost) {
    longest_ = std::max(longest_, run.count);
    Expected one{home, run, after, kForever};
    list_.insert(std::upper_bound(list_.begin(), list_.end(), one, is_before), one);
  } else {
    ended_.push_back({home, run});
  }
}

bool SubscribedRuns::covers(NodeId home, BlockRange run, std::uint32_t number) const {
  std::span<const Expected> all = near(home, run);
  return std::any_of(all.begin(), all.end(), [&](const Expected& one) {
    return one.is_of(number) && contains(one.run, run);
  });
}

bool SubscribedRuns::comes_within(NodeId home, BlockRange run) const {
  std::span<const Expected> all = near(home, run);
  return std::any_of(all.begin(), all.end(), [&](const Expected& one) {
    return one.until == kForever && contains(one.run, run) && !same(one.run, run);
  });
}

std::uint64_t SubscribedRuns::sent_together(NodeId home, BlockRange run,
                                            std::uint32_t number) const {
  std::uint64_t together = 0, alone = run.count;
  for (const Expected& one : near(home, run)) {
    if (!one.is_of(number) || one.run.end() <= run.first) continue;
    if (one.run.first <= run.first) together = std::max(together, one.run.end() - run.first);
    // Blocks that have to be requested may be joined with a whole run that is pushed, but not with
    // a part of one.
    if (one.run.first > run.first && one.run.end() > run.end())
      alone = std::min(alone, one.run.first - run.first);
  }
  return std::min(run.count, together > 0 ? together : alone);
}

void SubscribedRuns::use(NodeId home, BlockRange run) {
  for (Expected& one : near(home, run))
    if (contains(one.run, run)) one.unused = 0;
}

void SubscribedRuns::give_up(NodeId home, BlockRange run) {
  std::vector<Ended> ended;
  std::erase_if(list_, [&](const Expected& one) {
    bool ends = one.home == home && contains(one.run, run);
    if (ends) ended.push_back({home, one.run});
    return ends;
  });
  end(ended);
}

void SubscribedRuns::end_exit(std::uint32_t number) {
  std::vector<Ended> ended;
  std::erase_if(list_, [&](Expected& one) {
    if (one.until <= number) return true;
    bool unused = one.after < number && ++one.unused > most_unused_;
    if (unused) ended.push_back({one.home, one.run});
    return unused;
  });
  end(ended);
}

bool SubscribedRuns::ends(NodeId home, BlockRange run) const {
  return std::any_of(ended_.begin(), ended_.end(),
                     [&](const Ended& one) { return one.home == home && contains(one.run, run); });
}

// At the home, a new subscription ends the same reader's subscriptions to runs within it. This node
// may not know which of them was made first. So if a subscription ends here, those within it end as
// well.
void SubscribedRuns::end(const std::vector<Ended>& all) {
  ended_.insert(ended_.end(), all.begin(), all.end());
  for (const Ended& whole : all) {
    std::erase_if(list_, [&](const Expected& one) {
      bool within = one.home == whole.home && contains(whole.run, one.run);
      if (!within || one.until != kForever) return false;
      if (!same(one.run, whole.run)) ended_.push_back({one.home, one.run});
      return true;
    });
  }
}

std::optional<std::size_t> MissSubscriptions::reserve() {
  for (std::size_t i = 0; i < kPlaces; ++i) {
    std::uint32_t free = kFree;
    if (!places_[i].state.compare_exchange_strong(free, kReserved)) continue;
    places_[i].ends = ends_.load();
    if (places_[i].ends % 2 == 0) return i;
    release(i);
    break;
  }
  return std::nullopt;
}

void MissSubscriptions::fill(std::size_t place, const Made& made) {
  places_[place].made = made;
  places_[place].state.store(kMade);
  made_.fetch_add(1);
}

std::optional<MissSubscriptions::Made> MissSubscriptions::take() {
  if (made_.load() == 0) return std::nullopt;
  for (Place& place : places_) {
    if (place.state.load() != kMade) continue;
    Made made = place.made;
    made.is_valid = place.ends == ends_.load();
    place.state.store(kFree);
    made_.fetch_sub(1);
    return made;
  }
  return std::nullopt;
}

bool PushBox::put(Push push) {
  if (list_.size() >= kMost) return false;
  list_.push_back(std::move(push));
  return true;
}

const PushBox::Push* PushBox::find(NodeId from, std::uint64_t block, std::uint32_t number) {
  for (std::size_t looked = 0; looked < list_.size(); ++looked, ++latest_) {
    if (latest_ >= list_.size()) latest_ = 0;
    const Push& push = list_[latest_];
    if (push.from == from && contains(push.run, {block, 1}) &&
        (push.number == number || mutant(Mutant::kPushOfAnyExit)))
      return &push;
  }
  return nullptr;
}

bool PushBox::find(NodeId from, BlockRange part, std::uint32_t number) {
  found_.clear();
  for (std::uint64_t block = part.first; block < part.end(); block = found_.back()->run.end()) {
    const Push* push = find(from, block, number);
    if (push == nullptr) return false;
    found_.push_back(push);
  }
  if (found_.size() > 1) mark(Mark::kAcquireJoinsPushes);
  return true;
}

bool PushBox::is_gone() const {
  return std::any_of(found_.begin(), found_.end(), [](const Push* push) { return push->gone; });
}

void PushBox::forget(std::uint32_t number) {
  std::erase_if(list_, [&](const Push& push) { return push.number <= number; });
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
