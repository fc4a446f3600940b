#include "tools/launch/watch/metrics_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "bootstrap/node_snapshot.h"

namespace terrane::tools {
namespace {

using bootstrap::NodeSnapshot;

struct MetricNode {
  const NodeView* view;
  std::optional<NodeSnapshot> counts;
  std::string labels;  // node="0",host="h0"
};

// The value of a label, in its quotes.
std::string label_text(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + '"';
}

double in_seconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

// One metric: its head, then a line for each series.
class Metric {
 public:
  Metric(std::string& page, const char* name, const char* type, const char* help)
      : page_(page), name_(name) {
    head_ = fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }
  void add(const std::string& labels, double value) {
    page_ += std::exchange(head_, "");
    page_ += fmt::format("{}{{{}}} {:.9g}\n", name_, labels, value);
  }
  void add(const std::string& labels, std::uint64_t value) {
    page_ += std::exchange(head_, "");
    page_ += fmt::format("{}{{{}}} {}\n", name_, labels, value);
  }

 private:
  std::string& page_;
  std::string name_, head_;
};

// A counter of nodes that has several kinds.
struct CounterKinds {
  const char *name, *help;
  std::vector<std::pair<const char*, std::uint64_t NodeSnapshot::*>> of;  // "": there is one kind
};

const CounterKinds kCounters[] = {
    {"terrane_page_faults_total",
     "Faults of threads on shared pages.",
     {{"read", &NodeSnapshot::read_faults}, {"write", &NodeSnapshot::write_faults}}},
    {"terrane_pages_total",
     "Pages that came from other nodes, were refreshed, filled with zeros, sent home or evicted.",
     {{"fetched", &NodeSnapshot::fetched},
      {"refreshed", &NodeSnapshot::refreshed},
      {"zeros", &NodeSnapshot::zeros},
      {"flushed", &NodeSnapshot::flushed},
      {"evicted", &NodeSnapshot::evicted}}},
    {"terrane_flushed_bytes_total",
     "Changed bytes that went to the homes of their pages.",
     {{"", &NodeSnapshot::flushed_bytes}}},
    {"terrane_messages_total",
     "Messages of shared pages.",
     {{"sent", &NodeSnapshot::sent}, {"received", &NodeSnapshot::received}}},
    {"terrane_message_bytes_total",
     "Bytes of these messages.",
     {{"sent", &NodeSnapshot::sent_bytes}, {"received", &NodeSnapshot::received_bytes}}},
    {"terrane_lock_operations_total", "Locks taken.", {{"", &NodeSnapshot::acquires}}},
    {"terrane_barriers_total", "Barriers that threads came to.", {{"", &NodeSnapshot::barriers}}},
    {"terrane_chunk_messages_total",
     "Messages of chunks.",
     {{"sent", &NodeSnapshot::chunk_sent}, {"received", &NodeSnapshot::chunk_received}}},
    {"terrane_chunk_bytes_total",
     "Bytes of data of chunks.",
     {{"sent", &NodeSnapshot::chunk_sent_bytes},
      {"received", &NodeSnapshot::chunk_received_bytes}}},
    {"terrane_chunk_waits_total", "Waits for chunks.", {{"", &NodeSnapshot::chunk_waits}}},
};

std::string with_kind(const MetricNode& node, const std::string& kind) {
  return kind.empty() ? node.labels : fmt::format("{},kind={}", node.labels, label_text(kind));
}

void add_counters(const std::vector<MetricNode>& nodes, std::string& page) {
  for (const CounterKinds& counter : kCounters) {
    Metric metric(page, counter.name, "counter", counter.help);
    for (const MetricNode& node : nodes)
      for (const auto& [kind, count] : counter.of)
        if (node.counts) metric.add(with_kind(node, kind), *node.counts.*count);
  }
}

void add_processes(const std::vector<MetricNode>& nodes, std::string& page) {
  Metric up(page, "terrane_up", "gauge", "Whether the node told its counters.");
  for (const MetricNode& node : nodes) up.add(node.labels, std::uint64_t{node.counts ? 1u : 0u});
  Metric processor(page, "terrane_process_cpu_seconds_total", "counter",
                   "Processor time of the node's process.");
  for (const MetricNode& node : nodes)
    processor.add(node.labels, in_seconds(node.view->processor_ns));
  Metric memory(page, "terrane_process_resident_memory_bytes", "gauge",
                "Resident memory of the node's process.");
  for (const MetricNode& node : nodes) memory.add(node.labels, node.view->resident_bytes);
}

void add_memory(const std::vector<MetricNode>& nodes, std::string& page) {
  Metric memory(page, "terrane_memory_bytes", "gauge",
                "Shared memory that the node keeps: homes, copies, and all with twins (kept).");
  for (const MetricNode& node : nodes) {
    if (!node.counts) continue;
    memory.add(with_kind(node, "homes"), node.counts->home_bytes);
    memory.add(with_kind(node, "copies"), node.counts->copy_bytes);
    memory.add(with_kind(node, "kept"), node.counts->kept_bytes);
  }
  Metric limit(page, "terrane_memory_limit_bytes", "gauge",
               "What the node may keep; none: not limited.");
  for (const MetricNode& node : nodes)
    if (node.counts && node.counts->limit_bytes != 0 &&
        node.counts->limit_bytes != NodeSnapshot::kNoLimit)
      limit.add(node.labels, node.counts->limit_bytes);
}

// A counter of each item of a list.
template <typename Item>
void add_items(const std::vector<MetricNode>& nodes, std::vector<Item> NodeSnapshot::*list,
               Metric metric, const std::function<std::string(const Item&)>& labels,
               const std::function<double(const Item&)>& value) {
  for (const MetricNode& node : nodes) {
    if (!node.counts) continue;
    for (const Item& item : *node.counts.*list)
      metric.add(fmt::format("{},{}", node.labels, labels(item)), value(item));
  }
}

void add_pages(const std::vector<MetricNode>& nodes, std::string& page) {
  using Item = bootstrap::PageSnapshot;
  auto add = [&](const char* name, const char* help, std::function<double(const Item&)> value) {
    add_items<Item>(
        nodes, &NodeSnapshot::pages, Metric(page, name, "counter", help),
        [](const Item& one) {
          return fmt::format("page=\"{:#x}\",name={}", one.address, label_text(one.name));
        },
        value);
  };
  auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  add("terrane_hot_page_wait_seconds_total", "Of the hottest pages: waiting in faults.",
      [](const Item& one) { return in_seconds(one.total.waited_ns); });
  add("terrane_hot_page_faults_total", "Of the hottest pages: faults.",
      [=](const Item& one) { return number(one.total.faults); });
  add("terrane_hot_page_arrivals_total", "Of the hottest pages: fetched or refreshed.",
      [=](const Item& one) { return number(one.total.fetched + one.total.refreshed); });
  add("terrane_hot_page_flushes_total", "Of the hottest pages: changes sent to the home.",
      [=](const Item& one) { return number(one.total.flushed); });
}

void add_locks(const std::vector<MetricNode>& nodes, std::string& page) {
  using Item = bootstrap::LockSnapshot;
  auto add = [&](const char* name, const char* help, std::function<double(const Item&)> value) {
    add_items<Item>(
        nodes, &NodeSnapshot::locks, Metric(page, name, "counter", help),
        [](const Item& one) {
          return fmt::format("token=\"{:#x}\",name={}", one.token, label_text(one.name));
        },
        value);
  };
  add("terrane_hot_lock_wait_seconds_total", "Of the locks that cost most: waiting.",
      [](const Item& one) { return in_seconds(one.total.waited_ns); });
  add("terrane_hot_lock_acquires_total", "Of the locks that cost most: how often taken.",
      [](const Item& one) { return static_cast<double>(one.total.acquires); });
  add("terrane_hot_lock_remote_total", "Of these, how often from another node.",
      [](const Item& one) { return static_cast<double>(one.total.remote); });
}

void add_streams(const std::vector<MetricNode>& nodes, std::string& page) {
  using Item = bootstrap::StreamSnapshot;
  auto add = [&](const char* name, const char* help, std::function<double(const Item&)> value) {
    add_items<Item>(
        nodes, &NodeSnapshot::streams, Metric(page, name, "counter", help),
        [](const Item& one) { return fmt::format("name={}", label_text(one.name)); }, value);
  };
  add("terrane_stream_written_total", "Of the busiest chunks: versions written.",
      [](const Item& one) { return static_cast<double>(one.total.written); });
  add("terrane_stream_written_bytes_total", "Of the busiest chunks: bytes of these versions.",
      [](const Item& one) { return static_cast<double>(one.total.written_bytes); });
  add("terrane_stream_taken_total", "Of the busiest chunks: versions taken.",
      [](const Item& one) { return static_cast<double>(one.total.taken); });
  add("terrane_stream_wait_seconds_total", "Of the busiest chunks: waiting to take a version.",
      [](const Item& one) { return in_seconds(one.total.waited_ns); });
}

}  // namespace

// What a thread waits for now is estimated, so that a sum may be a little lower the next time.
std::string MetricsPage::text(const JobView& view) {
  std::vector<MetricNode> nodes;
  for (const NodeView& one : view.nodes)
    nodes.push_back({&one, bootstrap::decode_snapshot(one.snapshot),
                     fmt::format("node=\"{}\",host={}", one.node, label_text(one.host))});
  std::string page;
  Metric(page, "terrane_job_info", "gauge", "The job; always 1.")
      .add(fmt::format("name={},program={}", label_text(view.job), label_text(view.program)),
           std::uint64_t{1});
  Metric(page, "terrane_job_age_seconds", "gauge", "Since the job's nodes were started.")
      .add("", static_cast<double>(view.age_ms) / 1000);
  add_processes(nodes, page);
  Metric times(page, "terrane_thread_seconds_total", "counter",
               "Time of the program's threads on shared pages, by what they did; and of the "
               "node's handler.");
  for (const MetricNode& node : nodes) {
    if (!node.counts) continue;
    const NodeSnapshot& c = *node.counts;
    std::uint64_t other = c.fault_ns + c.lock_ns + c.barrier_ns + c.protocol_ns;
    for (auto [kind, ns] : {std::pair{"computing", c.lived_ns - std::min(c.lived_ns, other)},
                            {"faults", c.fault_ns},
                            {"locks", c.lock_ns},
                            {"barriers", c.barrier_ns},
                            {"protocol", c.protocol_ns},
                            {"handler", c.handler_ns}}) {
      double& highest = highest_[{node.view->node, kind}];
      highest = std::max(highest, in_seconds(ns));
      times.add(with_kind(node, kind), highest);
    }
  }
  add_counters(nodes, page);
  add_memory(nodes, page);
  add_pages(nodes, page);
  add_locks(nodes, page);
  add_streams(nodes, page);
  return page;
}

}  // namespace terrane::tools
