#include "runtime/slow_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace terrane::runtime {
namespace {

constexpr double kLeastShare = 0.05;            // of a node's time, for a sentence
constexpr std::uint64_t kLeastNs = 20'000'000;  // so that the start of a short job is no finding
constexpr std::uint64_t kLeastPages = 1000;
constexpr double kLeastApart = 0.15;  // between the nodes' waits at barriers
constexpr double kMostOfOne = 0.75;   // of the pages, from one node
constexpr std::size_t kMostLines = 3;

// The node of which `of` is the largest share of its time.
std::size_t node_of_most(std::span<const NodeTimes> nodes, std::uint64_t NodeTimes::*of) {
  auto less = [of](const NodeTimes& a, const NodeTimes& b) {
    return a.share_of(a.*of) < b.share_of(b.*of);
  };
  return static_cast<std::size_t>(std::max_element(nodes.begin(), nodes.end(), less) -
                                  nodes.begin());
}

void add_lock(std::span<const NodeTimes> nodes,
              const std::function<std::string(std::uint64_t)>& name_of,
              std::vector<SlowSentence>& all) {
  std::size_t n = node_of_most(nodes, &NodeTimes::lock_wait_ns);
  const NodeTimes& node = nodes[n];
  if (node.lock_wait_ns == 0) return;
  double share = node.share_of(node.lock_wait_ns);
  all.push_back({share, node.lock_wait_ns,
                 fmt::format("node {} waited {} of its time for {}, which came from other "
                             "nodes in {} of {} times; add up in each thread, and take the "
                             "lock less often",
                             n, percent(share), name_of(node.lock), node.remote, node.acquires)});
}

void add_barriers(std::span<const NodeTimes> nodes, std::vector<SlowSentence>& all) {
  auto share_of = [](const NodeTimes& node) { return node.share_of(node.barrier_ns); };
  std::size_t most = node_of_most(nodes, &NodeTimes::barrier_ns), least = 0;
  for (std::size_t n = 0; n < nodes.size(); ++n)
    if (share_of(nodes[n]) < share_of(nodes[least])) least = n;
  if (nodes[least].barrier_ns == 0) return;
  double share = share_of(nodes[most]), low = share_of(nodes[least]);
  std::string text = fmt::format("node {} waited {} of its time at barriers", most, percent(share));
  text += share - low < kLeastApart
              ? fmt::format(", and each node at least {}: there is little work between two of them",
                            percent(low))
              : fmt::format(", and node {} only {}: node {} has more work, or more pages to fetch",
                            least, percent(low), least);
  if (share - low >= kLeastApart || low >= kLeastShare)
    all.push_back({share, nodes[most].barrier_ns, text});
}

void add_first(std::span<const NodeTimes> nodes,
               std::span<const std::vector<std::uint64_t>> first_from,
               std::vector<SlowSentence>& all) {
  std::size_t n = node_of_most(nodes, &NodeTimes::first_ns);
  const std::vector<std::uint64_t>& from = first_from[n];
  std::uint64_t pages = std::accumulate(from.begin(), from.end(), std::uint64_t{0});
  if (pages < kLeastPages) return;
  auto source = static_cast<std::size_t>(std::max_element(from.begin(), from.end()) - from.begin());
  std::uint64_t of_source = 0, of_all = 0;
  for (const std::vector<std::uint64_t>& one : first_from) {
    of_source += one[source];
    of_all += std::accumulate(one.begin(), one.end(), std::uint64_t{0});
  }
  double share = nodes[n].share_of(nodes[n].first_ns);
  double of_one = static_cast<double>(of_source) / static_cast<double>(of_all);
  std::string text =
      fmt::format("node {} waited {} of its time for {} pages that it had not had before", n,
                  percent(share), pages);
  if (of_one >= kMostOfOne)
    text += fmt::format(
        ": {} of all such pages came from node {}, which had filled them; let each "
        "thread fill the data that it works on",
        percent(of_one), source);
  all.push_back({share, nodes[n].first_ns, text});
}

}  // namespace

std::string percent(double share) {
  return fmt::format("{:.{}f} %", 100 * share, share < 0.0995 ? 1 : 0);
}

std::vector<SlowSentence> slow_sentences(
    std::span<const NodeTimes> nodes, std::span<const std::vector<std::uint64_t>> first_from,
    const std::function<std::string(std::uint64_t lock)>& name_of) {
  std::vector<SlowSentence> all;
  if (nodes.size() < 2) return all;
  add_lock(nodes, name_of, all);
  add_barriers(nodes, all);
  if (!first_from.empty()) {
    add_first(nodes, first_from, all);
    return all;
  }
  std::size_t n = node_of_most(nodes, &NodeTimes::fetch_ns);
  double share = nodes[n].share_of(nodes[n].fetch_ns);
  all.push_back({share, nodes[n].fetch_ns,
                 fmt::format("node {} waited {} of its time for pages of other nodes; "
                             "--check=sharing says which and why",
                             n, percent(share))});
  return all;
}

std::vector<std::string> slow_lines(std::vector<SlowSentence> sentences) {
  std::erase_if(sentences, [](const SlowSentence& one) {
    return one.share < kLeastShare || one.ns < kLeastNs;
  });
  std::stable_sort(sentences.begin(), sentences.end(),
                   [](const SlowSentence& a, const SlowSentence& b) { return a.share > b.share; });
  if (sentences.size() > kMostLines) sentences.resize(kMostLines);
  std::vector<std::string> lines;
  for (const SlowSentence& one : sentences) lines.push_back("slow: " + one.text);
  if (lines.empty())
    lines.push_back(fmt::format("slow: nothing; no node waited {} of its time for one thing",
                                percent(kLeastShare)));
  return lines;
}

}  // namespace terrane::runtime
