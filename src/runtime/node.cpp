#include "runtime/node.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/log.h"
#include "membership/membership.h"
#include "runtime/before_operations.h"
#include "runtime/debugged_memory.h"
#include "runtime/memory_texts.h"
#include "runtime/node_report.h"
#include "runtime/program/own_stack.h"
#include "runtime/recording.h"
#include "runtime/sharing_reporter.h"
#include "runtime/wait_reports.h"
#include "runtime/wiring.h"
#include "waiting/backoff.h"

namespace terrane::runtime {
namespace {

constexpr std::uint64_t kRunBytes = 64 << 10;  // most that one miss fetches

// A share in blocks, as the protocol has it.
struct Blocks {
  std::uint64_t limit, reserve, most_homes;
};

Blocks blocks_of(const MemoryShare& share, std::uint64_t unit) {
  std::uint64_t limit = share.limit_bytes / unit, most = share.home_bytes / unit;
  return {limit, limit / 8, most - most / 4};
}

void set_limits(protocol::HlrcConfig& config, const MemoryShare& share) {
  if (share.limit_bytes == ~0ull) return;
  Blocks blocks = blocks_of(share, config.block_bytes);
  config.limit = blocks.limit;
  config.floor = std::min<std::uint64_t>(32, blocks.limit / 16);
  config.reserve = blocks.reserve;
  config.most_homes = blocks.most_homes;
}

protocol::sc::PagesConfig config_of_pages(const protocol::HlrcConfig& hlrc) {
  protocol::sc::PagesConfig config;
  config.self = hlrc.self;
  config.blocks = hlrc.blocks;
  config.protects = hlrc.enters_protected;
  config.seals = hlrc.detection == protocol::WriteDetection::kScan;
  config.sequential = hlrc.sequential;
  return config;
}

// A node that dies is the home of pages, and has tokens of locks and a place in every barrier.
void end_without(bootstrap::Bootstrap& bootstrap, const bootstrap::News& news) {
  bootstrap.fail(fmt::format("{}; shared pages cannot go on without node {}: run it without "
                             "--on-death survive",
                             news.why, news.node.value),
                 1);
}

// By the handler thread. answers: nullptr: the node cannot answer yet.
void hear(bootstrap::Bootstrap& bootstrap, Snapshots* answers, const bootstrap::News& news) {
  if (news.kind == bootstrap::News::Kind::kDied) end_without(bootstrap, news);
  if (news.kind == bootstrap::News::Kind::kAsked && answers != nullptr) answers->asked();
}

// What does not depend on other parts of the node.
protocol::HlrcConfig config_of(const Options& options, const PageSpace& space) {
  protocol::HlrcConfig hlrc;
  hlrc.self = space.self();
  hlrc.nodes = space.nodes();
  hlrc.blocks = space.blocks();
  hlrc.sc_first = space.sc_first();
  hlrc.block_bytes = space.unit();
  hlrc.detection = space.detection();
  hlrc.enters_protected = space.enters_protected();
  hlrc.sequential = options.sequential && space.nodes() > 1;
  hlrc.in_memory_barriers = options.meet;
  hlrc.tunables = protocol::tuned({}, options.prediction.on);
  hlrc.tunables.max_run = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(kRunBytes / space.unit(), 1, protocol::Hlrc::kMaxRun));
  return hlrc;
}

}  // namespace

base::Result<std::unique_ptr<Node>> Node::join() {
  std::unique_ptr<Node> node(new Node());
  auto started = node->start();
  if (!started) return started.error();
  return node;
}

