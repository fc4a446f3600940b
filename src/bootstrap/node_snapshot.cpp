#include "bootstrap/node_snapshot.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "bootstrap/message.h"

namespace terrane::bootstrap {
namespace {

// What each is made of, in the order in which it travels.
auto fields(PageCounts& one) {
  return std::tie(one.faults, one.fetched, one.refreshed, one.flushed, one.flushed_bytes,
                  one.waited_ns);
}
auto fields(LockCounts& one) { return std::tie(one.acquires, one.remote, one.waited_ns); }
auto fields(StreamCounts& one) {
  return std::tie(one.written, one.written_bytes, one.taken, one.waited_ns);
}
auto fields(PageSnapshot& one) {
  return std::tuple_cat(std::tie(one.page, one.address, one.name), fields(one.recent),
                        fields(one.total));
}
auto fields(LockSnapshot& one) {
  return std::tuple_cat(std::tie(one.token, one.name), fields(one.recent), fields(one.total));
}
auto fields(StreamSnapshot& one) {
  return std::tuple_cat(std::tie(one.name), fields(one.recent), fields(one.total));
}
// All that several interfaces of a process add up.
auto counts(NodeSnapshot& one) {
  return std::tie(one.threads, one.lived_ns, one.fault_ns, one.lock_ns, one.barrier_ns,
                  one.protocol_ns, one.handler_ns, one.read_faults, one.write_faults, one.zeros,
                  one.fetched, one.refreshed, one.flushed, one.flushed_bytes, one.evicted,
                  one.acquires, one.barriers, one.sent, one.sent_bytes, one.received,
                  one.received_bytes, one.home_bytes, one.copy_bytes, one.kept_bytes,
                  one.chunk_sent, one.chunk_sent_bytes, one.chunk_received,
                  one.chunk_received_bytes, one.versions_written, one.versions_taken,
                  one.chunk_waits, one.chunk_wait_ns);
}
auto facts(NodeSnapshot& one) {
  return std::tie(one.at_ns, one.age_ns, one.recent_ns, one.limit_bytes);
}

class Writer {
 public:
  void put(std::uint64_t number) { put_bytes(&number, sizeof number); }
  void put(const std::string& text) {
    auto size = static_cast<std::uint32_t>(std::min(text.size(), NodeSnapshot::kMostName));
    put_bytes(&size, sizeof size);
    put_bytes(text.data(), size);
  }
  template <typename... Fields>
  void put_all(std::tuple<Fields&...> fields) {
    std::apply([this](const auto&... field) { (put(field), ...); }, fields);
  }
  template <typename Item>
  void put_list(std::vector<Item>& list) {
    std::size_t count = std::min(list.size(), NodeSnapshot::kMostListed);
    put(std::uint64_t{count});
    for (std::size_t i = 0; i < count; ++i) put_all(fields(list[i]));
  }
  std::vector<std::byte> take() { return std::move(out_); }

 private:
  void put_bytes(const void* data, std::size_t size) {
    std::size_t before = out_.size();
    out_.resize(before + size);
    if (size != 0) std::memcpy(out_.data() + before, data, size);
  }

  std::vector<std::byte> out_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> in) : in_(in) {}

  bool at_end() const { return ok_ && in_.empty(); }
  void take(std::uint64_t& number) { take_bytes(&number, sizeof number); }
  void take(std::string& text) {
    std::uint32_t size = 0;
    take_bytes(&size, sizeof size);
    if (size > NodeSnapshot::kMostName) ok_ = false;
    text.resize(ok_ ? size : 0);
    take_bytes(text.data(), text.size());
  }
  template <typename... Fields>
  void take_all(std::tuple<Fields&...> fields) {
    std::apply([this](auto&... field) { (take(field), ...); }, fields);
  }
  template <typename Item>
  void take_list(std::vector<Item>& list) {
    std::uint64_t count = 0;
    take(count);
    if (count > NodeSnapshot::kMostListed) ok_ = false;
    for (std::uint64_t i = 0; i < count && ok_; ++i) take_all(fields(list.emplace_back()));
  }

 private:
  void take_bytes(void* to, std::size_t size) {
    if (size > in_.size()) ok_ = false;
    if (!ok_ || size == 0) return;
    std::memcpy(to, in_.data(), size);
    in_ = in_.subspan(size);
  }

  std::span<const std::byte> in_;
  bool ok_ = true;
};

// The most that Writer makes of one item's numbers, and all of its names.
constexpr std::size_t kMostItem = 14 * sizeof(std::uint64_t) + 4 + NodeSnapshot::kMostName;
static_assert(3 * NodeSnapshot::kMostListed * kMostItem + 64 * sizeof(std::uint64_t) <=
              kMaxPacketBytes);

template <typename Item>
void append(std::vector<Item>& to, const std::vector<Item>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

template <typename... Fields, std::size_t... I>
void add_all(std::tuple<Fields&...> to, std::tuple<Fields&...> from, std::index_sequence<I...>) {
  ((std::get<I>(to) += std::get<I>(from)), ...);
}

}  // namespace

void NodeSnapshot::add(const NodeSnapshot& other) {
  NodeSnapshot more = other;
  auto own = counts(*this);
  add_all(own, counts(more), std::make_index_sequence<std::tuple_size_v<decltype(own)>>());
  append(pages, other.pages);
  append(locks, other.locks);
  append(streams, other.streams);
  at_ns = std::max(at_ns, other.at_ns);
  age_ns = std::max(age_ns, other.age_ns);
  recent_ns = std::max(recent_ns, other.recent_ns);
  limit_bytes = limit_bytes == 0 ? other.limit_bytes : limit_bytes;
}

std::vector<std::byte> encode_snapshot(NodeSnapshot snapshot) {
  Writer writer;
  writer.put_all(facts(snapshot));
  writer.put_all(counts(snapshot));
  writer.put_list(snapshot.pages);
  writer.put_list(snapshot.locks);
  writer.put_list(snapshot.streams);
  return writer.take();
}

std::optional<NodeSnapshot> decode_snapshot(std::span<const std::byte> bytes) {
  NodeSnapshot snapshot;
  Reader reader(bytes);
  reader.take_all(facts(snapshot));
  reader.take_all(counts(snapshot));
  reader.take_list(snapshot.pages);
  reader.take_list(snapshot.locks);
  reader.take_list(snapshot.streams);
  if (!reader.at_end()) return std::nullopt;
  return snapshot;
}

}  // namespace terrane::bootstrap
