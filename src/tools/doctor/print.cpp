#include "tools/doctor/print.h"

#include <fmt/format.h>

#include "tools/doctor/checks.h"
#include "tools/json_text.h"

namespace terrane::tools {
namespace {

const char* word_of(Level level) {
  return level == Level::kOk ? "ok" : level == Level::kNote ? "note" : "problem";
}

}  // namespace

std::string as_text(const std::string& host, const Findings& findings) {
  std::string out;
  int notes = 0;
  int problems = 0;
  for (const Finding& finding : findings) {
    notes += finding.level == Level::kNote ? 1 : 0;
    problems += finding.level == Level::kProblem ? 1 : 0;
    out += fmt::format("{:<8} {:<12} {}\n", word_of(finding.level), finding.topic, finding.text);
    if (!finding.remedy.empty()) out += fmt::format("{:21} -> {}\n", "", finding.remedy);
  }
  out +=
      fmt::format("\n{}: {}", host, problems == 0 ? "jobs can run here" : "a job cannot run here");
  if (problems + notes > 0) out += fmt::format(" ({} problems, {} notes)", problems, notes);
  return out + "\n";
}

std::string as_json(const std::string& host, const Findings& findings) {
  std::string out = fmt::format("{{\"host\": {}, \"healthy\": {}, \"findings\": [", json_text(host),
                                healthy(findings));
  const char* separator = "\n";
  for (const Finding& finding : findings) {
    out += fmt::format("{}  {{\"level\": \"{}\", \"topic\": {}, \"text\": {}, \"remedy\": {}}}",
                       separator, word_of(finding.level), json_text(finding.topic),
                       json_text(finding.text), json_text(finding.remedy));
    separator = ",\n";
  }
  return out + "\n]}\n";
}

}  // namespace terrane::tools
