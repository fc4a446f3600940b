#include "tools/report/call_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "tools/report/drawing.h"
#include "tools/report/text.h"

namespace terrane::tools::report {
namespace {

constexpr std::size_t kMostRows = 30;
constexpr double kLeastShare = 0.05;     // of all time, to be worth a sentence
constexpr double kLeastImbalance = 1.2;  // of the longest computing over the mean

std::string calls(const PageTotals& totals) {
  if (totals.calls.empty()) return "";
  std::string text =
      "<h2>Calls</h2>\n<table id=\"calls\"><tr><th>function</th><th class=\"t\">kind</th>"
      "<th>calls</th><th>time of all PEs</th><th></th><th>mean</th><th>most at one PE</th>"
      "<th>which</th></tr>\n";
  std::uint64_t most = std::max<std::uint64_t>(1, totals.calls.front().ns);
  for (std::size_t i = 0; i < std::min(kMostRows, totals.calls.size()); ++i) {
    const CallTotals& one = totals.calls[i];
    fmt::format_to(std::back_inserter(text),
                   "<tr><td>{}</td><td class=\"t\">{}</td><td>{}</td><td>{}</td><td class=\"t\">"
                   "<span class=\"bar\" style=\"width:{:.2f}em\"></span></td><td>{}</td><td>{}</td>"
                   "<td>PE {}</td></tr>\n",
                   escaped(one.name), name_of_kind(true, one.kind), one.calls, time_text(one.ns),
                   6.0 * static_cast<double>(one.ns) / static_cast<double>(most),
                   time_text(one.ns / std::max<std::uint64_t>(1, one.calls)),
                   time_text(one.most_ns), one.most_pe);
  }
  text += "</table>\n";
  if (totals.calls.size() > kMostRows)
    text +=
        fmt::format("<p>{} more functions are not shown.</p>\n", totals.calls.size() - kMostRows);
  return text;
}

std::string places(const PageTotals& totals) {
  if (totals.places.empty()) return "";
  std::string text =
      "<h2>Where PEs waited long</h2>\n<table id=\"places\"><tr><th>call</th><th>long waits</th>"
      "<th>waited</th><th></th><th>longest</th></tr>\n";
  std::uint64_t most = std::max<std::uint64_t>(1, totals.places.front().ns);
  bool is_bare = false;
  for (std::size_t i = 0; i < std::min(kMostRows, totals.places.size()); ++i) {
    const PlaceTotals& one = totals.places[i];
    is_bare = is_bare || one.name.find("+0x") != std::string::npos;
    fmt::format_to(std::back_inserter(text),
                   "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"t\"><span class=\"bar\" "
                   "style=\"width:{:.2f}em\"></span></td><td>{}</td></tr>\n",
                   escaped(one.name), one.waits, time_text(one.ns),
                   6.0 * static_cast<double>(one.ns) / static_cast<double>(most),
                   time_text(one.longest_ns));
  }
  text += "</table>\n";
  if (totals.places.size() > kMostRows)
    text += fmt::format("<p>{} more places are not shown.</p>\n", totals.places.size() - kMostRows);
  if (is_bare)
    text +=
        "<p class=\"hint\">Offsets stand where the program has no lines: compile with -g, do not "
        "strip it, and install addr2line (binutils).</p>\n";
  return text;
}

std::string what_took_most(const PageTotals& totals) {
  Strip::Kinds sums{};
  double lived_ns = 0;
  for (const Strip& strip : totals.strips) {
    if (!strip.is_shmem) continue;
    lived_ns += strip.lived_ns;
    for (std::size_t kind = 0; kind < sums.size(); ++kind) sums[kind] += strip.all[kind];
  }
  constexpr std::string_view kWhat[kKindsOfShmem] = {
      "transfers with other hosts", "waits for words and locks", "collective calls"};
  auto most = static_cast<std::size_t>(
      std::max_element(sums.begin(), sums.begin() + kKindsOfShmem) - sums.begin());
  if (lived_ns <= 0) return "";
  if (sums[most] < kLeastShare * lived_ns)
    return "PEs computed nearly all the time: no kind of call took more than 5 %. ";
  return fmt::format("Of all that PEs did beside computing, {} took most, {} of their time. ",
                     kWhat[most], share_text(sums[most], lived_ns));
}

std::string worst_place(const PageTotals& totals) {
  double lived_ns = 0;
  for (const Strip& strip : totals.strips)
    if (strip.is_shmem) lived_ns += strip.lived_ns;
  if (totals.places.empty()) return "";
  const PlaceTotals& one = totals.places.front();
  if (static_cast<double>(one.ns) < kLeastShare * lived_ns) return "";
  return fmt::format("They waited longest in {}: {} in {} long wait{}. ", escaped(one.name),
                     time_text(one.ns), one.waits, one.waits == 1 ? "" : "s");
}

// The PE that computes longer than the others, which wait for it.
std::string slowest_pe(const JobLog& job, const PageTotals& totals) {
  std::map<std::uint32_t, double> computing_ns;  // by PE
  double all_ns = 0, lived_ns = 0;
  for (const Strip& strip : totals.strips) {
    if (!strip.is_shmem) continue;
    computing_ns[job.logs[strip.log].node] += strip.computing();
    all_ns += strip.computing();
    lived_ns += strip.lived_ns;
  }
  if (computing_ns.size() < 2) return "";
  auto [pe, most_ns] = *std::ranges::max_element(
      computing_ns, [](const auto& a, const auto& b) { return a.second < b.second; });
  auto pes = static_cast<double>(computing_ns.size());
  double mean_ns = all_ns / pes, lost_ns = most_ns - mean_ns;
  if (most_ns < kLeastImbalance * mean_ns || lost_ns * pes < kLeastShare * lived_ns) return "";
  return fmt::format(
      "PE {} computed {:.1f} times as long as a PE does on average, and the others "
      "waited for it. ",
      pe, most_ns / mean_ns);
}

}  // namespace

std::string call_tables(const PageTotals& totals) { return calls(totals) + places(totals); }

std::string slow_calls(const JobLog& job, const PageTotals& totals) {
  return what_took_most(totals) + worst_place(totals) + slowest_pe(job, totals);
}

}  // namespace terrane::tools::report
