#include <algorithm>

#include "sim/history.h"
#include "sim/names.h"
#include "sim/player.h"
#include "sim/script/script.h"
#include "sim/script/script_director.h"

namespace terrane::sim {
namespace {

constexpr std::string_view kSign = "  > ";

bool is_selected(const TraceStep& step, const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word == step.kind || (!step.name.empty() && word == step.name) ||
           (word == "messages" && step.kind == "receives") ||
           (word == "faults" && step.kind.ends_with(" fault"));
  });
}

// The actor's name in a script: with the thread's number in its node, or without one if the node
// has a single thread.
std::string actor_in_script(const Program& program, const std::string& actor) {
  std::size_t handler = actor.find(" handler ");
  if (handler != std::string::npos) return actor.substr(0, handler + 8);
  std::size_t thread = actor.find(" thread ");
  if (thread == std::string::npos) return actor;
  std::string node = actor.substr(0, thread);
  auto threads = program.threads() / program.setup.nodes;
  if (threads == 1) return node;
  return fmt::format("{} thread {}", node, std::stoul(actor.substr(thread + 8)) % threads);
}

std::string line_of(const Program& program, const TraceStep& step) {
  std::string line = fmt::format("{}: {}", actor_in_script(program, step.actor), step.kind);
  for (const std::string* part : {&step.name, &step.block, &step.detail})
    if (!part->empty()) line += fmt::format(" {}", *part);
  return step.result.empty() ? line : fmt::format("{} -> {}", line, step.result);
}

// Runs the orders of a script, and keeps what was found.
class ScriptRun {
 public:
  explicit ScriptRun(const Script& script) : script_(script) { choose_mutant(script.mutant); }
  ~ScriptRun() { choose_mutant("None"); }
  ScriptRun(const ScriptRun&) = delete;

  ScriptReport run() {
    for (std::uint64_t order = 1; order <= script_.orders && report_.failure.empty(); ++order)
      play(order);
    if (report_.failure.empty() && script_.fails != "None" && !failed_)
      report_.failure = fmt::format("{}: expected to fail with {}, and nothing failed",
                                    script_.file, script_.fails);
    if (report_.failure.empty()) compare();
    update();
    return std::move(report_);
  }

 private:
  void play(std::uint64_t order) {
    Trace trace;
    ScriptDirector director(script_, order, trace);
    Outcome outcome = history_.run(script_.program, order, true, &trace, &director);
    if (order == 1) keep(trace, director);
    const Violation& violation = outcome.violation;
    bool fails = violation.fault != Fault::kNone;
    bool expected = fails && name_of(violation.fault) == script_.fails;
    failed_ |= expected;
    if (!director.error().empty()) {
      report_.failure = director.error();
    } else if (fails && !expected) {
      report_.failure =
          fmt::format("{}:{}: {}", script_.file, director.line(), reason_of(violation));
      if (script_.orders > 1) report_.failure += fmt::format(", in order {}", order);
      report_.broke_a_rule = true;
    }
    if (order == 1 || !report_.failure.empty()) report_.trace = trace.lines();
  }

  void keep(const Trace& trace, const ScriptDirector& director) {
    for (std::size_t s = 0; s < script_.statements.size(); ++s) {
      auto [from, to] = director.steps_of(s);
      std::vector<std::string>& lines = found_.emplace_back();
      for (std::size_t i = from; i < to && script_.statements[s].traced; ++i)
        if (is_selected(trace.steps()[i], script_.statements[s].selected))
          lines.push_back(line_of(script_.program, trace.steps()[i]));
    }
  }

  // The first line that differs, in both versions.
  void compare() {
    for (std::size_t s = 0; s < script_.statements.size(); ++s) {
      const std::vector<std::string>& expected = script_.statements[s].expected;
      const std::vector<std::string>& found = found_[s];
      auto [e, f] = std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
      if (e == expected.end() && f == found.end()) continue;
      std::size_t line = script_.statements[s].line + 1;
      if (e != expected.end()) line += 1 + static_cast<std::size_t>(e - expected.begin());
      report_.failure = fmt::format("{}:{}: the trace differs\n  expected: {}\n  found:    {}",
                                    script_.file, line, e == expected.end() ? "nothing more" : *e,
                                    f == found.end() ? "nothing more" : *f);
      return;
    }
  }

  void update() {
    std::size_t next = 0;
    for (std::size_t i = 0; i < script_.lines.size(); ++i) {
      report_.updated += script_.lines[i] + "\n";
      if (next == script_.statements.size() || script_.statements[next].line != i) continue;
      for (const std::string& line : found_[next])
        report_.updated += fmt::format("{}{}\n", kSign, line);
      i += script_.statements[next++].expected.size();
    }
  }

  const Script& script_;
  History history_;
  bool failed_ = false;                          // as the script expects
  std::vector<std::vector<std::string>> found_;  // by statement
  ScriptReport report_;
};

}  // namespace

ScriptReport run_script(const Script& script) {
  ScriptReport report = ScriptRun(script).run();
  if (script.mutant == "None" || !report.failure.empty()) return report;
  Script sound = script;
  sound.mutant = sound.fails = "None";
  for (Statement& statement : sound.statements) {
    statement.traced = false;
    statement.expected.clear();
  }
  ScriptReport other = ScriptRun(sound).run();
  if (!other.failure.empty())
    report.failure = "it fails without the planted fault, too: " + other.failure;
  return report;
}

}  // namespace terrane::sim
