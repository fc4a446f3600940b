#include "runtime/page_space.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "platform/process_limits.h"
#include "runtime/debugged_memory.h"
#include "runtime/sharing_watch.h"
#include "runtime/statistics.h"

namespace terrane::runtime {
namespace {

constexpr std::uint32_t kPagesRegion = 0;
constexpr std::uint32_t kControlRegion = 1;
constexpr std::uint64_t kCacheLine = 64;
constexpr std::uint64_t kBytesTold = 2 * sizeof(protocol::CentralBarrier::Told);  // of a barrier

// The size of the part with sequential consistency, which follows the space that was asked for.
// Address space costs nothing.
std::uint64_t sc_bytes(const Options& options) {
  constexpr std::uint64_t kLeast = 1 << 20;
  return std::max(options.space_bytes / 8 / kLeast, std::uint64_t{1}) * kLeast;
}

}  // namespace

SparseMemory::~SparseMemory() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

base::Result<> SparseMemory::map(std::uint64_t bytes) {
  void* at = platform::map_sparse(nullptr, bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
  if (at == MAP_FAILED) {
    return base::error(
        "no {} MiB of address space ({}): set TERRANE_SPACE to less, or raise 'ulimit -v' and "
        "'ulimit -d' (or set vm.overcommit_memory to 0 where it is 2)",
        bytes >> 20, std::strerror(errno));
  }
  ::madvise(at, bytes, MADV_DONTDUMP);  // a core file is no larger than what the program allocated
  ::madvise(at, bytes, MADV_DONTFORK);
  ::madvise(at, bytes, MADV_NOHUGEPAGE);  // sparse: a huge page for one entry would be waste
  data_ = static_cast<std::byte*>(at);
  bytes_ = bytes;
  return {};
}

PageSpace::PageSpace(const Options& options, NodeId self, std::uint32_t nodes)
    : self_(self),
      nodes_(nodes),
      unit_(options.unit_bytes),
      sc_first_(options.space_bytes / options.unit_bytes),
      blocks_(sc_first_ + sc_bytes(options) / options.unit_bytes),
      // Nodes that read a page share it only where the first store to it faults.
      kind_(options.sequential ? platform::synchronous_kind(options.fault_source)
                               : options.fault_source),
      diff_(platform::diff_kernels()),
      peers_(nodes),
      reached_(new bool[nodes]()) {
  written_.reserve(4096);
}

std::uint64_t PageSpace::control_bytes() const {
  std::uint64_t bytes = blocks_ * 8 + 2 * protocol::BlockSet::words_needed(blocks_) * 8 +
                        2 * kCacheLine +
                        protocol::CentralBarrier::kPlaces * (kCacheLine + kBytesTold);
  return (bytes + 4095) / 4096 * 4096;
}

std::uint64_t PageSpace::table_bytes() const {
  std::uint64_t set_bytes = protocol::BlockSet::words_needed(blocks_) * 8;
  return blocks_ * (sizeof(protocol::BlockEntry) + sizeof(protocol::BlockHistory)) + 2 * 64 +
         (protocol::BlockMemory::kSets + 3) * set_bytes;
}

base::Result<> PageSpace::fits_addresses(const Options& options, std::uint32_t nodes_on_host) {
  constexpr std::uint64_t kRest = 160 << 20;  // stacks, messages, the program's first allocations
  platform::AddressesLeft left = platform::addresses_left();
  auto takes = [&](std::uint64_t space_bytes) {
    Options smaller = options;
    smaller.space_bytes = space_bytes;
    PageSpace space(smaller, NodeId{0}, 1);
    std::uint64_t shared = space.blocks_ * space.unit_ + space.control_bytes();
    std::uint64_t own = space_bytes + space.table_bytes() + space.blocks_ * space.unit_ / 16384;
    return std::pair{nodes_on_host * shared + space.blocks_ * space.unit_ + own + kRest,
                     own + kRest};
  };
  auto fits = [&](std::uint64_t space_bytes) {
    auto [all, own] = takes(space_bytes);
    return all <= left.all && own <= left.own_writable;
  };
  if (fits(options.space_bytes)) return {};
  auto [all, own] = takes(options.space_bytes);
  bool is_all = all > left.all;
  constexpr std::uint64_t kLeast = 1 << 20;
  std::uint64_t smaller = std::bit_floor(options.space_bytes);
  while (smaller > kLeast && !fits(smaller)) smaller /= 2;
  const char* limit = is_all ? "ulimit -v" : "ulimit -d";
  std::string cure = fits(smaller)
                         ? fmt::format("set TERRANE_SPACE={}M, or raise '{}'", smaller >> 20, limit)
                         : fmt::format("raise '{}'", limit);
  return base::error(
      "a shared space of {} MiB takes {} MiB of addresses in a node that has {} nodes on its host, "
      "and '{}' leaves {} MiB: {}",
      options.space_bytes >> 20, (is_all ? all : own) >> 20, nodes_on_host, limit,
      (is_all ? left.all : left.own_writable) >> 20, cure);
}

PageSpace::Control PageSpace::control_at(std::byte* data) const {
  auto* words = reinterpret_cast<std::atomic<std::uint32_t>*>(data);
  auto* wanted = reinterpret_cast<protocol::BlockSet::Word*>(data + blocks_ * 8);
  auto* populated = wanted + protocol::BlockSet::words_needed(blocks_);
  auto* kept = populated + protocol::BlockSet::words_needed(blocks_);
  auto* flushing = reinterpret_cast<std::atomic<std::uint32_t>*>(kept + 1);
  auto* announced = flushing + 1;
  auto used = static_cast<std::uint64_t>(reinterpret_cast<std::byte*>(announced + 1) - data);
  return {words,
          words + blocks_,
          protocol::BlockSet(wanted, blocks_),
          protocol::BlockSet(populated, blocks_),
          flushing,
          announced,
          kept,
          data + (used + kCacheLine - 1) / kCacheLine * kCacheLine};
}

base::Result<std::unique_ptr<PageSpace>> PageSpace::create(const Options& options, NodeId self,
                                                           std::uint32_t nodes) {
  std::unique_ptr<PageSpace> space(new PageSpace(options, self, nodes));
  if (options.follows_homes() && nodes > 1)
    space->check_ =
        std::make_unique<HomeCheck>(self, nodes, options.unit_bytes, options.check_races);
  if (space->check_ != nullptr && options.check_accesses)
    space->accesses_ = std::make_unique<AccessKeeper>(self, options.unit_bytes);
  auto layout = platform::default_space_layout();
  auto mapping = platform::DualMapping::create(
      space->blocks_ * space->unit_, reinterpret_cast<void*>(layout.base), "terrane-pages");
  if (!mapping) return mapping.error();
  space->mapping_ = std::move(mapping).value();
  auto fd = platform::create_memfd(space->control_bytes(), "terrane-control");
  if (!fd) return fd.error();
  space->control_fd_.reset(fd.value());
  auto control = platform::SharedMapping::map(fd.value(), space->control_bytes());
  if (!control) return control.error();
  space->control_mapping_ = std::move(control).value();
  auto twins = space->twins_.map(options.space_bytes);
  if (!twins) return twins.error();
  auto stages = space->staging_.map(protocol::Hlrc::kMaxRun * space->unit_);
  if (!stages) return stages.error();
  auto tables = space->tables_.map(space->table_bytes());
  if (!tables) return tables.error();
  Peer& own = space->peers_[self.value];
  own.pages = space->mapping_.runtime();
  own.control = space->control_at(space->control_mapping_.data());
  own.connected = true;
  return space;
}

std::vector<transport::ExportedRegion> PageSpace::exported() const {
  return {{mapping_.fd(), mapping_.bytes()}, {control_fd_.get(), control_bytes()}};
}

void PageSpace::connect(transport::Transport& transport, bool one_sided) {
  transport_ = &transport;
  reaches_all_ = true;
  // Pages are mapped at their first use. If address space is limited they are mapped now, while
  // messages can still be used in place of a mapping that fails.
  bool unlimited = platform::addresses_left().all == ~std::uint64_t{0};
  for (std::uint32_t n = 0; n < nodes_; ++n) {
    reached_[n] =
        NodeId{n} == self_ || (one_sided && transport.reach(NodeId{n}, kControlRegion) != nullptr &&
                               (unlimited || transport.reach(NodeId{n}, kPagesRegion) != nullptr));
    reaches_all_ = reaches_all_ && reached_[n];
  }
}

base::Result<> PageSpace::watch(platform::FaultHandler handler, void* context) {
  control_fd_.reset();  // it is mapped by now, and peers have it
  handler_ = handler;
  handler_context_ = context;
  platform::Span sc = span({sc_first_, blocks_ - sc_first_});
  auto source =
      platform::make_fault_source(kind_, mapping_, span({0, sc_first_}), handler, context);
  if (!source) return source.error();
  source_ = std::move(source).value();
  auto sc_source = platform::make_fault_source(platform::synchronous_kind(kind_), mapping_, sc,
                                               handler, context);
  if (!sc_source) return sc_source.error();
  sc_source_ = std::move(sc_source).value();
  return {};
}

base::Result<> PageSpace::place(std::vector<Placed> placed) {
  auto panes = std::make_unique<Panes>();
  if (!owned_panes_.empty()) *panes = *owned_panes_.back();
  for (const Placed& one : placed) {
    auto done = mapping_.place(span(one.blocks), one.address);
    if (!done) return done;
    auto source = platform::make_fault_source(kind_, mapping_, span(one.blocks), handler_,
                                              handler_context_, source_.get());
    if (!source) return source.error();
    panes->push_back({one.blocks, source.value().get()});
    pane_sources_.push_back(std::move(source).value());
  }
  std::sort(panes->begin(), panes->end(),
            [](const Pane& a, const Pane& b) { return a.blocks.first < b.blocks.first; });
  owned_panes_.push_back(std::move(panes));  // other threads may still read those of before
  panes_.store(owned_panes_.back().get(), std::memory_order_release);
  show_to_debuggers(this);
  return {};
}

protocol::WriteDetection PageSpace::detection() const {
  return source_->detection() == platform::WriteDetection::kScan ? protocol::WriteDetection::kScan
                                                                 : protocol::WriteDetection::kFault;
}

protocol::BlockHistory* PageSpace::history() {
  std::uint64_t entries = (blocks_ * sizeof(protocol::BlockEntry) + 63) / 64 * 64;
  return reinterpret_cast<protocol::BlockHistory*>(tables_.data() + entries);
}

protocol::BlockMemory PageSpace::protocol_memory() {
  protocol::BlockMemory memory;
  std::byte* at = tables_.data();
  memory.entries = reinterpret_cast<protocol::BlockEntry*>(at);
  at = reinterpret_cast<std::byte*>(history());
  at += (blocks_ * sizeof(protocol::BlockHistory) + 63) / 64 * 64;
  std::uint64_t set_bytes = protocol::BlockSet::words_needed(blocks_) * 8;
  for (auto& set : memory.sets) {
    set = reinterpret_cast<protocol::BlockSet::Word*>(at);
    at += set_bytes;
  }
  memory.reached = reached_.get();
  memory.used = peers_[self_.value].control.kept;
  twinned_ = protocol::BlockSet(reinterpret_cast<protocol::BlockSet::Word*>(at), blocks_);
  at += protocol::BlockSet::words_needed(blocks_) * 8;
  fresh_ = protocol::BlockSet(reinterpret_cast<protocol::BlockSet::Word*>(at), blocks_);
  at += protocol::BlockSet::words_needed(blocks_) * 8;
  known_ = protocol::BlockSet(reinterpret_cast<protocol::BlockSet::Word*>(at), blocks_);
  return memory;
}

std::byte* PageSpace::pages_of(NodeId node) {
  Peer& peer = peers_[node.value];
  std::byte* pages = peer.pages.load(std::memory_order_acquire);
  if (pages == nullptr) {
    pages = transport_->reach(node, kPagesRegion);
    TERRANE_CHECK(pages != nullptr, "a peer's pages can be reached on this host");
    peer.pages.store(pages, std::memory_order_release);
  }
  return pages;
}

PageSpace::Control& PageSpace::control_of(NodeId node) {
  Peer& peer = peers_[node.value];
  if (!peer.connected.load(std::memory_order_acquire)) {
    std::byte* data = transport_->reach(node, kControlRegion);
    TERRANE_CHECK(data != nullptr, "a peer's control words can be reached on this host");
    static std::atomic_flag busy;  // several threads may use a peer for the first time at once
    while (busy.test_and_set(std::memory_order_acquire)) {
    }
    if (!peer.connected.load(std::memory_order_relaxed)) {
      peer.control = control_at(data);
      peer.connected.store(true, std::memory_order_release);
    }
    busy.clear(std::memory_order_release);
  }
  return peer.control;
}

protocol::CentralBarrier PageSpace::central_barrier(std::uint32_t number) {
  using protocol::CentralBarrier;
  std::byte* words = control_of(NodeId{0}).barriers;
  std::byte* told = words + CentralBarrier::kPlaces * kCacheLine + number * kBytesTold;
  return {*reinterpret_cast<CentralBarrier::Word*>(words + number * kCacheLine), nodes_,
          reinterpret_cast<CentralBarrier::Told*>(told)};
}

// Reading a page that was never written must not give it memory.
void PageSpace::read_page(std::uint64_t block, std::byte* out) {
  if (!peers_[self_.value].control.populated.contains(block)) {
    std::memset(out, 0, unit_);
    return;
  }
  diff_.copy(mapping_.runtime() + block * unit_, out, nullptr, unit_);
}

void PageSpace::write_pages(protocol::BlockRange blocks, const std::byte* from, bool stages) {
  if (stages) {
    std::memcpy(staging_.data(), from, blocks.count * unit_);
    return;
  }
  write_pages(blocks, from);
}

void WatchedPages::arrive(PageSpace& space, const Counters& counters, NodeId home,
                          protocol::BlockRange blocks, const std::byte* now) {
  SharingWatch* watch = counters.sites == nullptr ? nullptr : counters.sites->sharing();
  if (watch == nullptr) return;
  for (std::uint64_t b = blocks.first; b < blocks.end(); ++b, now += space.unit())
    watch->arrives(b, home, before(space, b), now);
}

void PageSpace::stage(std::uint64_t slot, const std::byte* from) {
  std::memcpy(staging_.data() + slot * unit_, from, unit_);
}

std::size_t PageSpace::encode(std::uint64_t block, bool update_twin, std::byte* out) {
  std::uint64_t offset = block * unit_;
  return diff_.encode(mapping_.runtime() + offset, twins_.data() + offset, unit_, update_twin, out);
}

bool PageSpace::apply(const protocol::ApplyDiff& step) {
  std::uint64_t block = step.block.value;
  back_home(self_, block);
  std::byte* page = mapping_.runtime() + block * unit_;
  if (check_ != nullptr) {
    auto turn = check_->hold();
    return check_->apply(step, diff_, page, CheckedPages::twin(*this, block));
  }
  return diff_.apply(page, unit_, step.diff);
}

bool PageSpace::place(std::uint64_t block, std::span<const std::byte> page) {
  if (page.size() != unit_) return false;
  back_home(self_, block);
  std::memcpy(mapping_.runtime() + block * unit_, page.data(), unit_);
  return true;
}

std::uint64_t PageSpace::atomic(NodeId home, std::uint64_t block, const protocol::AtomicOp& op) {
  bool loads = op.kind == protocol::AtomicKind::kLoad;
  if (loads && !control_of(home).populated.contains(block)) return 0;
  back_home(home, block);
  return protocol::perform(op, pages_of(home) + block * unit_);
}

}  // namespace terrane::runtime