base::Result<> Node::start() {
  joined_ns_ = platform::now_ns();
  auto bootstrap = membership::join();
  if (!bootstrap) return bootstrap.error();
  bootstrap_ = std::move(bootstrap).value();
  base::set_log_identity(fmt::format("node {} ({})", self().value, bootstrap_->host()));
  if (auto alone = refuse_guests(*bootstrap_, "pages"); !alone) return alone;
  auto options = read_options(nodes());
  if (!options) return options.error();
  waiting::Patience::set_ms(options.value().patience_ms);
  threads_.current();
  if (auto fits = PageSpace::fits_addresses(options.value(), bootstrap_->nodes_on_host()); !fits)
    return fits;
  auto space = PageSpace::create(options.value(), self(), nodes());
  if (!space) return space.error();
  space_ = std::move(space).value();
  races_.begin(options.value());
  if (auto begun = NodeReport::begin(*this, options.value()); !begun) return begun;
  auto wired = wire_up(options.value());
  if (!wired) return wired;

  protocol::CoreConfig core;
  core.self = self();
  core.nodes = nodes();
  core.blocks = space_->blocks();
  core.block_bytes = static_cast<std::uint32_t>(space_->unit());
  core.sc_first = space_->sc_first();
  protocol::BlockMemory memory = space_->protocol_memory();
  core.reached = memory.reached;
  core.hosts = bootstrap_->hosts().data();
  bool clusters = options.value().clusters && !bootstrap_->clusters().empty();
  if (clusters) core.clusters = bootstrap_->clusters().data();
  // On crowded processors a node that waits for answers leaves the processor to the others (0111).
  core.counts_announcements = waiting::threads_fit_processors();
  core.max_log_ranges = static_cast<std::uint32_t>(options.value().log_ranges);
  core_ = std::make_unique<protocol::Core>(core);
  auto watching = space_->watch(&Node::on_fault, this);
  if (!watching) return watching;
  show_to_debuggers(space_.get());
  protocol::HlrcConfig hlrc = config_of(options.value(), *space_);
  predictor_ = protocol::make_predictor(options.value().prediction, space_->history(),
                                        space_->blocks(), hlrc.tunables);
  CheckedPages::configure(*space_, hlrc);
  hlrc.migrate = options.value().migrate && !hlrc.check_races;
  set_limits(hlrc, memory_[self().value]);
  hlrc_ = std::make_unique<protocol::Hlrc>(hlrc, memory, *core_, *predictor_);
  sc_ = std::make_unique<protocol::sc::Pages>(config_of_pages(hlrc), memory, *hlrc_,
                                              hlrc_->ordering());
  hlrc_->share_memory_with(*sc_);
  engine_ = std::make_unique<Engine>(
      *space_, *transport_, *bootstrap_, threads_, *core_, *hlrc_, *sc_,
      [this](const bootstrap::News& news) { hear(*bootstrap_, answers_, news); });
  if (auto begun = NodeReport::begin_recording(*this, options.value()); !begun) return begun;
  attach(threads_, *engine_, *hlrc_, locks_.get(), trace_.get(), recording_.get());
  snapshots_ = std::make_unique<Snapshots>(
      Snapshots::Sources{.job = *bootstrap_,
                         .threads = threads_,
                         .space = *space_,
                         .engine = *engine_,
                         .hlrc = *hlrc_,
                         .sc = *sc_,
                         .sites = sites_.get(),
                         .locks = locks_.get(),
                         .count_locks = [this](LockCounters* locks) { count_locks(locks); },
                         .joined_ns = joined_ns_});
  answers_ = snapshots_.get();
  watch_memory();
  return {};
}

void set_names(Node& node, ProgramNames names) { node.snapshots_->set_names(std::move(names)); }

// A node whose machine or control group shrinks while it runs gives homes away. Alone it has nobody
// to give them to.
void Node::watch_memory() {
  if (nodes() == 1) return;
  auto bound = [this](const MemoryShare& share) {
    Blocks blocks = blocks_of(share, space_->unit());
    std::vector<MemoryShare> shares = memory_;
    shares[self().value] = share;
    space_->bound(shares, {});
    hlrc_->bound(blocks.limit, blocks.reserve, blocks.most_homes);
  };
  auto shrink = [this] {
    ThreadContext& context = threads_.current();
    context.role = "memory";
    engine_->run(context, hlrc_->shrink(context.strand));
  };
  memory_watch_.start(memory_[self().value], nodes_on_host(), KeptPages::growth(*space_),
                      {.kept_bytes = [this] { return space_->kept_bytes(self()); },
                       .bound = bound,
                       .shrink = shrink,
                       .report = [](const std::string& sentence) { base::log("{}", sentence); }});
}

// No thread could ever release the lock, and the next thread with this context would count as its
// holder.
void Node::thread_ended(ThreadContext& context) {
  if (engine_ == nullptr || left_.load()) return;
  if (auto lock = engine_->held_by(context))
    bootstrap_->fail(
        fmt::format("thread {} ended while it held {}: it must give the lock back "
                    "by {} before it ends",
                    context.thread.load(), name_of_token(*lock),
                    protocol::is_object(*lock) ? "pthread_mutex_unlock" : "terrane_unlock"),
        1);
}

