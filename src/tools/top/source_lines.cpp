#include "tools/top/source_lines.h"

#include <unistd.h>

#include "platform/command_output.h"

namespace terrane::tools::top {
namespace {

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

void SourceLines::name(JobRates& job) {
  const std::string start = last_part(job.file) + ":0x";
  for (PageRates& page : job.pages) {
    if (!page.name.starts_with(start)) continue;
    std::size_t end = page.name.find('+');
    std::string address = page.name.substr(start.size(), end - start.size());
    std::string line = line_of(job.file, "0x" + address);
    if (line.empty()) continue;
    page.name = line + (end == std::string::npos ? "" : page.name.substr(end));
  }
}

std::string SourceLines::line_of(const std::string& file, const std::string& address) {
  auto [known, is_new] = known_.try_emplace(address);
  if (!is_new || ::access(file.c_str(), R_OK) != 0) return known->second;
  const char* command[] = {"addr2line", "-e", file.c_str(), address.c_str(), nullptr};
  const char* variables[] = {"LC_ALL=C", nullptr};
  std::string output = platform::command_output(command, const_cast<char* const*>(variables));
  std::string line = last_part(output.substr(0, output.find_first_of(" \n")));
  if (!line.starts_with('?') && !line.ends_with('?') && !line.ends_with(":0")) known->second = line;
  return known->second;
}

}  // namespace terrane::tools::top
