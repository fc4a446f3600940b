#include "tools/top/show.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "tools/json_text.h"

namespace terrane::tools::top {
namespace {

constexpr std::size_t kMostShown = 10;  // pages, locks, chunks, of each

std::string percent(double share) { return fmt::format("{:.0f}%", 100 * share); }

// Of a share that may be far below one percent.
std::string fine_percent(double share) {
  return share < 0.0995 ? fmt::format("{:.1f}%", 100 * share) : percent(share);
}

std::string bytes(double number) { return short_number(number) + "B"; }

std::string time_text(double seconds) {
  return seconds < 1e-3  ? fmt::format("{:.0f} us", seconds * 1e6)
         : seconds < 1.0 ? fmt::format("{:.1f} ms", seconds * 1e3)
                         : fmt::format("{:.1f} s", seconds);
}

std::string node_line(const NodeRates& n) {
  std::string start = fmt::format("{:>4} {:<12.12} {:>5.2f} {:>6}", n.node, n.host, n.processors,
                                  bytes(static_cast<double>(n.resident)));
  if (!n.answers) return start + "  tells no counters";
  std::string room = n.has_limit ? bytes(static_cast<double>(n.room)) : "-";
  return start + fmt::format(
                     " {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>6} {:>6} {:>7} {:>7} {:>6} "
                     "{:>6} {:>6}",
                     percent(n.computing), percent(n.faults), percent(n.locks), percent(n.barriers),
                     percent(n.protocol), percent(n.handler), short_number(n.page_faults),
                     short_number(n.fetched), bytes(n.sent_bytes + n.chunk_sent_bytes),
                     bytes(n.received_bytes + n.chunk_received_bytes),
                     bytes(static_cast<double>(n.homes)), bytes(static_cast<double>(n.copies)),
                     room);
}

std::string name_or_address(const PageRates& page) {
  return page.name.empty() ? fmt::format("{:#x}", page.address) : page.name;
}

void add_pages(const JobRates& job, std::vector<std::string>& lines) {
  if (job.pages.empty()) return;
  lines.push_back("");
  lines.push_back(fmt::format("{:<36} {:>6} {:>6} {:>7} {:>7} {:>8}  {}", "HOTTEST PAGES", "WAIT",
                              "FAULTS", "ARRIVE", "CHANGED", "CHANGES", "NODES"));
  for (std::size_t i = 0; i < std::min(kMostShown, job.pages.size()); ++i) {
    const PageRates& p = job.pages[i];
    lines.push_back(fmt::format("{:<36.36} {:>6} {:>6} {:>7} {:>7} {:>8}  {}", name_or_address(p),
                                fine_percent(p.waited), short_number(p.faults),
                                short_number(p.fetched + p.refreshed), short_number(p.flushed),
                                bytes(p.flushed_bytes), fmt::join(p.nodes, " ")));
  }
}

void add_locks(const JobRates& job, std::vector<std::string>& lines) {
  if (job.locks.empty()) return;
  lines.push_back("");
  lines.push_back(
      fmt::format("{:<36} {:>6} {:>6} {:>7}  {}", "LOCKS", "WAIT", "TAKEN", "REMOTE", "NODES"));
  for (std::size_t i = 0; i < std::min(kMostShown, job.locks.size()); ++i) {
    const LockRates& l = job.locks[i];
    lines.push_back(fmt::format("{:<36.36} {:>6} {:>6} {:>7}  {}", l.name, fine_percent(l.waited),
                                short_number(l.acquires), short_number(l.remote),
                                fmt::join(l.nodes, " ")));
  }
}

void add_streams(const JobRates& job, std::vector<std::string>& lines) {
  if (job.streams.empty()) return;
  lines.push_back("");
  lines.push_back(fmt::format("{:<36} {:>7} {:>8} {:>6} {:>9}  {}", "CHUNKS", "WRITTEN", "BYTES",
                              "TAKEN", "TAKE WAITS", "NODES"));
  for (std::size_t i = 0; i < std::min(kMostShown, job.streams.size()); ++i) {
    const StreamRates& s = job.streams[i];
    lines.push_back(fmt::format("{:<36.36} {:>7} {:>8} {:>6} {:>10}  {}", s.name,
                                short_number(s.written), bytes(s.written_bytes),
                                short_number(s.taken), s.taken > 0 ? time_text(s.wait) : "-",
                                fmt::join(s.nodes, " ")));
  }
}

std::string number(double value) { return fmt::format("{:.6g}", value); }

std::string nodes_json(const std::vector<std::uint32_t>& nodes) {
  return fmt::format("[{}]", fmt::join(nodes, ","));
}

std::string node_json(const NodeRates& n) {
  std::string text =
      fmt::format(R"({{"node":{},"host":{},"answers":{},"processors":{},"resident_bytes":{})",
                  n.node, json_text(n.host), n.answers, number(n.processors), n.resident);
  if (!n.answers) return text + "}";
  text += fmt::format(
      R"(,"threads":{},"time":{{"computing":{},"faults":{},"locks":{},"barriers":{},"protocol":{},"handler":{}}})",
      n.threads, number(n.computing), number(n.faults), number(n.locks), number(n.barriers),
      number(n.protocol), number(n.handler));
  const std::pair<const char*, double> rates[] = {{"faults", n.page_faults},
                                                  {"fetched", n.fetched},
                                                  {"refreshed", n.refreshed},
                                                  {"zeros", n.zeros},
                                                  {"flushed", n.flushed},
                                                  {"flushed_bytes", n.flushed_bytes},
                                                  {"evicted", n.evicted},
                                                  {"acquires", n.acquires},
                                                  {"sent", n.sent},
                                                  {"sent_bytes", n.sent_bytes},
                                                  {"received", n.received},
                                                  {"received_bytes", n.received_bytes},
                                                  {"chunk_sent_bytes", n.chunk_sent_bytes},
                                                  {"chunk_received_bytes", n.chunk_received_bytes}};
  for (const auto& [name, rate] : rates) text += fmt::format(R"(,"{}":{})", name, number(rate));
  return text + fmt::format(R"(,"memory":{{"homes":{},"copies":{},"kept":{},"room":{}}}}})",
                            n.homes, n.copies, n.kept,
                            n.has_limit ? std::to_string(n.room) : "null");
}

std::string page_json(const PageRates& p) {
  return fmt::format(
      R"({{"page":{},"address":"{:#x}","name":{},"waited":{},"faults":{},"fetched":{},)"
      R"("refreshed":{},"flushed":{},"flushed_bytes":{},"nodes":{}}})",
      p.page, p.address, json_text(p.name), number(p.waited), number(p.faults), number(p.fetched),
      number(p.refreshed), number(p.flushed), number(p.flushed_bytes), nodes_json(p.nodes));
}

std::string lock_json(const LockRates& l) {
  return fmt::format(R"({{"token":{},"name":{},"waited":{},"acquires":{},"remote":{},"nodes":{}}})",
                     l.token, json_text(l.name), number(l.waited), number(l.acquires),
                     number(l.remote), nodes_json(l.nodes));
}

std::string stream_json(const StreamRates& s) {
  return fmt::format(
      R"({{"name":{},"written":{},"written_bytes":{},"taken":{},"take_wait":{},"nodes":{}}})",
      json_text(s.name), number(s.written), number(s.written_bytes), number(s.taken),
      number(s.wait), nodes_json(s.nodes));
}

template <typename Item>
std::string list_json(const std::vector<Item>& list, std::string (*item)(const Item&)) {
  std::vector<std::string> all;
  for (const Item& one : list) all.push_back(item(one));
  return fmt::format("[{}]", fmt::join(all, ","));
}

}  // namespace

std::string short_number(double number) {
  constexpr const char* kUnits[] = {"", "k", "M", "G", "T", "P"};
  std::size_t unit = 0;
  while (number >= 999.5 && unit + 1 < std::size(kUnits)) {
    number /= 1000;
    ++unit;
  }
  if (unit == 0) return fmt::format("{:.{}f}", number, number < 9.95 && number > 0 ? 1 : 0);
  return fmt::format("{:.{}f}{}", number, number < 99.95 ? 1 : 0, kUnits[unit]);
}

std::vector<std::string> as_lines(const JobRates& job, std::size_t width, std::size_t height) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("terrane top: job {} ({}, process {}), {} of {} nodes, {:.0f} s",
                              job.job, job.program, job.process, job.nodes.size(), job.places,
                              job.age));
  lines.push_back("");
  lines.push_back(
      fmt::format("{:>4} {:<12} {:>5} {:>6} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>6} "
                  "{:>6} {:>7} {:>7} {:>6} {:>6} {:>6}",
                  "NODE", "HOST", "CPUS", "RES", "COMP", "FAULT", "LOCK", "BARR", "PROT", "HAND",
                  "FLT/S", "FTCH/S", "SENT/S", "RECV/S", "HOMES", "COPIES", "ROOM"));
  for (const NodeRates& node : job.nodes) lines.push_back(node_line(node));
  add_pages(job, lines);
  add_locks(job, lines);
  add_streams(job, lines);
  if (height != 0 && lines.size() > height) lines.resize(height);
  for (std::string& line : lines)
    if (width != 0 && line.size() > width) line.resize(width);
  return lines;
}

std::string as_json(const JobRates& job) {
  return fmt::format(
      R"({{"job":{},"program":{},"process":{},"seconds":{},"places":{},"nodes":{},"pages":{},)"
      R"("locks":{},"streams":{}}})",
      json_text(job.job), json_text(job.program), job.process, number(job.age), job.places,
      list_json(job.nodes, node_json), list_json(job.pages, page_json),
      list_json(job.locks, lock_json), list_json(job.streams, stream_json));
}

}  // namespace terrane::tools::top
