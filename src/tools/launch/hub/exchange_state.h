#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace terrane::tools {

// The nodes of a job that wait in an exchange, and those that can no longer come to it. Owns
// nothing but these marks.
class ExchangeState {
 public:
  explicit ExchangeState(std::uint32_t nodes) : nodes_(nodes) {}

  void waits(std::uint32_t node) { nodes_[node].waits = true; }
  // It may come back, until it has ended.
  void left(std::uint32_t node) { nodes_[node].left = true; }
  void ended(std::uint32_t node) { nodes_[node].ended = true; }
  // The exchange has ended for all.
  void done();

  // Which nodes wait, and for which, while others may still come; nullopt: no node waits.
  std::optional<std::string> absence() const;
  // Why an exchange that somebody waits in can never end, if that is so.
  std::optional<std::string> obstacle() const;

 private:
  struct Node {
    bool waits = false, left = false, ended = false;
  };
  std::vector<Node> nodes_;
};

}  // namespace terrane::tools