// The memory is exported as it is now; peers map it from now on.
base::Result<> Node::wire_up(const Options& options) {
  auto exported = space_->exported();
  MemoryCard mine = memory_card(options);
  auto wiring =
      runtime::wire_up(*bootstrap_, options, "pages", exported, std::as_bytes(std::span(&mine, 1)));
  if (!wiring) return wiring.error();
  std::vector<MemoryCard> cards(nodes());
  for (std::uint32_t n = 0; n < nodes(); ++n) {
    const auto& said = wiring.value().said[n];
    if (said.size() != sizeof cards[n])
      return base::error("{} did not say how much memory it has", name_of(NodeId{n}, *bootstrap_));
    std::memcpy(&cards[n], said.data(), sizeof cards[n]);
  }
  memory_ = memory_shares(cards, bootstrap_->hosts());
  space_->bound(memory_, [this](NodeId home, std::uint64_t block) { out_of_memory(home, block); });
  transport_ = std::move(wiring.value().transport);
  space_->connect(*transport_, options.one_sided);
  return {};
}

// The handler thread hears of questions.
Node::~Node() {
  show_to_debuggers(nullptr);
  if (engine_ != nullptr) engine_->stop();
}

int Node::leave(const ProgramNames& names, int code) {
  memory_watch_.stop();
  if (recording_ != nullptr)
    on_own_stack([this] {
      recording_->pause(threads_.current());
      recording_->note(threads_.current(), {.kind = RecordedOp::Kind::kFence}, false);
    });
  on_own_stack([this] {
    ThreadContext& context = threads_.current();
    context.waiting = {Waiting::For::kLeaving};
    engine_->run(context, hlrc_->last_barrier(context.strand, BarrierId{0xffffffffu}));
  });
  left_.store(true);
  engine_->stop();
  snapshots_->stop();
  // Not on the program's stack: a fault there would ask the transport.
  on_own_stack([this] { transport_->finish(); });
  if (has_stats_) report();
  on_own_stack([&] {
    if (recording_ != nullptr)
      if (auto written = recording_->write(*bootstrap_, *engine_, names); !written)
        base::log("what is recorded is lost: {}", written.error().message);
    races_.report(*bootstrap_, *space_, *engine_, names);
    NodeReport::end(*this, names);
  });
  bootstrap_->leaving(bootstrap::Departure::kWithAll);
  return sharing_->exit_code(races_.exit_code(code));
}

// As operations, so that a thread of the program does not take what is sent for a call of its own,
// on a descriptor of another node.
void Node::end(int code) {
  on_own_stack([&] {
    bootstrap_->ending(code);
    return 0;
  });
}
void Node::fail(std::string_view sentence) {
  on_own_stack([&] {
    bootstrap_->fail(sentence, 1);
    return 0;
  });
  std::abort();
}

Outcome Node::allocate(std::uint64_t bytes, const Allocation& options, void*& address) {
  if (bytes == 0) return {Status::kInvalid, "an allocation of 0 bytes"};
  if (options.policy.homes == protocol::Homes::kExplicit && options.policy.argument >= nodes()) {
    return {Status::kInvalid, fmt::format("home node {} does not exist: the job has {} nodes",
                                          options.policy.argument, nodes())};
  }
  if (options.policy.homes == protocol::Homes::kCluster &&
      options.policy.argument >= clusters().count()) {
    return {Status::kInvalid, fmt::format("cluster {} does not exist: the job has {}",
                                          options.policy.argument, clusters().count())};
  }
  auto too_much = [&] {
    return Outcome{
        Status::kNoMemory,
        fmt::format("no room for {} bytes in the shared space of {} GiB; set TERRANE_SPACE "
                    "to more, or free something",
                    bytes, space_->mapping().bytes() >> 30)};
  };
  if (bytes > space_->mapping().bytes()) return too_much();
  if (!options.sparse)
    if (Outcome fits = fits_memory(bytes, options, memory_, *bootstrap_); !fits.ok()) return fits;
  ThreadContext& context = threads_.current();
  protocol::RegionAllocate request{(bytes + space_->unit() - 1) / space_->unit(),
                                   bytes,
                                   options.policy,
                                   0,
                                   {},
                                   context.strand.waiter()};
  if (options.collective) request.sequence = collective_.fetch_add(1) + 1;
  std::size_t name = std::min(options.name.size(), sizeof request.name - 1);
  options.name.copy(request.name, name);
  auto [status, reply] = on_own_stack([this, &context, request] {
    Inside inside(context);
    auto answered = static_cast<wire::RegionStatus>(engine_->call(context, request));
    wire::RegionReply told;
    std::vector<std::byte> answer = context.strand.take_answer();
    protocol::Bytes payload(answer);
    wire::take(payload, told);
    return std::pair(answered, told);
  });
  if (status == wire::RegionStatus::kNoSpace) return too_much();
  if (status == wire::RegionStatus::kMismatch) {
    return {
        Status::kInvalid,
        fmt::format("collective allocation number {}: {} bytes here, but another node asked for "
                    "another size or other options; all nodes must make the same calls",
                    request.sequence, bytes)};
  }
  address = space_->address_of(reply.first);
  return {};
}

