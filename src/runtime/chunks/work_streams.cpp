#include "runtime/chunks/work_streams.h"

#include "platform/wait.h"
#include "runtime/chunks/engine_work.h"

namespace terrane::runtime::chunks {
namespace {

constexpr std::uint64_t kDefaultVersions = 4;  // of the greatest size, in the default capacity

std::uint64_t deadline(std::int64_t timeout_ns) {
  if (timeout_ns <= 0) return machine::kNever;
  return platform::now_ns() + static_cast<std::uint64_t>(timeout_ns);
}

Wait wait_of(std::int64_t timeout_ns) { return timeout_ns == 0 ? Wait::kTry : Wait::kBlock; }

double seconds_of(std::int64_t timeout_ns) { return static_cast<double>(timeout_ns) * 1e-9; }

}  // namespace

std::string WorkStreams::title(ChunkId work) const {
  return fmt::format("work stream '{}'", node_.facts(work).name);
}

std::string WorkStreams::describe(NodeId node) const {
  return fmt::format("node {} on {}", node.value, node_.host_name(node));
}

Outcome WorkStreams::check(ChunkId work) const {
  ChunkEngine::Facts facts = node_.facts(work);
  if (facts.name.empty())
    return {Status::kInvalid,
            fmt::format("{:#x} is no work stream that this node has created or found", work.value)};
  if (facts.coherence != machine::Coherence::kWork)
    return {Status::kMismatch, fmt::format("'{}' is a chunk with coherence {}, no work stream",
                                           facts.name, name_of(facts.coherence))};
  return {};
}

Outcome WorkStreams::create(std::string_view name, std::uint64_t bytes,
                            const machine::WorkShape& given, ChunkId& work, bool& existed) {
  if (Outcome good = node_.check_name(name); !good.ok()) return good;
  if (bytes == 0 || bytes > machine::kMaxChunkBytes)
    return {Status::kInvalid, fmt::format("work stream '{}' with versions of {} bytes; 1 to {}",
                                          name, bytes, machine::kMaxChunkBytes)};
  machine::WorkShape shape = given;
  if (shape.capacity == 0) shape.capacity = kDefaultVersions * bytes;
  if (shape.capacity < bytes)
    return {Status::kInvalid,
            fmt::format("work stream '{}' with a capacity of {} bytes, which is less than one "
                        "version of {} bytes; give 0 for {} versions",
                        name, shape.capacity, bytes, kDefaultVersions)};
  bool by_number = shape.home != machine::kHomeByName && shape.home != machine::kHomeAtFirst;
  if (by_number && shape.home >= node_.most_nodes())
    return {Status::kInvalid, fmt::format("work stream '{}' with its home at node {}; the job has "
                                          "nodes 0 to {}",
                                          name, shape.home, node_.most_nodes() - 1)};
  auto answer = node_.engine().create(
      {.name = name, .bytes = bytes, .coherence = machine::Coherence::kWork, .work = shape});
  if (answer.status == machine::Status::kUnknown)
    return {Status::kInvalid,
            fmt::format("work stream '{}' with its home at node {}, which is not in the job (now)",
                        name, shape.home)};
  if (answer.status == machine::Status::kMismatch)
    return {Status::kMismatch,
            fmt::format("'{}' exists as another chunk or work stream; asked for were versions of "
                        "{} bytes, capacity {}, home {}, {}",
                        name, bytes, shape.capacity, static_cast<std::int32_t>(given.home),
                        shape.in_order ? "in order" : "in the order of arrival")};
  work = answer.chunk;
  existed = answer.status == machine::Status::kExisted;
  return {};
}

Outcome WorkStreams::find(std::string_view name, std::int64_t timeout_ns, ChunkId& work) {
  ChunkId found;
  Outcome outcome = node_.find(name, timeout_ns, found);
  if (!outcome.ok()) return outcome;
  if (Outcome good = check(found); !good.ok()) return good;
  work = found;
  return {};
}

Outcome WorkStreams::failed(const ChunkEngine::Answer& answer, ChunkId work, std::string_view what,
                            std::int64_t timeout_ns) const {
  switch (answer.status) {
    case machine::Status::kTimedOut:
      return {Status::kTimedOut, fmt::format("{}: {} did not come within {:.3f} s", title(work),
                                             what, seconds_of(timeout_ns))};
    case machine::Status::kBusy:
      return {Status::kBusy, fmt::format("{}: there is no {} now", title(work), what)};
    case machine::Status::kEnded:
      return {Status::kEnded, fmt::format("{} has ended", title(work))};
    case machine::Status::kDied: {
      NodeId dead{static_cast<std::uint32_t>(answer.version)};
      return {Status::kDied,
              fmt::format("{}: its last subscriber, {}, has died; start another one (terrane "
                          "join), or end the job",
                          title(work), describe(dead))};
    }
    case machine::Status::kNoMemory:
      return {Status::kNoMemory,
              fmt::format("{}: {} does not fit the memory of its home (the capacity of each "
                          "writing node), or the budget for copies here ({} MiB); raise --memory, "
                          "or create it with less capacity",
                          title(work), what, node_.budget_bytes() >> 20)};
    case machine::Status::kNotSubscribed:
      return {Status::kEnded, fmt::format("{}: this node has not subscribed", title(work))};
    default:
      if (WorkFacts(node_.engine()).is_over(work))
        return {Status::kEnded, fmt::format("{} has ended, and its home has left", title(work))};
      return {Status::kUnknown,
              fmt::format("{} is no more: it died with its home; create it again", title(work))};
  }
}

// ---- Writing

Outcome WorkStreams::write(ChunkId work, std::int64_t timeout_ns, OpenVersion& version) {
  if (Outcome good = check(work); !good.ok()) return good;
  node_.readiness().clear(work, Readiness::Of::kWrite);
  auto answer = WorkCalls(node_.engine()).write(work, wait_of(timeout_ns), deadline(timeout_ns));
  if (answer.status != machine::Status::kOk)
    return failed(answer, work, "room for a version", timeout_ns);
  node_.readiness().raise(work, Readiness::Of::kWrite);
  version = {work, answer.scope, answer.data, answer.range.bytes, 0, {}};
  return {};
}

Outcome WorkStreams::publish(ChunkId work, ScopeId scope, std::uint64_t bytes, std::uint64_t tag) {
  using Published = WorkCalls::Published;
  switch (WorkCalls(node_.engine()).publish(scope, bytes, tag)) {
    case Published::kNotOpen:
      return {Status::kNotHeld,
              fmt::format("version {} is not open to be written: it was published or released "
                          "already, or it was taken",
                          scope.value)};
    case Published::kTooLong:
      return {Status::kInvalid,
              fmt::format("{}: a version of {} bytes; its versions have at most {}", title(work),
                          bytes, node_.facts(work).bytes)};
    case Published::kEnded:
      return {Status::kEnded,
              fmt::format("{} has ended; the version with tag {} is given up", title(work), tag)};
    case Published::kGone:
      return {Status::kUnknown,
              fmt::format("{} is no more: it died with its home; the version with tag {} is given "
                          "up",
                          title(work), tag)};
    case Published::kYes:
      return {};
  }
  return {};
}

Outcome WorkStreams::end(ChunkId work) {
  if (Outcome good = check(work); !good.ok()) return good;
  auto answer = WorkCalls(node_.engine()).end(work);
  if (answer.status == machine::Status::kOk) return {};
  Outcome outcome = failed(answer, work, "its end", 0);
  return outcome.status == Status::kEnded ? Outcome{} : outcome;  // it had ended before
}

// ---- Taking

Outcome WorkStreams::subscribe(ChunkId work, std::uint64_t credit) {
  if (Outcome good = check(work); !good.ok()) return good;
  std::uint64_t bytes = node_.facts(work).bytes;
  if (credit < bytes)
    return {Status::kInvalid,
            fmt::format("{}: credits of {} bytes; one version may have {}: give {} for two",
                        title(work), credit, bytes, 2 * bytes)};
  if (credit > node_.budget_bytes())
    return {Status::kInvalid,
            fmt::format("{}: credits of {} bytes, which are more than the budget for copies of "
                        "this node ({} bytes); give less, or raise --memory",
                        title(work), credit, node_.budget_bytes())};
  auto answer = WorkCalls(node_.engine()).subscribe(work, credit);
  if (answer.status == machine::Status::kMismatch)
    return {Status::kState, fmt::format("{}: this node has subscribed already, or another node to "
                                        "this stream in order",
                                        title(work))};
  if (answer.status == machine::Status::kNoMemory)
    return {Status::kNoMemory,
            fmt::format("{}: credits of {} bytes do not fit what is left of the budget for copies "
                        "({} MiB) while scopes and subscriptions use it; give less, or raise "
                        "--memory",
                        title(work), credit, node_.budget_bytes() >> 20)};
  if (answer.status == machine::Status::kEnded)
    return {Status::kEnded, fmt::format("{} has ended, and all its versions are done: nobody can "
                                        "subscribe any more",
                                        title(work))};
  if (answer.status != machine::Status::kOk) return failed(answer, work, "a subscription", 0);
  return {};
}

Outcome WorkStreams::unsubscribe(ChunkId work) {
  if (Outcome good = check(work); !good.ok()) return good;
  WorkCalls(node_.engine()).unsubscribe(work);
  return {};
}

Outcome WorkStreams::take(ChunkId work, std::int64_t timeout_ns, OpenVersion& version) {
  if (Outcome good = check(work); !good.ok()) return good;
  node_.readiness().clear(work, Readiness::Of::kTake);
  auto answer = WorkCalls(node_.engine()).take(work, wait_of(timeout_ns), deadline(timeout_ns));
  bool none =
      answer.status == machine::Status::kBusy || answer.status == machine::Status::kTimedOut;
  if (!none) node_.readiness().raise(work, Readiness::Of::kTake);
  if (answer.status != machine::Status::kOk) return failed(answer, work, "version", timeout_ns);
  version = {work, answer.scope, answer.data, answer.range.bytes, answer.version, answer.work};
  return {};
}

Outcome WorkStreams::descriptor(ChunkId work, Readiness::Of what, int& fd) {
  if (Outcome good = check(work); !good.ok()) return good;
  fd = node_.readiness().descriptor(work, what);
  if (fd >= 0) return {};
  return {Status::kSystem, fmt::format("{}: the system gives no descriptor", title(work))};
}

}  // namespace terrane::runtime::chunks
