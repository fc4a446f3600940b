#include "runtime/chunks/chunk_node.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "membership/membership.h"
#include "platform/wait.h"
#include "runtime/chunks/engine_reports.h"
#include "runtime/chunks/names.h"
#include "runtime/chunks/window.h"
#include "runtime/wiring.h"

namespace terrane::runtime::chunks {
namespace {

const char* name_of(Mode mode) {
  return mode == Mode::kRead    ? "a read scope"
         : mode == Mode::kWrite ? "a write scope"
                                : "a read-write scope";
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// `facts`: as they are after the answer.
Outcome not_subscribed(const ChunkEngine::Facts& facts, machine::Status status) {
  if (status == machine::Status::kNotSubscribed)
    return {Status::kEnded, fmt::format("the subscription to chunk '{}' was ended by another "
                                        "thread before its home had answered",
                                        facts.name)};
  if (facts.coherence == machine::Coherence::kInvalidate)
    return {Status::kEnded, fmt::format("chunk '{}' has got coherence invalidate meanwhile, to "
                                        "which nobody can subscribe",
                                        facts.name)};
  return {Status::kState,
          fmt::format("this node has subscribed to chunk '{}' already", facts.name)};
}

}  // namespace

const char* name_of(machine::Coherence coherence) {
  switch (coherence) {
    case machine::Coherence::kInvalidate:
      return "invalidate";
    case machine::Coherence::kUpdate:
      return "update";
    case machine::Coherence::kStream:
      return "stream";
    case machine::Coherence::kOnce:
      return "once";
    case machine::Coherence::kWork:
      return "work stream";
  }
  return "unknown";
}

// ---- Joining and leaving

base::Result<std::unique_ptr<ChunkNode>> ChunkNode::join() {
  std::unique_ptr<ChunkNode> node(new ChunkNode());
  auto started = node->start();
  if (!started) return started.error();
  return node;
}

base::Result<> ChunkNode::start() {
  auto bootstrap = membership::join();
  if (!bootstrap) return bootstrap.error();
  bootstrap_ = std::move(bootstrap).value();
  base::set_log_identity(fmt::format("node {} ({})", self().value, bootstrap_->host()));
  auto options = read_options(nodes());
  if (!options) return options.error();
  auto settings = read_settings(options.value(), bootstrap_->nodes_on_host());
  if (!settings) return settings.error();
  settings_ = std::move(settings).value();
  if (!settings_.report.empty()) {
    auto log = trace::EventLog::create({.folder = settings_.report,
                                        .node = self(),
                                        .nodes = nodes(),
                                        .host = std::string(bootstrap_->host())});
    if (!log) return base::error("TERRANE_REPORT: {}", log.error().message);
    log_ = std::move(log).value();
  }
  auto hosts = bootstrap_->hosts();
  BufferPool::Config config{.self = self(),
                            .region_bytes = settings_.region_bytes,
                            .keep_bytes = settings_.budget_bytes / 10};
  for (std::uint32_t n = 0; n < hosts.size(); ++n)
    if (hosts[n] == hosts[self().value]) config.on_host.push_back(NodeId{n});
  auto pool = BufferPool::create(std::move(config));
  if (!pool) return pool.error();
  pool_ = std::move(pool).value();
  return wire_up(options.value());
}

base::Result<> ChunkNode::wire_up(const Options& options) {
  auto topology =
      Topology::parse(settings_.servers, bootstrap_->hosts().first(nodes()), most_nodes());
  if (!topology) return base::error("TERRANE_SERVERS: {}", topology.error().message);
  std::string mine = topology.value().describe() + (settings_.survives ? " survive" : "");
  const transport::ExportedRegion region{pool_->fd(), pool_->bytes(), pool_->base()};
  auto wiring = runtime::wire_up(*bootstrap_, options, "chunks", {&region, 1}, bytes_of(mine));
  if (!wiring) return wiring.error();
  const auto& said = wiring.value().said;
  for (std::uint32_t n = 0; n < said.size(); ++n) {
    std::string theirs(reinterpret_cast<const char*>(said[n].data()), said[n].size());
    if (theirs == mine || (theirs.empty() && bootstrap_->guests() > 0)) continue;
    return base::error(
        "node {} on {} has the servers {}, but here they are {}: give all nodes the same "
        "TERRANE_SERVERS",
        n, bootstrap_->host_name(NodeId{n}), theirs, mine);
  }
  transport_ = std::move(wiring.value().transport);
  pool_->connect([this](NodeId node) {
    std::byte* base = transport_->reach(node, 0);
    return std::span(base, base != nullptr ? transport_->region_bytes(node, 0) : 0);
  });
  auto view = first_view(topology.value());
  if (!view) return view.error();
  engine_ = std::make_unique<ChunkEngine>(EngineConfig{.self = self(),
                                                       .topology = topology.value(),
                                                       .view = std::move(view).value(),
                                                       .budget_bytes = settings_.budget_bytes,
                                                       .home_bytes = settings_.home_bytes,
                                                       .shares = options.one_sided,
                                                       .survives = settings_.survives,
                                                       .clusters = options.clusters,
                                                       .patience_ms = settings_.patience_ms,
                                                       .log = log_.get(),
                                                       .log_every = settings_.report_every},
                                          *pool_, *transport_, *bootstrap_, readiness_, members_);
  subscriptions_ = std::make_unique<Subscriptions>(settings_.patience_ms,
                                                   [this](ChunkId chunk) { return title(chunk); });
  return {};
}

// The state of a guest after all events so far.
base::Result<View> ChunkNode::first_view(const Topology& topology) {
  View view = topology.first_view();
  if (!bootstrap_->is_guest()) return view;
  auto history = bootstrap_->enter();
  if (!history) return history.error();
  for (const bootstrap::Change& change : history.value())
    view = change.kind == bootstrap::Change::Kind::kCame ? topology.with(view, change.node)
                                                         : topology.without(view, change.node);
  std::vector<NodeId> others = view.members;
  std::erase(others, self());
  if (auto met = transport_->meet(others); !met) return met.error();
  return view;
}

ChunkNode::~ChunkNode() = default;

Outcome ChunkNode::leave() {
  if (std::string scope = engine_->reports().oldest_scope(); !scope.empty())
    return {Status::kState, fmt::format("a scope is open still: {}; release it first", scope)};
  for (ChunkId chunk : subscriptions_->chunks()) unsubscribe(chunk);
  bootstrap_->leaving(engine_->leave());
  return {};
}

// ---- Names

Outcome ChunkNode::check_name(std::string_view name) const {
  if (name.empty()) return {Status::kInvalid, "a chunk's name has at least one byte"};
  if (name.size() > machine::kMaxNameBytes)
    return {Status::kInvalid, fmt::format("a name of {} bytes; at most {}: '{}...'", name.size(),
                                          machine::kMaxNameBytes, name.substr(0, 40))};
  return {};
}

Outcome ChunkNode::unknown(ChunkId chunk) const {
  if (facts(chunk).name.empty())
    return {Status::kInvalid,
            fmt::format("{:#x} is no chunk that this node has created or found", chunk.value)};
  return {Status::kUnknown,
          fmt::format("{} is no more: it died with its server; create it again", title(chunk))};
}

std::string ChunkNode::title(ChunkId chunk) const { return title_of(facts(chunk).name); }

// ---- Scopes

std::uint64_t ChunkNode::deadline(std::int64_t timeout_ns) const {
  if (timeout_ns <= 0) return machine::kNever;
  return platform::now_ns() + static_cast<std::uint64_t>(timeout_ns);
}

Outcome ChunkNode::opened(const char* what, const ChunkEngine::Answer& answer, ChunkId chunk,
                          std::int64_t timeout_ns, OpenScope& scope) {
  auto say = [&](Status status, std::string_view rest) {
    return Outcome{status, fmt::format("{}: {}{}", title(chunk), what, rest)};
  };
  switch (answer.status) {
    case machine::Status::kBusy:
      return say(Status::kBusy, " cannot be had at once: a scope is open");
    case machine::Status::kTimedOut:
      return say(Status::kTimedOut, fmt::format(" did not come within {:.3f} s: {}",
                                                static_cast<double>(timeout_ns) * 1e-9,
                                                engine_->reports().holders(chunk)));
    case machine::Status::kNoMemory:
      return say(Status::kNoMemory,
                 fmt::format(" needs {} bytes, which the budget for copies ({} MiB) has not while "
                             "open scopes and subscriptions use it; raise --memory",
                             facts(chunk).bytes, settings_.budget_bytes >> 20));
    case machine::Status::kWritten: {
      std::string who = "it was written before it became so";
      if (answer.version < bootstrap_->nodes())
        who =
            fmt::format("node {} on {} wrote it", answer.version,
                        bootstrap_->host_name(NodeId{static_cast<std::uint32_t>(answer.version)}));
      return say(Status::kWritten, fmt::format(" cannot be had: it is written once, and {}", who));
    }
    case machine::Status::kOk:
      scope = {chunk,          answer.scope,  answer.data,   answer.range,
               answer.version, answer.missed, answer.changed};
      return {};
    default:
      return unknown(chunk);
  }
}

Outcome ChunkNode::check_range(ChunkId chunk, machine::Range range) const {
  if (range == kAll) return {};
  ChunkEngine::Facts facts = this->facts(chunk);
  if (facts.name.empty()) return unknown(chunk);
  if (range.fits(facts.bytes)) return {};
  return {Status::kInvalid,
          fmt::format("{} bytes from byte {} on of chunk '{}', which has {} bytes", range.bytes,
                      range.offset, facts.name, facts.bytes)};
}

// If a part of a chunk is written, the rest of its bytes are needed.
Outcome ChunkNode::open(ChunkId chunk, Mode mode, machine::Range range, std::int64_t timeout_ns,
                        OpenScope& scope) {
  if (Outcome good = check_range(chunk, range); !good.ok()) return good;
  if (Outcome good = await_home(chunk, timeout_ns); !good.ok()) return good;
  if (facts(chunk).coherence == machine::Coherence::kWork)
    return {Status::kMismatch, fmt::format("'{}' is a work stream: use terrane_work_write and "
                                           "terrane_work_take",
                                           facts(chunk).name)};
  bool whole = range == kAll || range.bytes == facts(chunk).bytes;
  Mode needed = mode == Mode::kWrite && !whole ? Mode::kReadWrite : mode;
  auto answer = engine_->open(chunk, needed, range, timeout_ns == 0 ? Wait::kTry : Wait::kBlock,
                              deadline(timeout_ns));
  return opened(name_of(mode), answer, chunk, timeout_ns, scope);
}

Outcome ChunkNode::publish(ChunkId chunk, std::uint64_t offset, std::span<const std::byte> data,
                           std::int64_t timeout_ns) {
  OpenScope scope;
  Outcome opened = open(chunk, Mode::kWrite, {offset, data.size()}, timeout_ns, scope);
  if (!opened.ok()) return opened;
  std::memcpy(scope.data, data.data(), data.size());
  return release(scope.scope);
}

Outcome ChunkNode::release(ScopeId scope) {
  if (engine_->close(scope)) return {};
  return {Status::kNotHeld, scope.value == 0
                                ? std::string("the scope was never opened")
                                : fmt::format("scope {} is not open: it was released already, or "
                                              "never opened",
                                              scope.value)};
}

Outcome ChunkNode::hint(ChunkId chunk, machine::Coherence coherence, std::int64_t timeout_ns) {
  ChunkEngine::Facts facts = this->facts(chunk);
  if (facts.name.empty()) return unknown(chunk);
  if (Outcome good = await_home(chunk, timeout_ns); !good.ok()) return good;
  std::uint64_t until = timeout_ns == 0 ? platform::now_ns() : deadline(timeout_ns);
  auto answer = engine_->hint(chunk, coherence, until);
  if (answer.status == machine::Status::kTimedOut)
    return {Status::kTimedOut,
            fmt::format("chunk '{}' did not go over to {} within {:.3f} s, and will do so once it "
                        "can: {}",
                        facts.name, name_of(coherence), static_cast<double>(timeout_ns) * 1e-9,
                        engine_->reports().holders(chunk))};
  if (answer.status == machine::Status::kNoMemory)
    return {Status::kNoMemory,
            fmt::format("chunk '{}' of {} bytes as {} does not fit its server's memory for chunks; "
                        "raise --memory, or use more servers (--servers)",
                        facts.name, facts.bytes, name_of(coherence))};
  if (answer.status != machine::Status::kOk) return unknown(chunk);
  return {};
}

Outcome ChunkNode::drop(ChunkId chunk) {
  if (facts(chunk).name.empty()) return unknown(chunk);
  engine_->drop(placed(chunk));
  return {};
}

// ---- Subscriptions

// Measures by three questions to the chunk's home; the shortest answer was delayed least.
std::uint32_t ChunkNode::measured_window(const ChunkEngine::Facts& facts) {
  std::uint64_t bandwidth = facts.home == self() ? 0 : transport_->bandwidth(facts.home);
  std::uint64_t delay_ns = 0;
  for (int i = 0; i < 3 && bandwidth != 0; ++i) {
    std::uint64_t from_ns = platform::now_ns();
    engine_->find(facts.name, false, machine::kNever);
    std::uint64_t took_ns = platform::now_ns() - from_ns;
    delay_ns = i == 0 ? took_ns : std::min(delay_ns, took_ns);
  }
  return window_for(facts.bytes, bandwidth, delay_ns, settings_.budget_bytes);
}

Outcome ChunkNode::subscribe(ChunkId chunk, machine::Range range, machine::Policy policy,
                             std::uint32_t window, Handler handler) {
  ChunkEngine::Facts facts = this->facts(chunk);
  if (facts.name.empty()) return unknown(chunk);
  if (Outcome good = check_range(chunk, range); !good.ok()) return good;
  if (window > machine::kMaxWindow)
    return {Status::kInvalid,
            fmt::format("a window of {} versions; 1 to {}, or 0: as many as the way from its home "
                        "needs",
                        window, machine::kMaxWindow)};
  if (facts.coherence == machine::Coherence::kInvalidate)
    return {Status::kInvalid,
            fmt::format("chunk '{}' has coherence invalidate: nobody can subscribe to it; create "
                        "it with update or stream",
                        facts.name)};
  if (Outcome good = become_home(chunk); !good.ok()) return good;
  facts.home = this->facts(chunk).home;
  if (window == 0) window = policy == machine::Policy::kLatest ? 1 : measured_window(facts);
  auto answer = engine_->subscribe(chunk, range, policy, window,
                                   [this](ChunkId id) { subscriptions_->notice(id); });
  if (answer.status == machine::Status::kMismatch ||
      answer.status == machine::Status::kNotSubscribed)
    return not_subscribed(this->facts(chunk), answer.status);
  if (answer.status == machine::Status::kNoMemory)
    return {
        Status::kNoMemory,
        fmt::format("chunk '{}': a window of {} takes {} buffers of {} bytes (one more than the "
                    "window, and three for scopes of this node), which do not fit the budget "
                    "for copies ({} MiB); ask for a smaller window, or raise --memory",
                    facts.name, window, window + 4, facts.bytes, settings_.budget_bytes >> 20)};
  if (answer.status != machine::Status::kOk) return unknown(chunk);
  Subscriptions::Work work;
  if (handler)
    work = [this, chunk, handler = std::move(handler)] {
      auto taken = engine_->take(chunk, Wait::kTry, machine::kNever);
      if (taken.status != machine::Status::kOk) return false;
      Subscriptions::take_turn();
      std::uint64_t begin = trace() != nullptr ? platform::ticks() : 0;
      handler({chunk, taken.scope, taken.data, taken.range, taken.version, taken.missed,
               taken.changed});
      if (trace() != nullptr) trace()->handler_ran(chunk, taken.version, begin);
      engine_->close(taken.scope);
      return true;
    };
  subscriptions_->add(chunk, std::move(work));
  return {};
}

Outcome ChunkNode::unsubscribe(ChunkId chunk) {
  if (facts(chunk).name.empty()) return unknown(chunk);
  chunk = placed(chunk);
  engine_->unsubscribe(chunk);
  subscriptions_->remove(chunk);
  return {};
}

Outcome ChunkNode::take(ChunkId chunk, std::int64_t timeout_ns, OpenScope& scope, bool reports) {
  chunk = placed(chunk);
  subscriptions_->before_take(chunk);
  auto answer = engine_->take(chunk, timeout_ns == 0 ? Wait::kTry : Wait::kBlock,
                              deadline(timeout_ns), reports);
  bool none =
      answer.status == machine::Status::kBusy || answer.status == machine::Status::kTimedOut;
  std::string full = none ? engine_->reports().why_no_version_fits(chunk) : "";
  if (!full.empty()) return {Status::kFull, fmt::format("{}: {}", title(chunk), full)};
  if (answer.status == machine::Status::kBusy)
    return {Status::kBusy, fmt::format("{}: no version has come", title(chunk))};
  if (answer.status == machine::Status::kTimedOut)
    return {Status::kTimedOut, fmt::format("{}: no version came within {:.3f} s", title(chunk),
                                           static_cast<double>(timeout_ns) * 1e-9)};
  if (answer.status == machine::Status::kNotSubscribed && facts(chunk).name.empty())
    return unknown(chunk);
  if (answer.status == machine::Status::kNotSubscribed)
    return {Status::kEnded,
            fmt::format("{}: this node has not subscribed, or the subscription has ended",
                        title(chunk))};
  if (answer.status == machine::Status::kOk) subscriptions_->after_take(chunk);
  return opened("a version", answer, chunk, timeout_ns, scope);
}

Outcome ChunkNode::descriptor(ChunkId chunk, int& fd) {
  fd = subscriptions_->descriptor(placed(chunk));
  if (fd >= 0) return {};
  if (facts(chunk).name.empty()) return unknown(chunk);
  return {Status::kEnded, fmt::format("{}: no subscription has a descriptor here", title(chunk))};
}

}  // namespace terrane::runtime::chunks