Outcome Node::free(void* address) {
  protocol::BlockRange blocks;
  Outcome range = check_range(address, 1, "free", blocks);
  if (!range.ok()) return range;
  ThreadContext& context = threads_.current();
  auto status = wire::RegionStatus::kUnknown;
  if (address == space_->address_of(blocks.first)) {
    status = on_own_stack([this, &context, block = BlockId{blocks.first}] {
      Inside inside(context);
      return static_cast<wire::RegionStatus>(
          engine_->call(context, protocol::RegionFree{block, context.strand.waiter()}));
    });
  }
  if (status != wire::RegionStatus::kOk) {
    return {Status::kAddress,
            fmt::format("free: {} is not the start of an allocation, or was freed already",
                        fmt::ptr(address))};
  }
  return {};
}

void Node::guard(const void* block) {
  auto offset = space_->offset_of(block, 1);
  if (offset) guards_.add(*offset / space_->unit());
}

Outcome Node::place(const std::vector<Pane>& panes) {
  std::vector<PageSpace::Placed> placed;
  for (const Pane& pane : panes) {
    protocol::BlockRange blocks;
    Outcome range = check_range(pane.region, pane.bytes, "a pane", blocks);
    if (!range.ok()) return range;
    std::uint64_t unit = space_->unit();
    auto at = reinterpret_cast<std::uintptr_t>(pane.address);
    if ((reinterpret_cast<std::uintptr_t>(pane.region) | at | pane.bytes) % unit != 0)
      return {Status::kInvalid,
              fmt::format("a pane of {} bytes at {} is not made of whole blocks of {} bytes: set "
                          "TERRANE_UNIT=4K",
                          pane.bytes, fmt::ptr(pane.address), unit)};
    placed.push_back({blocks, pane.address});
  }
  auto done = space_->place(std::move(placed));
  if (!done) return {Status::kSystem, done.error().message};
  return {};
}

Totals Node::totals() const {
  Totals sum{};
  threads_.for_each([&](const ThreadContext& context) {
    const Counters& c = context.counters;
    sum.pages_fetched += c.pages_fetched.get();
    sum.read_faults += c.read_faults.get();
    sum.write_faults += c.write_faults.get();
    sum.pages_flushed += c.pages_flushed.get();
    sum.bytes_flushed += c.bytes_flushed.get();
    sum.notices += c.notices.get();
    sum.pages_invalidated += c.pages_invalidated.get();
    sum.pages_evicted += c.pages_evicted.get();
    sum.lock_acquires += c.lock_acquires.get();
    sum.barriers += c.barriers.get();
    sum.messages_sent += c.messages_sent.get();
    sum.message_bytes_sent += c.message_bytes_sent.get();
    sum.fetch_ns += c.fetch_ns.get();
    sum.lock_ns += c.lock_ns.get();
    sum.barrier_ns += c.barrier_ns.get();
    sum.handler_ns += c.handler_ns.get();
    sum.overhead_ns += c.overhead_ns.get();
  });
  sum.elapsed_ns = platform::now_ns() - joined_ns_;
  return sum;
}

}  // namespace terrane::runtime
