#include "tools/doctor/print.h"

#include <fmt/format.h>

#include "tools/doctor/checks.h"

namespace terrane::tools {
namespace {

const char* word_of(Level level) {
  return level == Level::kOk ? "ok" : level == Level::kNote ? "note" : "problem";
}

// As JSON wants text (RFC 8259, section 7).
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
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
  std::string out = fmt::format("{{\"host\": {}, \"healthy\": {}, \"findings\": [", quoted(host),
                                healthy(findings));
  const char* separator = "\n";
  for (const Finding& finding : findings) {
    out += fmt::format("{}  {{\"level\": \"{}\", \"topic\": {}, \"text\": {}, \"remedy\": {}}}",
                       separator, word_of(finding.level), quoted(finding.topic),
                       quoted(finding.text), quoted(finding.remedy));
    separator = ",\n";
  }
  return out + "\n]}\n";
}

}  // namespace terrane::tools
