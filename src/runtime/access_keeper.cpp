#include "runtime/access_keeper.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace terrane::runtime {
namespace {

// An interval as it is sent; its vector timestamp follows, then its accesses.
struct SentInterval {
  std::uint32_t interval = 0, accesses = 0;
};

template <typename T>
void put(std::vector<std::byte>& to, const T* from, std::size_t count) {
  auto* first = reinterpret_cast<const std::byte*>(from);
  to.insert(to.end(), first, first + count * sizeof(T));
}

// False: there are not so many bytes.
template <typename T>
bool get(std::span<const std::byte>& from, T* to, std::size_t count) {
  if (count > from.size() / sizeof(T)) return false;
  if (count > 0) std::memcpy(to, from.data(), count * sizeof(T));
  from = from.subspan(count * sizeof(T));
  return true;
}

// The cards of an exchange may be 16 MiB large.
constexpr std::size_t kMostSent = 15 << 20;

}  // namespace

void AccessKeeper::set_source(const AccessSource& source) {
  std::lock_guard hold(mutex_);
  source_ = source;
}

// Appends to open_ what was seen, by its offset.
void AccessKeeper::take(const platform::DualMapping& mapping) {
  if (source_.take == nullptr) return;
  seen_.clear();
  source_.take(seen_);
  for (protocol::AccessedBytes& one : seen_) {
    auto offset = mapping.offset_of(reinterpret_cast<const void*>(one.first), one.bytes);
    if (!offset) continue;
    one.first = *offset;
    open_.push_back(one);
  }
}

void AccessKeeper::close(protocol::CloseAccesses& step, const platform::DualMapping& mapping,
                         const protocol::BlockEntry* entries) {
  std::lock_guard hold(mutex_);
  take(mapping);
  auto takes_part = [&](const protocol::AccessedBytes& one) {
    return !entries[one.first / unit_].synchronises();
  };
  auto first = std::find_if(open_.begin(), open_.end(), takes_part);
  if (first != open_.end()) step.result = first->first / unit_;
  log_.close(self_, step.known, std::exchange(open_, {}));
}

void AccessKeeper::forget(const platform::DualMapping& mapping, protocol::BlockRange blocks) {
  std::lock_guard hold(mutex_);
  take(mapping);
  std::uint64_t first = blocks.first * unit_, end = blocks.end() * unit_;
  auto is_there = [&](const protocol::AccessedBytes& one) {
    return one.first < end && first < one.end();
  };
  std::erase_if(open_, is_there);
  log_.forget(is_there);
}

std::vector<std::uint64_t> AccessKeeper::blocks(const protocol::BlockEntry* entries) const {
  std::map<std::uint64_t, std::uint64_t> found;
  for (const protocol::AccessInterval& interval : log_.intervals())
    for (const protocol::AccessedBytes& access : interval.accesses)
      for (std::uint64_t b = access.first / unit_; b <= (access.end() - 1) / unit_; ++b)
        found[b] |= access.is_write != 0 ? kWritten : 0;
  std::vector<std::uint64_t> all;
  for (auto [block, flags] : found) {
    if (entries[block].synchronises()) flags |= kSynchronises;
    all.push_back(block << kShift | flags);
  }
  if (all.size() > kMostSent / sizeof all[0]) all.resize(kMostSent / sizeof all[0]);
  return all;
}

std::vector<std::byte> AccessKeeper::accesses_in(std::span<const std::uint64_t> blocks) const {
  std::vector<std::byte> out;
  for (const protocol::AccessInterval& interval : log_.intervals()) {
    std::vector<protocol::AccessedBytes> some;
    for (const protocol::AccessedBytes& access : interval.accesses) {
      bool is_in = std::binary_search(blocks.begin(), blocks.end(), access.first / unit_) &&
                   std::binary_search(blocks.begin(), blocks.end(), (access.end() - 1) / unit_);
      if (is_in) some.push_back(access);
    }
    std::size_t bytes = sizeof(SentInterval) + interval.known.size() * sizeof(std::uint32_t) +
                        some.size() * sizeof(protocol::AccessedBytes);
    if (some.empty()) continue;
    if (out.size() + bytes > kMostSent) break;
    SentInterval head{interval.interval, static_cast<std::uint32_t>(some.size())};
    put(out, &head, 1);
    put(out, interval.known.data(), interval.known.size());
    put(out, some.data(), some.size());
  }
  return out;
}

std::vector<std::uint64_t> shared_blocks(std::span<const std::vector<std::uint64_t>> lists) {
  struct Use {
    std::uint32_t nodes = 0;
    std::uint64_t flags = 0;
  };
  std::map<std::uint64_t, Use> uses;
  for (const auto& list : lists)
    for (std::uint64_t one : list) {
      Use& use = uses[one >> AccessKeeper::kShift];
      ++use.nodes;
      use.flags |= one;
    }
  std::vector<std::uint64_t> shared;
  for (const auto& [block, use] : uses) {
    bool is_written = (use.flags & AccessKeeper::kWritten) != 0;
    if (use.nodes > 1 && is_written) shared.push_back(block);
  }
  return shared;
}

std::vector<protocol::AccessInterval> read_accesses(std::span<const std::byte> bytes,
                                                    std::uint32_t nodes) {
  std::vector<protocol::AccessInterval> all;
  SentInterval head;
  while (get(bytes, &head, 1)) {
    protocol::AccessInterval interval{head.interval, std::vector<std::uint32_t>(nodes), {}};
    if (!get(bytes, interval.known.data(), nodes)) break;
    if (head.accesses > bytes.size() / sizeof(protocol::AccessedBytes)) break;
    interval.accesses.resize(head.accesses);
    if (!get(bytes, interval.accesses.data(), head.accesses)) break;
    all.push_back(std::move(interval));
  }
  return all;
}

}  // namespace terrane::runtime
