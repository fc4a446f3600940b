#include "tools/launch/gateways/topology_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <span>

#include "tools/launch/host/limits.h"

// The header alone, so that `terrane` asks nothing more of the hosts that it runs on.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace terrane::tools {
namespace {

constexpr std::uint32_t kMostSlots = 1024;

const char* kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::string:
      return "a text";
    case toml::node_type::integer:
      return "a whole number";
    case toml::node_type::floating_point:
      return "a number with a fraction";
    case toml::node_type::boolean:
      return "true or false";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::table:
      return "a table";
    default:
      return "a date or a time";
  }
}

// Reads one file; the first fault ends it.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) { topology_.file = file; }

  base::Result<TopologyFile> read(const toml::table& all) {
    bool good =
        keys_are_known(
            all, "the file",
            {"nodes", "memory", "on_death", "hosts", "servers", "clusters", "links", "gateways"}) &&
        number(all, "nodes", 1, bootstrap::kMaxJobNodes, topology_.nodes) && memory(all) &&
        on_death(all) && hosts(all) && servers(all) && clusters(all) && links(all) && gateways(all);
    if (!good) return fault_;
    return std::move(topology_);
  }

  template <typename... Args>
  bool fail(const toml::source_region& at, fmt::format_string<Args...> format, Args&&... args) {
    fault_ = {where(at) + ": " + fmt::format(format, std::forward<Args>(args)...)};
    return false;
  }
  const base::Error& fault() const { return fault_; }

 private:
  std::string where(const toml::source_region& at) const {
    return fmt::format("{}:{}:{}", file_, at.begin.line, at.begin.column);
  }

  bool keys_are_known(const toml::table& table, const char* name,
                      std::initializer_list<std::string_view> known) {
    for (const auto& [key, node] : table) {
      if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
      std::string all;
      for (std::string_view one : known) all += fmt::format("{}{}", all.empty() ? "" : ", ", one);
      return fail(key.source(), "{} has no key '{}'; it has {}", name, key.str(), all);
    }
    return true;
  }

  bool number(const toml::node& node, std::string_view name, std::uint32_t least,
              std::uint32_t most, Said<std::uint32_t>& said) {
    if (!node.is_integer())
      return fail(node.source(), "{} is {}; it must be a whole number from {} to {}", name,
                  kind_of(node), least, most);
    std::int64_t value = node.as_integer()->get();
    if (value < least || value > most)
      return fail(node.source(), "{} = {}: it must be from {} to {}", name, value, least, most);
    said = {static_cast<std::uint32_t>(value), where(node.source())};
    return true;
  }
  bool number(const toml::table& table, std::string_view name, std::uint32_t least,
              std::uint32_t most, std::optional<Said<std::uint32_t>>& said) {
    const toml::node* node = table.get(name);
    return node == nullptr || number(*node, name, least, most, said.emplace());
  }

  bool text(const toml::node& node, std::string_view name, const char* example,
            Said<std::string>& said) {
    if (!node.is_string())
      return fail(node.source(), "{} is {}; it must be a text, such as {}", name, kind_of(node),
                  example);
    said = {node.as_string()->get(), where(node.source())};
    return true;
  }

  bool memory(const toml::table& all) {
    const toml::node* node = all.get("memory");
    if (node == nullptr) return true;
    if (!text(*node, "memory", "\"4G\"", topology_.memory.emplace())) return false;
    return size_bytes(topology_.memory->value).has_value() ||
           fail(node->source(), "memory = \"{}\": it must be a size such as \"512M\" or \"4G\"",
                topology_.memory->value);
  }

  bool on_death(const toml::table& all) {
    const toml::node* node = all.get("on_death");
    if (node == nullptr) return true;
    if (!text(*node, "on_death", "\"survive\"", topology_.on_death.emplace())) return false;
    const std::string& value = topology_.on_death->value;
    return value == "end" || value == "survive" ||
           fail(node->source(), "on_death = \"{}\": it must be \"end\" or \"survive\"", value);
  }

  bool hosts(const toml::table& all) {
    const toml::node* node = all.get("hosts");
    if (node == nullptr) return true;
    const toml::array* list = node->as_array();
    if (list == nullptr || list->empty())
      return fail(node->source(), "hosts is {}; it must be tables, each begun by [[hosts]]",
                  list != nullptr ? "an empty list" : kind_of(*node));
    for (const toml::node& one : *list)
      if (!host(one)) return false;
    return true;
  }

  bool host(const toml::node& node) {
    const toml::table* table = node.as_table();
    if (table == nullptr)
      return fail(node.source(), "a host is {}; it must be a table, begun by [[hosts]]",
                  kind_of(node));
    if (!keys_are_known(*table, "a host", {"name", "slots"})) return false;
    const toml::node* name = table->get("name");
    if (name == nullptr) return fail(table->source(), "a host has no name; give it: name = \"a\"");
    Said<std::string> said;
    if (!text(*name, "name", "\"a\"", said)) return false;
    std::optional<Said<std::uint32_t>> slots;
    if (!number(*table, "slots", 1, kMostSlots, slots)) return false;
    if (!is_host_name(said.value))
      return fail(name->source(), "\"{}\" is not the name of a host", said.value);
    for (const HostSlots& other : topology_.hosts)
      if (other.name == said.value)
        return fail(name->source(), "host \"{}\" is named twice; give it all its slots once",
                    said.value);
    topology_.hosts.push_back({said.value, slots ? slots->value : 1});
    return true;
  }

  bool servers(const toml::table& all) {
    const toml::node* node = all.get("servers");
    if (node == nullptr) return true;
    const toml::table* table = node->as_table();
    if (table == nullptr)
      return fail(node->source(),
                  "servers is {}; it must be a table, begun by [servers], with one of count, nodes "
                  "and per_host",
                  kind_of(*node));
    if (!keys_are_known(*table, "[servers]", {"count", "nodes", "per_host", "hosts"})) return false;
    const toml::node* chosen = nullptr;
    for (std::string_view key : {"count", "nodes", "per_host"}) {
      const toml::node* one = table->get(key);
      if (one != nullptr && chosen != nullptr)
        return fail(one->source(), "[servers] has two of count, nodes and per_host; leave one");
      if (one != nullptr) chosen = one;
    }
    if (chosen == nullptr)
      return fail(
          table->source(),
          "[servers] has none of count, nodes and per_host; give one, such as per_host = 1");
    return number(*table, "count", 1, bootstrap::kMaxJobNodes, topology_.server_count) &&
           number(*table, "per_host", 1, kMostSlots, topology_.servers_per_host) &&
           server_nodes(*table) && server_hosts(*table);
  }

  bool server_nodes(const toml::table& table) {
    const toml::node* node = table.get("nodes");
    if (node == nullptr) return true;
    const toml::array* list = node->as_array();
    if (list == nullptr || list->empty())
      return fail(node->source(), "nodes is {}; it must be a list of nodes, such as [0, 4]",
                  list != nullptr ? "an empty list" : kind_of(*node));
    for (const toml::node& one : *list) {
      Said<std::uint32_t> said;
      if (!number(one, "a server's node", 0, bootstrap::kMaxJobNodes - 1, said)) return false;
      for (const auto& other : topology_.server_nodes)
        if (other.value == said.value)
          return fail(one.source(), "node {} is named twice", said.value);
      topology_.server_nodes.push_back(said);
    }
    return true;
  }

  bool server_hosts(const toml::table& table) {
    const toml::node* node = table.get("hosts");
    if (node == nullptr) return true;
    if (!topology_.servers_per_host)
      return fail(node->source(), "[servers] has hosts without per_host; add per_host = 1");
    const toml::array* list = node->as_array();
    if (list == nullptr || list->empty())
      return fail(node->source(), "hosts is {}; it must be a list of names, such as [\"a\", \"b\"]",
                  list != nullptr ? "an empty list" : kind_of(*node));
    for (const toml::node& one : *list) {
      Said<std::string> said;
      if (!text(one, "a server's host", "\"a\"", said)) return false;
      for (const auto& other : topology_.server_hosts)
        if (other.value == said.value)
          return fail(one.source(), "host \"{}\" is named twice", said.value);
      topology_.server_hosts.push_back(said);
    }
    return true;
  }

  // A list of tables, each begun by [[NAME]]; calls for each of them.
  template <typename Read>
  bool tables(const toml::table& all, const char* name, Read read) {
    const toml::node* node = all.get(name);
    if (node == nullptr) return true;
    const toml::array* list = node->as_array();
    if (list == nullptr || list->empty())
      return fail(node->source(), "{0} is {1}; it must be tables, each begun by [[{0}]]", name,
                  list != nullptr ? "an empty list" : kind_of(*node));
    for (const toml::node& one : *list) {
      const toml::table* table = one.as_table();
      if (table == nullptr)
        return fail(one.source(), "one of {0} is {1}; it must be a table, begun by [[{0}]]", name,
                    kind_of(one));
      if (!read(*table)) return false;
    }
    return true;
  }

  // A list of names, none of them twice.
  bool names(const toml::table& table, const char* key, const char* example,
             std::vector<Said<std::string>>& out) {
    const toml::node* node = table.get(key);
    const toml::array* list = node == nullptr ? nullptr : node->as_array();
    if (list == nullptr || list->empty())
      return fail(node == nullptr ? table.source() : node->source(),
                  "{} must be a list of names, such as {}", key, example);
    for (const toml::node& one : *list) {
      Said<std::string> said;
      if (!text(one, key, example, said)) return false;
      for (const auto& other : out)
        if (other.value == said.value)
          return fail(one.source(), "\"{}\" is named twice", said.value);
      out.push_back(said);
    }
    return true;
  }

  bool clusters(const toml::table& all) {
    return tables(all, "clusters", [this](const toml::table& table) { return cluster(table); });
  }

  bool cluster(const toml::table& table) {
    if (!keys_are_known(table, "a cluster", {"name", "hosts"})) return false;
    ClusterHosts read;
    const toml::node* name = table.get("name");
    if (name == nullptr)
      return fail(table.source(), "a cluster has no name; give it: name = \"west\"");
    if (!text(*name, "name", "\"west\"", read.name)) return false;
    for (const ClusterHosts& other : topology_.clusters)
      if (other.name.value == read.name.value)
        return fail(name->source(), "cluster \"{}\" is there twice; give it all its hosts once",
                    read.name.value);
    if (!names(table, "hosts", "[\"a\", \"b\"]", read.hosts)) return false;
    for (const auto& host : read.hosts)
      for (const ClusterHosts& other : topology_.clusters)
        for (const auto& there : other.hosts)
          if (there.value == host.value)
            return fail_at(host.where,
                           "host \"{}\" is in cluster \"{}\" already ({}); leave it in one",
                           host.value, other.name.value, there.where);
    if (topology_.clusters.size() == bootstrap::kMaxClusters)
      return fail(table.source(), "a job has at most {} clusters", bootstrap::kMaxClusters);
    topology_.clusters.push_back(std::move(read));
    return true;
  }

  bool links(const toml::table& all) {
    return tables(all, "links", [this](const toml::table& table) { return link(table); });
  }

  bool link(const toml::table& table) {
    if (!keys_are_known(table, "a link", {"between", "bandwidth", "latency"})) return false;
    std::vector<Said<std::string>> ends;
    if (!names(table, "between", "[\"west\", \"east\"]", ends)) return false;
    if (ends.size() != 2)
      return fail(table.get("between")->source(), "a link is between 2 clusters, not {}",
                  ends.size());
    for (const auto& end : ends) {
      bool known = false;
      std::string all;
      for (const ClusterHosts& cluster : topology_.clusters) {
        known |= cluster.name.value == end.value;
        all += (all.empty() ? "" : ", ") + cluster.name.value;
      }
      if (!known)
        return fail_at(end.where, "there is no cluster \"{}\"; the file has {}", end.value,
                       all.empty() ? "none: add [[clusters]]" : all);
    }
    for (const LinkBetween& other : topology_.links) {
      bool same = other.from.value == ends[0].value && other.to.value == ends[1].value;
      bool reverse = other.from.value == ends[1].value && other.to.value == ends[0].value;
      if (same || reverse)
        return fail_at(ends[0].where, "the link between \"{}\" and \"{}\" is there twice ({})",
                       ends[0].value, ends[1].value, other.from.where);
    }
    LinkBetween read{ends[0], ends[1], 0, 0};
    bool good = measure(table, "bandwidth", "10gbit", kBandwidths, read.bytes_a_second) &&
                measure(table, "latency", "1ms", kLatencies, read.latency_ns);
    if (good) topology_.links.push_back(std::move(read));
    return good;
  }

  bool gateways(const toml::table& all) {
    return tables(all, "gateways", [this](const toml::table& table) { return gateway(table); });
  }

  bool gateway(const toml::table& table) {
    if (!keys_are_known(table, "a gateway",
                        {"cluster", "host", "name", "by_hand", "address", "port"}))
      return false;
    GatewaySaid read;
    const toml::node* cluster = table.get("cluster");
    if (cluster == nullptr)
      return fail(table.source(), "a gateway has no cluster; give it: cluster = \"west\"");
    if (!text(*cluster, "cluster", "\"west\"", read.cluster)) return false;
    Said<std::string> host, address;
    std::optional<Said<std::uint32_t>> port;
    const toml::node* by_hand = table.get("by_hand");
    bool is_by_hand = by_hand != nullptr && by_hand->value_or(false);
    const toml::node* given = table.get("host");
    if (given != nullptr && !text(*given, "host", "\"gw1\"", host)) return false;
    if (is_by_hand == (given != nullptr))
      return fail(table.source(),
                  "a gateway has either host = \"gw1\", where it is started, or by_hand = true");
    const toml::node* name = table.get("name");
    if (name != nullptr && !text(*name, "name", "\"gw1\"", read.name)) return false;
    if (name == nullptr) read.name = {host.value, given ? where(given->source()) : ""};
    if (read.name.value.empty() || !is_host_name(read.name.value))
      return fail(table.source(), "a gateway that is started by hand has a name: name = \"gw1\"");
    if (const toml::node* node = table.get("address"))
      if (!text(*node, "address", "\"192.0.2.1\"", address)) return false;
    if (!number(table, "port", 1, 65535, port)) return false;
    for (const GatewaySaid& other : topology_.gateways)
      if (other.name.value == read.name.value)
        return fail_at(read.name.where,
                       "gateway \"{}\" is there already ({}); give it another name",
                       read.name.value, other.name.where);
    read.host = host.value;
    read.link_address = address.value;
    if (port) read.link_port = static_cast<std::uint16_t>(port->value);
    topology_.gateways.push_back(std::move(read));
    return true;
  }

  struct Unit {
    std::string_view name;
    double factor;
  };
  static constexpr Unit kBandwidths[] = {{"kbit", 125.0}, {"mbit", 125e3}, {"gbit", 125e6},
                                         {"K", 1e3},      {"M", 1e6},      {"G", 1e9}};
  static constexpr Unit kLatencies[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

  // A number above 0 with a unit.
  bool measure(const toml::table& table, const char* key, const char* example,
               std::span<const Unit> units, std::uint64_t& out) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return true;
    Said<std::string> said;
    if (!text(*node, key, fmt::format("\"{}\"", example).c_str(), said)) return false;
    double number = 0;
    const char* end = said.value.data() + said.value.size();
    auto [at, bad] = std::from_chars(said.value.data(), end, number);
    for (const Unit& unit : units) {
      if (bad != std::errc() || std::string_view(at, end) != unit.name) continue;
      double value = number * unit.factor;
      if (!(value >= 1 && value < 1e15)) break;
      out = static_cast<std::uint64_t>(value);
      return true;
    }
    std::string all;
    for (const Unit& unit : units) all += fmt::format("{}{}", all.empty() ? "" : ", ", unit.name);
    return fail(node->source(),
                "{} = \"{}\": it must be a number above 0 and a unit ({}), such as \"{}\"", key,
                said.value, all, example);
  }

  template <typename... Args>
  bool fail_at(const std::string& at, fmt::format_string<Args...> format, Args&&... args) {
    fault_ = {at + ": " + fmt::format(format, std::forward<Args>(args)...)};
    return false;
  }

  std::string file_;
  TopologyFile topology_;
  base::Error fault_;
};

