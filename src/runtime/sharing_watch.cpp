#include "runtime/sharing_watch.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "platform/diff.h"

namespace terrane::runtime {
namespace {

constexpr std::size_t kSeen = 1 << 16;  // a power of two
constexpr std::size_t kSince = 0, kWritten = 1, kMine = 2, kTheirs = 4;

std::size_t hash(std::uint64_t block) { return block * 0x9e3779b97f4a7c15u >> 32; }

std::size_t number_of(SharingKind kind) { return static_cast<std::size_t>(kind); }

std::uint64_t load_word(const std::byte* from) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// A bit for each of eight bytes that is not zero.
std::uint64_t bytes_set(std::uint64_t word) {
  constexpr std::uint64_t kLowest = 0x0101010101010101u, kGather = 0x0102040810204080u;
  word |= word >> 4;
  word |= word >> 2;
  word |= word >> 1;
  return (word & kLowest) * kGather >> 56;
}

// Where the two differ. Result: whether they do.
bool find_changed(const std::byte* one, const std::byte* other, std::vector<std::uint64_t>& mask) {
  std::uint64_t any = 0;
  for (std::size_t w = 0; w < mask.size(); ++w) {
    mask[w] = 0;
    for (std::size_t i = 0; i < 64; i += 8)
      mask[w] |= bytes_set(load_word(one + w * 64 + i) ^ load_word(other + w * 64 + i)) << i;
    any |= mask[w];
  }
  return any != 0;
}

}  // namespace

SharingKind SharingCounts::kind() const {
  return static_cast<SharingKind>(std::max_element(again, again + kSharingKinds) - again);
}

SharingWatch::SharingWatch(std::uint32_t nodes, std::size_t page_bytes, Looks looks)
    : page_bytes_(page_bytes),
      words_(page_bytes / 64),
      stride_(sizeof(Head) + kMasks * words_ * sizeof(std::uint64_t)),
      room_(kBytes / stride_),
      first_(looks == Looks::kAll ? kFirst : kFirstOfSome),
      most_looks_(looks == Looks::kAll ? ~0ull : kMostLooks),
      slots_(std::bit_ceil(2 * room_), kEmpty),
      seen_(kSeen),
      changed_(words_),
      first_from_(nodes) {
  void* at = ::mmap(nullptr, room_ * stride_, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  memory_ = at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

SharingWatch::~SharingWatch() {
  if (memory_ != nullptr) ::munmap(memory_, room_ * stride_);
}

std::atomic<std::uint8_t>& SharingWatch::seen(std::uint64_t block) {
  return seen_[hash(block) % kSeen];
}

// As how many events one is recorded, where so many were counted; 0: it is not.
std::uint64_t SharingWatch::stands_for(std::uint8_t events) const {
  if (events > first_) return 0;
  return events == first_ ? kSampled : events / (first_ - 1);
}

// Counts an event of the page. Result: as how many it is recorded. Threads that count at once may
// count one too few.
std::uint64_t SharingWatch::counts(std::uint64_t block) {
  std::atomic<std::uint8_t>& events = seen(block);
  std::uint8_t before = events.load(std::memory_order_relaxed);
  if (before == first_ - 1) return 1;
  std::uint8_t after = before + 1;
  if (after == first_ + kSampled) after = first_;
  events.store(after, std::memory_order_relaxed);
  return after < first_ ? 0 : stands_for(after);
}

// From now on, kSampled events of the page are recorded as one.
void SharingWatch::sample(std::uint64_t block) {
  if (most_looks_ == ~0ull) return;
  std::uint8_t all = first_ - 1;
  seen(block).compare_exchange_strong(all, first_, std::memory_order_relaxed);
}

SharingWatch::Head& SharingWatch::record(std::size_t number) const {
  return *reinterpret_cast<Head*>(memory_ + number * stride_);
}

std::uint64_t* SharingWatch::mask(Head& head, std::size_t which) const {
  return reinterpret_cast<std::uint64_t*>(&head + 1) + which * words_;
}

// The record of the page; nullptr: there is none, or no room for one.
SharingWatch::Head* SharingWatch::find(std::uint64_t block, bool makes) {
  std::size_t at = hash(block);
  for (;; ++at) {
    std::uint32_t& slot = slots_[at % slots_.size()];
    if (slot != kEmpty && record(slot - 1).counts.block == block) return &record(slot - 1);
    if (slot != kEmpty) continue;
    if (!makes) return nullptr;
    if (memory_ == nullptr || used_ == room_) {
      left_out_.fetch_add(1, std::memory_order_relaxed);
      sample(block);
      return nullptr;
    }
    slot = static_cast<std::uint32_t>(++used_);
    Head* made = new (&record(slot - 1)) Head();
    made->counts.block = block;
    return made;
  }
}

// Enough arrivals were looked at.
bool SharingWatch::is_known(const SharingCounts& counts) const {
  return counts.changed() + counts.unchanged >= most_looks_;
}

// A copy arrives from head.home, for so many of them.
void SharingWatch::note_arrival(Head& head, std::uint64_t times, const std::byte* before,
                                const std::byte* now) {
  SharingCounts& counts = head.counts;
  if (is_known(counts)) {
    bool changes = counts.changed() > counts.unchanged;
    (changes ? counts.again[number_of(counts.kind())] : counts.unchanged) += times;
    return sample(counts.block);
  }
  if (!find_changed(before, now, changed_)) {
    counts.unchanged += times;
    return;
  }
  std::uint64_t* since = mask(head, kSince);
  bool wrote = false, meets = false;
  for (std::size_t w = 0; w < words_; ++w) {
    wrote = wrote || since[w] != 0;
    meets = meets || (since[w] & changed_[w]) != 0;
  }
  std::size_t kind = number_of(meets   ? SharingKind::kSame
                               : wrote ? SharingKind::kApart
                                       : SharingKind::kRead);
  counts.again[kind] += times;
  std::uint32_t& from = counts.homes[kind];
  bool same = from == SharingCounts::kNone || from == head.home;
  from = same ? head.home : SharingCounts::kSeveral;
  std::uint64_t* theirs = mask(head, kTheirs + kind);
  for (std::size_t w = 0; w < words_; ++w) theirs[w] |= changed_[w];
  if (wrote) {
    std::uint64_t* mine = mask(head, kMine + kind);
    for (std::size_t w = 0; w < words_; ++w) mine[w] |= since[w];
  }
  std::memset(since, 0, words_ * sizeof *since);
}

void SharingWatch::arrives(std::uint64_t block, NodeId home, const std::byte* before,
                           const std::byte* now) {
  if (before == nullptr) {
    first_from_[home.value].fetch_add(1, std::memory_order_relaxed);
    return;
  }
  std::uint64_t times = counts(block);
  if (times == 0) return;
  std::lock_guard hold(mutex_);
  Head* head = find(block, true);
  if (head == nullptr) return;
  head->home = home.value;
  note_arrival(*head, times, before, now);
}

void SharingWatch::sends(protocol::BlockRange blocks, NodeId home) {
  for (std::uint64_t b = blocks.first; b < blocks.end(); ++b) {
    std::uint64_t times = counts(b);
    if (times == 0) continue;
    std::lock_guard hold(mutex_);
    Head* head = find(b, true);
    if (head == nullptr) continue;
    if (home != kNoNode) head->home = home.value;
    head->stands_for = static_cast<std::uint32_t>(times);
  }
}

void SharingWatch::merges(std::uint64_t block, const std::byte* before, const std::byte* now) {
  std::lock_guard hold(mutex_);
  Head* head = find(block, false);
  if (head == nullptr || head->stands_for == 0) return;
  note_arrival(*head, std::exchange(head->stands_for, 0), before, now);
}

void SharingWatch::note_flush(std::uint64_t block, std::span<const std::uint64_t> changed) {
  Head* head = find(block, true);
  if (head == nullptr) return;
  ++head->counts.flushed;
  for (std::size_t which : {kSince, kWritten}) {
    std::uint64_t* bytes = mask(*head, which);
    for (std::size_t w = 0; w < words_; ++w) bytes[w] |= changed[w];
  }
}

// Under the mutex. True: there is nothing to look at.
bool SharingWatch::counts_known_flush(std::uint64_t block, std::uint64_t times) {
  Head* head = find(block, false);
  bool known = head != nullptr &&
               (is_known(head->counts) || head->counts.flushed / kFlushesALook >= most_looks_);
  if (known) {
    head->counts.flushed += times;
    sample(block);
  }
  return known;
}

void SharingWatch::flushes(std::uint64_t block, const std::byte* page, const std::byte* other) {
  std::uint64_t times = counts(block);
  if (times == 0) return;
  std::lock_guard hold(mutex_);
  if (counts_known_flush(block, times)) return;
  if (find_changed(page, other, changed_)) note_flush(block, changed_);
}

void SharingWatch::flushes(std::uint64_t block, std::span<const std::byte> difference) {
  std::uint64_t times = counts(block);
  if (times == 0) return;
  std::lock_guard hold(mutex_);
  if (counts_known_flush(block, times)) return;
  if (platform::diff_mask(page_bytes_, difference, changed_)) note_flush(block, changed_);
}

void SharingWatch::waited(std::uint64_t block, std::uint64_t ns, bool came) {
  std::uint8_t events = seen(block).load(std::memory_order_relaxed);
  if (events == 0 && came) first_ns_.fetch_add(ns, std::memory_order_relaxed);
  std::uint64_t times = stands_for(events);
  if (times == 0) return;
  std::lock_guard hold(mutex_);
  if (Head* head = find(block, false)) head->counts.waited_ns += times * ns;
}

std::vector<SharingRecord> SharingWatch::records(std::size_t most) {
  std::lock_guard hold(mutex_);
  std::vector<Head*> heads;
  for (std::size_t i = 0; i < used_; ++i) heads.push_back(&record(i));
  auto costs_more = [](const Head* a, const Head* b) {
    const SharingCounts &one = a->counts, &other = b->counts;
    if (one.waited_ns != other.waited_ns) return one.waited_ns > other.waited_ns;
    return one.changed() + one.flushed > other.changed() + other.flushed;
  };
  std::stable_sort(heads.begin(), heads.end(), costs_more);
  if (heads.size() > most) heads.resize(most);
  std::vector<SharingRecord> all;
  for (Head* head : heads) {
    auto copy = [&](std::size_t which) {
      const std::uint64_t* from = mask(*head, which);
      return PageMask(from, from + words_);
    };
    std::size_t kind = number_of(head->counts.kind());
    bool reads = head->counts.kind() == SharingKind::kRead;
    all.push_back({head->counts, reads ? PageMask(words_) : copy(kMine + kind),
                   copy(kTheirs + kind), copy(kWritten)});
  }
  return all;
}

}  // namespace terrane::runtime
