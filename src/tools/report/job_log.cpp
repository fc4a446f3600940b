#include "tools/report/job_log.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>
#include <utility>

#include "tools/report/text.h"

namespace terrane::tools::report {
namespace {

constexpr std::string_view kPrefixes[] = {"", "\1lock ", "\1barrier ", "\1signal "};

base::Result<std::vector<std::string>> files_of(const std::string& path) {
  std::error_code why;
  if (!std::filesystem::is_directory(path, why)) return std::vector{path};
  std::vector<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(path, why))
    if (file.path().extension() == runtime::trace::kSuffix) files.push_back(file.path().string());
  if (why) return base::error("{}: {}", path, why.message());
  if (files.empty())
    return base::error("{} holds no event log (*{}); give the folder of terrane run --report", path,
                       runtime::trace::kSuffix);
  std::sort(files.begin(), files.end());
  return files;
}

// Hosts have clocks of their own that count from their start; what day it is they agree on roughly.
// Nodes of one host have one clock.
void align(std::vector<NodeLog>& logs) {
  std::map<std::string, std::uint64_t> shift_of;
  for (NodeLog& log : logs) {
    std::uint64_t shift =
        shift_of.try_emplace(log.host, log.realtime_ns - log.monotonic_ns).first->second;
    for (Entry& entry : log.entries) entry.record.time_ns += shift;
  }
}

// How many bytes the UTF-8 character in front has; 0: it is none, or a control.
std::size_t character(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return byte(0) >= 0x20 && byte(0) != 0x7f ? 1 : 0;
  std::size_t length = byte(0) >= 0xc2 && byte(0) < 0xe0   ? 2
                       : byte(0) >= 0xe0 && byte(0) < 0xf0 ? 3
                       : byte(0) >= 0xf0 && byte(0) < 0xf5 ? 4
                                                           : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  bool overlong = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xf0 && byte(1) < 0x90);
  bool surrogate = byte(0) == 0xed && byte(1) >= 0xa0;
  bool beyond = byte(0) == 0xf4 && byte(1) >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

// For how long the node wrote.
std::uint64_t reads_up_to(const NodeLog& log) {
  std::uint64_t last_ns = log.entries.empty() ? 0 : log.entries.back().record.time_ns;
  return last_ns > log.monotonic_ns ? last_ns - log.monotonic_ns : 0;
}

}  // namespace

base::Result<JobLog> join_logs(std::vector<NodeLog> logs) {
  JobLog job;
  job.nodes = logs.empty() ? 0 : logs.front().nodes;
  std::sort(logs.begin(), logs.end(), [](const NodeLog& a, const NodeLog& b) {
    return std::tuple(a.node, a.has_strips, a.is_shmem) <
           std::tuple(b.node, b.has_strips, b.is_shmem);
  });
  std::set<std::uint32_t> nodes;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    nodes.insert(logs[i].node);
    (logs[i].has_strips ? job.has_strips : job.has_chunks) = true;
    bool is_second = i > 0 && logs[i].node == logs[i - 1].node &&
                     logs[i].has_strips == logs[i - 1].has_strips &&
                     logs[i].is_shmem == logs[i - 1].is_shmem;
    if (logs[i].nodes != job.nodes || logs[i].job != logs.front().job || is_second)
      return base::error("{} and {} are logs of different jobs; give each job's alone",
                         logs[i == 0 ? 0 : i - 1].path, logs[i].path);
    if (!logs[i].left_out.empty()) job.notes.push_back(logs[i].left_out);
    if (!logs[i].ended)
      job.notes.push_back(fmt::format(
          "node {} did not leave the job in order: its log reads up to {}, and its last 100 ms may "
          "be missing{}",
          logs[i].node, time_text(reads_up_to(logs[i])),
          logs[i].scopes_every > 1 ? ", and the last scopes of each chunk that opened at once"
                                   : ""));
    job.objects.insert(logs[i].objects.begin(), logs[i].objects.end());
    job.records += logs[i].entries.size();
    job.scopes_every = std::max(job.scopes_every, logs[i].scopes_every);
  }
  if (nodes.size() < job.nodes)
    job.notes.push_back(fmt::format("logs of {} of the {} nodes are not here",
                                    job.nodes - nodes.size(), job.nodes));
  align(logs);
  std::uint64_t first = ~0ull, last = 0;
  for (const NodeLog& log : logs)
    for (const Entry& entry : log.entries) {
      // What has waited began before.
      std::uint64_t time = entry.record.time_ns;
      first = std::min(first, time);
      last = std::max(last, time);
    }
  for (NodeLog& log : logs)
    for (Entry& entry : log.entries) entry.record.time_ns -= first;
  job.length_ns = first < last ? last - first : 0;
  job.logs = std::move(logs);
  return job;
}

base::Result<JobLog> read_job(const std::string& path) {
  auto files = files_of(path);
  if (!files) return files.error();
  std::vector<NodeLog> logs;
  std::vector<std::string> notes;
  for (const std::string& file : files.value()) {
    auto log = read_log(file);
    if (log) {
      logs.push_back(std::move(log).value());
    } else if (files.value().size() == 1) {
      return log.error();
    } else {
      notes.push_back(log.error().message);
    }
  }
  if (logs.empty()) return base::error("{}", notes.front());
  auto job = join_logs(std::move(logs));
  if (job) job.value().notes.insert(job.value().notes.begin(), notes.begin(), notes.end());
  return job;
}

Making making_of(std::string_view name) {
  for (std::size_t i = 1; i < std::size(kPrefixes); ++i)
    if (name.starts_with(kPrefixes[i])) return static_cast<Making>(i);
  return Making::kChunk;
}

Making making_of(const JobLog& job, std::uint64_t object) {
  auto at = job.objects.find(object);
  return at == job.objects.end() ? Making::kChunk : making_of(at->second.name);
}

std::string text_of(const JobLog& job, std::uint64_t object) {
  auto at = job.objects.find(object);
  if (at == job.objects.end()) return fmt::format("{:#x}", object);
  std::string_view name = at->second.name;
  return printable(name.substr(kPrefixes[static_cast<std::size_t>(making_of(name))].size()));
}

std::string printable(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    std::size_t length = character(bytes);
    if (length > 0) {
      text += bytes.substr(0, length);
    } else {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes[0]));
    }
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

}  // namespace terrane::tools::report