// The first so many nodes of each host that is asked for.
base::Result<std::vector<std::uint32_t>> first_of_hosts(const TopologyFile& topology,
                                                        const bootstrap::JobMap& map) {
  const auto& each = *topology.servers_per_host;
  auto index = [&](const std::string& name) {
    return static_cast<std::uint32_t>(std::find(map.names.begin(), map.names.end(), name) -
                                      map.names.begin());
  };
  std::vector<std::uint32_t> hosts;
  for (const auto& said : topology.server_hosts) {
    if (index(said.value) == map.names.size())
      return base::error("{}: the job has no node on host \"{}\"; its hosts are {}", said.where,
                         said.value, fmt::join(map.names, ", "));
    hosts.push_back(index(said.value));
  }
  for (std::uint32_t h = 0; topology.server_hosts.empty() && h < map.names.size(); ++h)
    hosts.push_back(h);
  std::vector<std::uint32_t> servers;
  for (std::uint32_t host : hosts) {
    if (map.nodes_on(host) < each.value)
      return base::error("{}: per_host = {}, but host \"{}\" has {} of the job's {} nodes",
                         each.where, each.value, map.names[host], map.nodes_on(host), map.nodes());
    std::uint32_t left = each.value;
    for (std::uint32_t node = 0; node < map.nodes() && left > 0; ++node) {
      if (map.host_of[node] != host) continue;
      servers.push_back(node);
      --left;
    }
  }
  return servers;
}

}  // namespace

