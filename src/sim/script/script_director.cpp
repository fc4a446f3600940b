#include "sim/script/script_director.h"

#include <algorithm>

#include "sim/names.h"
#include "sim/trace_steps.h"

namespace terrane::sim {

ScriptDirector::ScriptDirector(const Script& script, std::uint64_t order, const Trace& trace)
    : script_(script),
      trace_(trace),
      rng_(order),
      released_(script.program.threads(), 0),
      stops_(script.program.threads()),
      held_(std::size_t{kMaxNodes} * kMaxNodes, false) {}

std::uint32_t ScriptDirector::line() const {
  return script_.statements[next_ == 0 ? 0 : next_ - 1].line + 1;
}

std::pair<std::size_t, std::size_t> ScriptDirector::steps_of(std::size_t statement) const {
  std::size_t end = trace_.steps().size();
  if (statement >= starts_.size()) return {end, end};
  return {starts_[statement], statement + 1 < starts_.size() ? starts_[statement + 1] : end};
}

ActorId ScriptDirector::pick(const Scene& scene) {
  for (;;) {
    ActorId id = is_stuck(scene) ? kNoActor : choose(scene);
    if (id != kNoActor) return id;
    if (!error_.empty() || !begin_next(scene)) return kNoActor;
  }
}

// Whether the statement's actors only repeat looks at something that does not change.
bool ScriptDirector::is_stuck(const Scene& scene) {
  idle_ = scene.hash == last_hash_ ? idle_ + 1 : 0;
  last_hash_ = scene.hash;
  return idle_ > kIdlePicks || ++picks_ > kMostPicks;
}

bool ScriptDirector::is_stopped(const Actor& actor) const {
  const std::string& stop = stops_[actor.id];
  return !stop.empty() && actor.busy() && !actor.done() &&
         protocol::name_of(actor.strand.step()) == stop;
}

bool ScriptDirector::may_act(const Scene& scene, ActorId id) {
  if (id >= kFirstChannel) return !held_[id - kFirstChannel];
  if (id >= kMaxThreads) return true;
  const Actor& actor = *scene.actors[id];
  bool ended = actor.next >= script_.program.ops[id].size();
  bool released = actor.busy() || actor.next < released_[id];
  return ended || (released && !is_stopped(actor));
}

ActorId ScriptDirector::choose(const Scene& scene) {
  std::vector<ActorId> able;
  for (ActorId id : scene.ready)
    if (may_act(scene, id)) able.push_back(id);
  if (able.empty()) return kNoActor;
  if (parallel_) return able[rng_.below(static_cast<std::uint32_t>(able.size()))];
  std::sort(able.begin(), able.end());
  if (able.back() >= kMaxThreads) {
    auto first = std::lower_bound(able.begin(), able.end(), kFirstChannel);
    if (first == able.end()) first = std::lower_bound(able.begin(), able.end(), kMaxThreads);
    return *first;
  }
  return choose_thread(able);
}

// A thread continues until it waits. Then the next thread acts.
ActorId ScriptDirector::choose_thread(const std::vector<ActorId>& threads) {
  bool goes_on = idle_ % 16 != 15;
  auto at = goes_on ? std::lower_bound(threads.begin(), threads.end(), last_thread_)
                    : std::upper_bound(threads.begin(), threads.end(), last_thread_);
  return last_thread_ = at == threads.end() ? threads.front() : *at;
}

bool ScriptDirector::begin_next(const Scene& scene) {
  picks_ = idle_ = 0;
  if (next_ == script_.statements.size()) return false;
  parallel_ = script_.statements[next_].parallel;
  do {
    begin(script_.statements[next_], scene);
    starts_.push_back(trace_.steps().size());
    ++next_;
  } while (parallel_ && next_ < script_.statements.size() && script_.statements[next_].parallel);
  return true;
}

void ScriptDirector::begin(const Statement& statement, const Scene& scene) {
  for (std::uint32_t t : statement.threads) {
    bool continues = statement.kind == Statement::Kind::kContinue;
    bool stopped = is_stopped(*scene.actors[t]);
    if (!continues) ++released_[t];
    stops_[t] = statement.stop;
    if (!continues) continue;
    const char* wrong = !stopped                       ? "has not stopped"
                        : is_stopped(*scene.actors[t]) ? "stands before such a step already"
                                                       : nullptr;
    if (wrong != nullptr)
      error_ = fmt::format("{}:{}: a thread is to continue, and {}", script_.file,
                           statement.line + 1, wrong);
  }
  bool holds = statement.kind == Statement::Kind::kHold;
  if (holds || statement.kind == Statement::Kind::kDeliver)
    held_[scene.network.channel(statement.from, statement.to)] = holds;
}

}  // namespace terrane::sim
