#include "tools/launch/host_list.h"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace terrane::tools {
namespace {

constexpr std::uint32_t kMaxSlots = 1024;

// Nothing that a shell or an option reader would take for its own.
bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_' || c == ':' || c == '@';
}

bool parse_slots(std::string_view text, std::uint32_t& slots) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), slots);
  return error == std::errc() && end == text.data() + text.size() && slots >= 1 &&
         slots <= kMaxSlots;
}

// "name" or "name:N"; an IPv6 address has more than one colon.
base::Result<HostSlots> parse_host(std::string_view text) {
  HostSlots host;
  std::string_view name = text;
  std::size_t colon = text.find(':');
  if (colon != std::string_view::npos && text.find(':', colon + 1) == std::string_view::npos) {
    name = text.substr(0, colon);
    if (!parse_slots(text.substr(colon + 1), host.slots)) {
      return base::error("{}: the number of slots must be from 1 to {}", text, kMaxSlots);
    }
  }
  if (!is_host_name(name)) return base::error("\"{}\" is not the name of a host", text);
  host.name = name;
  return host;
}

void add(std::vector<HostSlots>& hosts, const HostSlots& host) {
  auto same = std::find_if(hosts.begin(), hosts.end(),
                           [&](const HostSlots& other) { return other.name == host.name; });
  if (same == hosts.end()) {
    hosts.push_back(host);
  } else {
    same->slots = std::min(same->slots + host.slots, kMaxSlots);
  }
}

base::Result<> read_line(const std::string& line, std::vector<HostSlots>& hosts) {
  std::istringstream words(line.substr(0, line.find('#')));
  std::string word;
  if (!(words >> word)) return {};
  auto host = parse_host(word);
  if (!host) return host.error();
  while (words >> word) {
    std::size_t equals = word.find('=');
    std::string key = word.substr(0, equals);
    bool known = key == "slots" || key == "max_slots" || key == "max-slots";
    if (!known || equals == std::string::npos) {
      return base::error("\"{}\" is not understood; a line is: NAME slots=N", word);
    }
    std::uint32_t slots = 0;
    if (!parse_slots(std::string_view(word).substr(equals + 1), slots)) {
      return base::error("{}: must be from 1 to {}", word, kMaxSlots);
    }
    if (key == "slots") host.value().slots = slots;
  }
  add(hosts, host.value());
  return {};
}

}  // namespace

bool is_host_name(std::string_view name) {
  return std::all_of(name.begin(), name.end(), is_plain) && !name.empty() &&
         name.size() <= bootstrap::kMaxHostName && name[0] != '-' && name[0] != ':';
}

base::Result<std::vector<HostSlots>> parse_host_list(std::string_view text,
                                                     std::string_view option) {
  std::vector<HostSlots> hosts;
  for (std::size_t at = 0; at <= text.size();) {
    std::size_t comma = std::min(text.find(',', at), text.size());
    auto host = parse_host(text.substr(at, comma - at));
    if (!host) return base::error("{} {}: {}", option, text, host.error().message);
    add(hosts, host.value());
    at = comma + 1;
  }
  return hosts;
}

base::Result<std::vector<HostSlots>> parse_host_file(std::string_view text,
                                                     const std::string& file) {
  std::vector<HostSlots> hosts;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    ++number;
    auto read = read_line(std::string(text.substr(at, end - at)), hosts);
    if (!read) return base::error("{}:{}: {}", file, number, read.error().message);
    at = end + 1;
  }
  if (hosts.empty()) return base::error("{}: names no host", file);
  return hosts;
}

std::vector<std::uint32_t> parse_slurm_counts(std::string_view text) {
  std::vector<std::uint32_t> counts;
  while (!text.empty()) {
    std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    std::uint32_t count = 0, times = 1;
    std::size_t open = part.find("(x");
    if (open != std::string_view::npos) {
      if (part.back() != ')' ||
          !parse_slots(part.substr(open + 2, part.size() - open - 3), times)) {
        return {};
      }
      part = part.substr(0, open);
    }
    if (!parse_slots(part, count)) return {};
    counts.insert(counts.end(), times, count);
  }
  return counts;
}

std::uint32_t total_slots(const std::vector<HostSlots>& hosts) {
  std::uint32_t sum = 0;
  for (const HostSlots& host : hosts) sum += host.slots;
  return sum;
}

bootstrap::JobMap place_nodes(const std::vector<HostSlots>& hosts, std::uint32_t nodes, MapBy by) {
  std::vector<std::uint32_t> placed(hosts.size(), 0), order;
  std::uint32_t round = 1;  // how often every slot may be filled so far
  while (order.size() < nodes) {
    std::size_t before = order.size();
    for (std::uint32_t host = 0; host < hosts.size() && order.size() < nodes; ++host) {
      std::uint32_t room = round * hosts[host].slots - placed[host];
      std::uint32_t wanted = by == MapBy::kNode ? std::min(room, 1u) : room;
      wanted = std::min(wanted, static_cast<std::uint32_t>(nodes - order.size()));
      placed[host] += wanted;
      order.insert(order.end(), wanted, host);
    }
    if (order.size() == before) ++round;
  }
  bootstrap::JobMap map;
  std::vector<std::uint32_t> index(hosts.size());
  for (std::uint32_t host = 0; host < hosts.size(); ++host) {
    if (placed[host] == 0) continue;
    index[host] = static_cast<std::uint32_t>(map.names.size());
    map.names.push_back(hosts[host].name);
  }
  for (std::uint32_t host : order) map.host_of.push_back(index[host]);
  return map;
}

}  // namespace terrane::tools