base::Result<TopologyFile> parse_topology(std::string_view text, const std::string& file) {
  Reader reader(file);
  toml::parse_result parsed = toml::parse(text, file);
  if (!parsed) {
    reader.fail(parsed.error().source(), "{}", parsed.error().description());
    return reader.fault();
  }
  return reader.read(parsed.table());
}

base::Result<std::string> servers_of(const TopologyFile& topology, const bootstrap::JobMap& map) {
  if (topology.server_count) {
    if (topology.server_count->value > map.nodes())
      return base::error("{}: count = {}: the job has {} nodes, all of which may be servers",
                         topology.server_count->where, topology.server_count->value, map.nodes());
    return std::to_string(topology.server_count->value);
  }
  std::vector<std::uint32_t> nodes;
  for (const auto& said : topology.server_nodes) {
    if (said.value >= map.nodes())
      return base::error("{}: there is no node {}: the job has {} nodes, from 0 to {}", said.where,
                         said.value, map.nodes(), map.nodes() - 1);
    nodes.push_back(said.value);
  }
  if (topology.servers_per_host) {
    auto first = first_of_hosts(topology, map);
    if (!first) return first.error();
    nodes = std::move(first).value();
  }
  // A single number would be a count.
  std::string list = fmt::format("{}", fmt::join(nodes, ","));
  return nodes.size() == 1 ? list + "," : list;
}

base::Result<TopologyFile> read_topology(const std::string& file, std::string_view option) {
  std::error_code none;
  if (std::filesystem::is_directory(file, none))
    return base::error("{}{}: is a folder; name a file", option, file);
  std::ifstream stream(file);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) return base::error("{}{}: {}", option, file, std::strerror(errno));
  return parse_topology(text, file);
}

}  // namespace terrane::tools
