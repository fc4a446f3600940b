#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "bootstrap/node_snapshot.h"

namespace terrane::tools {

// What is known of one node at one moment.
struct NodeView {
  std::uint32_t node = 0;
  std::string host;
  std::uint64_t at_ns = 0;  // of what follows; CLOCK_MONOTONIC of its host
  std::uint64_t processor_ns = 0, resident_bytes = 0;
  std::vector<std::byte> snapshot;  // bootstrap/node_snapshot.h; empty: it did not answer

  auto fields() { return std::tie(node, host, at_ns, processor_ns, resident_bytes, snapshot); }
  bool operator==(const NodeView&) const = default;
};

// A job at one moment.
struct JobView {
  std::string job, program;
  std::string file;          // of the program
  std::int32_t process = 0;  // of `terrane run`
  std::uint64_t age_ms = 0;  // since its nodes were started
  std::uint32_t places = 0;  // nodes that the job has, also those that have ended
  std::vector<NodeView> nodes;

  auto fields() { return std::tie(job, program, file, process, age_ms, places, nodes); }
  bool operator==(const JobView&) const = default;
};

// What `terrane top` and a job say to each other.
namespace watch {

inline constexpr std::uint32_t kFormat = 1;

struct Ask {  // to the job: View comes, or Refused
  std::uint32_t format = kFormat;
  auto fields() { return std::tie(format); }
};
struct View {
  JobView view;
  auto fields() { return std::tie(view); }
};
struct Refused {
  std::string sentence;
  auto fields() { return std::tie(sentence); }
};

}  // namespace watch

using WatchRequest = std::variant<watch::Ask>;
using WatchAnswer = std::variant<watch::View, watch::Refused>;

}  // namespace terrane::tools
