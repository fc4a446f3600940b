#include "runtime/chunks/engine_reports.h"

#include <algorithm>
#include <set>
#include <span>

#include "base/log.h"
#include "platform/wait.h"
#include "runtime/chunks/engine_work.h"
#include "runtime/chunks/names.h"

namespace terrane::runtime::chunks {
namespace {

constexpr std::uint64_t kAnswerNs = 500'000'000;  // for other nodes to answer a question
constexpr std::size_t kMostListed = 8;

const char* name_of(Mode mode) {
  return mode == Mode::kRead ? "read" : mode == Mode::kWrite ? "write" : "read-write";
}

void add(std::string& all, std::string_view words, std::string_view between = "; ") {
  if (!words.empty()) all += fmt::format("{}{}", all.empty() ? "" : between, words);
}

// Names the first ones, and counts the others.
template <typename Items, typename Describe>
std::string list(const Items& items, Describe describe) {
  std::string all;
  std::size_t listed = 0;
  for (const auto& item : items)
    if (listed < kMostListed) ++listed, add(all, describe(item), ", ");
  if (items.size() > listed) all += fmt::format(" and {} more", items.size() - listed);
  return all;
}

std::string do_not_answer(const std::string& nodes, std::size_t count) {
  return fmt::format("{} {} not answer", nodes, count == 1 ? "does" : "do");
}

}  // namespace

// ---- Descriptions

std::string EngineReports::describe(NodeId node) const {
  return fmt::format("node {} on {}", node.value, engine_.bootstrap_.host_name(node));
}

std::string EngineReports::describe(const std::vector<NodeId>& nodes) const {
  return list(nodes, [this](NodeId node) { return describe(node); });
}

std::string EngineReports::describe(const ChunkEngine::Scope& scope) const {
  engine_.scale_.mark();
  double seconds =
      static_cast<double>(engine_.scale_.duration_ns(platform::ticks() - scope.since)) * 1e-9;
  return fmt::format("node {} on {} has held a {} scope for {:.1f} s (thread {})",
                     engine_.config_.self.value, engine_.bootstrap_.host(), name_of(scope.mode),
                     seconds, scope.thread);
}

std::string EngineReports::title(ChunkId chunk) const {
  return title_of(engine_.facts(chunk).name);
}

NodeId EngineReports::server_of(std::string_view name) const {
  std::lock_guard hold(engine_.mutex_);
  return engine_.view_.slots[machine::slot_of(name, engine_.view_)].home;
}

// ---- The holders of a chunk

const ChunkEngine::Scope* EngineReports::oldest(ChunkId chunk) const {
  const ChunkEngine::Scope* found = nullptr;
  for (const auto& [id, scope] : engine_.scopes_)
    if ((scope.chunk == chunk || chunk == machine::kNoChunk) &&
        (found == nullptr || scope.since < found->since))
      found = &scope;
  return found;
}

std::string EngineReports::oldest_scope() const {
  std::lock_guard hold(engine_.mutex_);
  const ChunkEngine::Scope* scope = oldest(machine::kNoChunk);
  if (scope == nullptr) return "";
  const machine::ChunkCache::Copy* copy = engine_.machine_.cache().copy(scope->chunk);
  return fmt::format("{} of {}", describe(*scope), title_of(copy ? copy->name : ""));
}

// A scope that is open here, or versions that were not taken; "" if there is neither.
std::string EngineReports::hold_up(ChunkId chunk) const {
  if (const ChunkEngine::Scope* scope = oldest(chunk)) return describe(*scope);
  const machine::ChunkCache::Copy* copy = engine_.machine_.cache().copy(chunk);
  if (copy == nullptr || !copy->subscribed) return "";
  auto waiting = std::count_if(copy->held.begin(), copy->held.end(),
                               [](const auto& held) { return held.fresh; });
  if (waiting == 0) return "";
  return fmt::format("node {} on {} has subscribed, and not taken the last {} versions",
                     engine_.config_.self.value, engine_.bootstrap_.host(), waiting);
}

// The newest version, as the chunk's server knows it; "" at other nodes. `cause`: it explains why
// no newer version comes.
std::string EngineReports::newest(ChunkId chunk, bool& cause) const {
  if (engine_.machine_.work_home().stream(chunk) != nullptr)
    return WorkFacts(engine_).state(chunk, cause);
  const machine::ChunkHome::Entry* entry = engine_.machine_.home().entry(chunk);
  if (entry == nullptr || entry->works() || engine_.machine_.home().rebuilding(chunk)) return "";
  if (entry->version == 0) return "no node has published a version";
  if (entry->writer == kNoNode) return fmt::format("the newest version is {}", entry->version);
  std::string words =
      fmt::format("the newest version is {}, by {}", entry->version, describe(entry->writer));
  cause = !engine_.view_.has(entry->writer);
  if (cause) words += fmt::format(", which has {}", WorkFacts(engine_).fate(entry->writer));
  return words;
}

void EngineReports::tell_holder(NodeId asker, const wire::ChunkFrame& frame) {
  ChunkId chunk{frame.offset};
  std::string words;
  bool cause = false;
  if (Question(frame.bytes) == Question::kHoldersAndNewest) words = newest(chunk, cause);
  if (!cause) add(words, hold_up(chunk));
  wire::ChunkFrame answer{.kind = wire::FrameKind::kHolder};
  answer.buffer = frame.buffer;
  answer.bytes = in_barrier_.contains(chunk.value) ? 1 : cause ? 2 : 0;
  engine_.send(asker, answer, std::as_bytes(std::span(words)));
}

void EngineReports::take_holder(NodeId from, const wire::ChunkFrame& frame, transport::Bytes body) {
  if (asking_ == nullptr || asking_->asked != frame.buffer) return;
  if (std::erase(asking_->missing, from) == 0) return;
  if (!body.empty())
    asking_->words.emplace_back(reinterpret_cast<const char*>(body.data()), body.size());
  if (frame.bytes == 1) asking_->in_barrier.push_back(from);
  if (frame.bytes == 2) asking_->cause = asking_->words.back();
  if (asking_->missing.empty()) engine_.finish(*asking_);
}

// Asks all nodes about a chunk; those that have not answered in time stay in `missing`.
void EngineReports::inquire(ChunkEngine::Waiter& waiter, ChunkId chunk, Question question,
                            std::uint64_t deadline_ns) {
  std::lock_guard one(inquiry_);
  {
    std::lock_guard hold(engine_.mutex_);
    bool wants_newest = question == Question::kHoldersAndNewest;
    bool cause = false;
    std::string known = wants_newest ? newest(chunk, cause) : "";
    if (cause) waiter.cause = known;
    for (std::string own : {known, hold_up(chunk)})
      if (!own.empty()) waiter.words.push_back(std::move(own));
    if (in_barrier_.contains(chunk.value)) waiter.in_barrier.push_back(engine_.config_.self);
    waiter.asked = ++questions_;
    wire::ChunkFrame frame{.kind = wire::FrameKind::kWhoHolds};
    frame.buffer = waiter.asked;
    frame.offset = chunk.value;
    frame.bytes = static_cast<std::uint64_t>(question);
    for (NodeId node : engine_.view_.members) {
      if (node == engine_.config_.self) continue;
      waiter.missing.push_back(node);
      engine_.send(node, frame, {});
    }
    asking_ = &waiter;
    if (waiter.missing.empty()) waiter.done.store(1);
  }
  engine_.wait_for(waiter, std::min(platform::now_ns() + kAnswerNs, deadline_ns));
  std::lock_guard hold(engine_.mutex_);
  asking_ = nullptr;
}

std::string EngineReports::holders(ChunkId chunk, Question question, std::uint64_t deadline_ns) {
  ChunkEngine::Waiter waiter;
  inquire(waiter, chunk, question, deadline_ns);
  if (!waiter.cause.empty()) return waiter.cause;  // the nodes with open scopes do not matter
  std::string all;
  for (const std::string& words : waiter.words) add(all, words);
  if (!waiter.missing.empty())
    add(all, do_not_answer(describe(waiter.missing), waiter.missing.size()));
  return all.empty() ? "no node holds a scope of it now" : all;
}

// Versions of a subscription are kept while scopes of them are open.
std::string EngineReports::why_no_version_fits(ChunkId chunk) const {
  std::lock_guard hold(engine_.mutex_);
  const machine::ChunkCache::Copy* copy = engine_.machine_.cache().copy(chunk);
  if (copy == nullptr || !copy->subscribed || copy->at_home > 0) return "";
  std::set<std::uint64_t> versions;
  for (const auto& held : copy->held) {
    if (held.fresh) return "";
    if (held.received() && held.readers > 0) versions.insert(held.version);
  }
  if (versions.empty()) return "";
  return fmt::format(
      "this node holds scopes of {} versions ({}), which is all that its window of {} has room "
      "for; release the scope of version {}, and the next version can come",
      versions.size(), list(versions, [](std::uint64_t one) { return std::to_string(one); }),
      copy->window, *versions.begin());
}

// ---- Barriers

void EngineReports::waits_in_barrier(ChunkId chunk, int change) {
  std::lock_guard hold(engine_.mutex_);
  std::uint32_t& threads = in_barrier_[chunk.value];
  threads += static_cast<std::uint32_t>(change);
  if (threads == 0) in_barrier_.erase(chunk.value);
}

std::string EngineReports::absent_from_barrier(ChunkId chunk) {
  ChunkEngine::Waiter waiter;
  inquire(waiter, chunk, Question::kHolders, machine::kNever);
  std::vector<NodeId> absent;
  {
    std::lock_guard hold(engine_.mutex_);
    absent = engine_.view_.members;
  }
  for (const auto* known : {&waiter.in_barrier, &waiter.missing})
    for (NodeId node : *known) std::erase(absent, node);
  std::string all;
  if (!absent.empty()) add(all, fmt::format("no thread of {} waits in it", describe(absent)));
  if (!waiter.missing.empty())
    add(all, do_not_answer(describe(waiter.missing), waiter.missing.size()));
  return all.empty() ? "each node has a thread that waits in it" : all;
}

// ---- Long waits

// The server answers at once if no node has created the chunk.
std::string EngineReports::who_created(const ChunkEngine::Waiter& waiter,
                                       std::uint64_t deadline_ns) {
  std::uint64_t until = std::min(platform::now_ns() + kAnswerNs, deadline_ns);
  switch (engine_.find(waiter.name, false, until).status) {
    case machine::Status::kUnknown:
      return "no node has created it";
    case machine::Status::kTimedOut:
      return fmt::format("its server, {}, does not answer", describe(server_of(waiter.name)));
    default:
      return "it has just been created";
  }
}

std::string EngineReports::silent_servers(std::uint64_t deadline_ns) {
  ChunkEngine::Waiter waiter;
  inquire(waiter, machine::kNoChunk, Question::kHolders, deadline_ns);
  std::lock_guard hold(engine_.mutex_);
  std::erase_if(waiter.missing, [this](NodeId node) { return !engine_.serves(node); });
  return waiter.missing.empty() ? ""
                                : do_not_answer(describe(waiter.missing), waiter.missing.size());
}

std::string EngineReports::missing_departures() const {
  std::lock_guard hold(engine_.mutex_);
  std::vector<NodeId> missing;
  for (NodeId node : engine_.view_.members)
    if (node != engine_.config_.self && !engine_.leaves_[node.value]) missing.push_back(node);
  return missing.empty() ? "guests may still join the job"
                         : fmt::format("{} {} not called it", describe(missing),
                                       missing.size() == 1 ? "has" : "have");
}

std::string EngineReports::report_of(const ChunkEngine::Waiter& waiter, std::uint64_t deadline_ns) {
  double seconds = static_cast<double>(engine_.config_.patience_ms) / 1000;
  switch (waiter.wants) {
    case ChunkEngine::Wants::kAnswers:
      return "";
    case ChunkEngine::Wants::kCreation:
      return fmt::format(
          "{} has been waited for {:g} s, to create it: its server, {}, has not "
          "answered",
          title_of(waiter.name), seconds, describe(server_of(waiter.name)));
    case ChunkEngine::Wants::kName:
      return fmt::format("{} has been waited for {:g} s: {}", title_of(waiter.name), seconds,
                         who_created(waiter, deadline_ns));
    case ChunkEngine::Wants::kPlace:
      return fmt::format("{} has been waited for {:g} s: it has no home, as no node has subscribed",
                         title_of(waiter.name), seconds);
    case ChunkEngine::Wants::kScope:
      return fmt::format("a {} scope of {} has been waited for {:g} s: {}", name_of(waiter.mode),
                         title(waiter.chunk), seconds, holders(waiter.chunk, deadline_ns));
    case ChunkEngine::Wants::kVersion: {
      std::string why = why_no_version_fits(waiter.chunk);
      if (why.empty()) why = holders(waiter.chunk, Question::kHoldersAndNewest, deadline_ns);
      return fmt::format("a version of {} has been waited for {:g} s: {}", title(waiter.chunk),
                         seconds, why);
    }
    case ChunkEngine::Wants::kCoherence:
      return fmt::format("{} has been waited for {:g} s, to change its coherence: {}",
                         title(waiter.chunk), seconds, holders(waiter.chunk, deadline_ns));
    case ChunkEngine::Wants::kSubscription:
      return fmt::format("the answer to a subscription of {} has been waited for {:g} s: {}",
                         title(waiter.chunk), seconds, holders(waiter.chunk, deadline_ns));
    case ChunkEngine::Wants::kWorkRoom:
      return fmt::format("room in work stream '{}' has been waited for {:g} s: {}",
                         engine_.facts(waiter.chunk).name, seconds,
                         holders(waiter.chunk, Question::kHoldersAndNewest, deadline_ns));
    case ChunkEngine::Wants::kWorkVersion:
      return fmt::format("a version of work stream '{}' has been waited for {:g} s: {}",
                         engine_.facts(waiter.chunk).name, seconds,
                         holders(waiter.chunk, Question::kHoldersAndNewest, deadline_ns));
    case ChunkEngine::Wants::kServers: {
      std::string silent = silent_servers(deadline_ns);
      return fmt::format(
          "has waited {:g} s in terrane_chunks_finalize for servers to take what "
          "this node has: {}",
          seconds, silent.empty() ? "all of them answer" : silent);
    }
    case ChunkEngine::Wants::kDeparture:
      return fmt::format(
          "has waited {:g} s in terrane_chunks_finalize, where this server serves "
          "on: {}",
          seconds, missing_departures());
  }
  return "";
}

void EngineReports::report(const ChunkEngine::Waiter& waiter, std::uint64_t deadline_ns) {
  std::string sentence = report_of(waiter, deadline_ns);
  if (waiter.done.load() == 0) base::log("{}", sentence);
}

}  // namespace terrane::runtime::chunks
