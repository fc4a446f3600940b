#include "tools/sim_script.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "sim/script/script.h"

namespace terrane::tools {
namespace {

constexpr int kExitDiffers = 1;
constexpr int kExitMisuse = 2;
constexpr std::size_t kTraceLines = 60;

void print_trace(const std::vector<std::string>& trace, bool all) {
  std::size_t from = trace.size() > kTraceLines && !all ? trace.size() - kTraceLines : 0;
  fmt::print("\nwhat happened{}\n", from > 0 ? fmt::format(" ({} steps before these)", from) : "");
  for (std::size_t i = from; i < trace.size(); ++i) fmt::print("  {}\n", trace[i]);
}

int misuse(const std::string& sentence) {
  fmt::print(stderr, "terrane sim: {}\n", sentence);
  return kExitMisuse;
}

}  // namespace

int run_script(const std::string& path, bool update, bool trace) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return misuse(fmt::format("{} cannot be read", path));
  base::Result<sim::Script> script = sim::parse_script(path, text.str());
  if (!script) return misuse(script.error().message);
  sim::ScriptReport report = sim::run_script(script.value());
  if (update && !report.broke_a_rule && report.updated != text.str()) {
    if (!(std::ofstream(path) << report.updated).flush())
      return misuse(fmt::format("{} cannot be written", path));
    fmt::print("{}: the trace that was found is the expected one now\n", path);
    return 0;
  }
  if (report.failure.empty()) {
    if (trace) print_trace(report.trace, trace);
    fmt::print("{}: as expected\n", path);
    return 0;
  }
  fmt::print("{}\n", report.failure);
  if (trace || report.broke_a_rule) print_trace(report.trace, trace);
  return kExitDiffers;
}

}  // namespace terrane::tools
