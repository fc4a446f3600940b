#include "tools/launch/hub/exchange_state.h"

#include <fmt/format.h>

#include <algorithm>

namespace terrane::tools {
namespace {

constexpr std::size_t kMaxNamed = 8;

// "node 3" or "nodes 1, 2 and 5", at most kMaxNamed of them by number.
std::string name_nodes(const std::vector<std::uint32_t>& nodes) {
  if (nodes.size() == 1) return fmt::format("node {}", nodes[0]);
  std::string text = "nodes ";
  std::size_t named = std::min(nodes.size(), kMaxNamed);
  for (std::size_t i = 0; i < named; ++i) {
    bool last = i + 1 == nodes.size();
    text += fmt::format("{}{}", i == 0 ? "" : last ? " and " : ", ", nodes[i]);
  }
  if (nodes.size() > named) text += fmt::format(" and {} more", nodes.size() - named);
  return text;
}

}  // namespace

void ExchangeState::done() {
  for (Node& node : nodes_) node.waits = false;
}

std::optional<std::string> ExchangeState::absence() const {
  std::vector<std::uint32_t> waiting, missing;
  for (std::uint32_t node = 0; node < nodes_.size(); ++node)
    (nodes_[node].waits ? waiting : missing).push_back(node);
  if (waiting.empty() || missing.empty()) return std::nullopt;
  bool one = missing.size() == 1;
  return fmt::format("{} of {} {} not joined the job, and {} {} for {}", name_nodes(missing),
                     nodes_.size(), one ? "has" : "have", name_nodes(waiting),
                     waiting.size() == 1 ? "waits" : "wait", one ? "it" : "them");
}

std::optional<std::string> ExchangeState::obstacle() const {
  std::vector<std::uint32_t> waiting, missing;
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    if (nodes_[node].waits) {
      waiting.push_back(node);
    } else if (nodes_[node].ended) {
      missing.push_back(node);
    }
  }
  if (waiting.empty() || missing.empty()) return std::nullopt;
  bool one = missing.size() == 1;
  return fmt::format(
      "{} of {} {} {}, while {} {} for {}; every node of a job must run a program that joins it "
      "(terrane_init), or none",
      name_nodes(missing), nodes_.size(), one ? "has" : "have",
      nodes_[missing[0]].left ? "left the job already" : "ended without joining the job",
      name_nodes(waiting), waiting.size() == 1 ? "waits" : "wait", one ? "it" : "them");
}

}  // namespace terrane::tools
