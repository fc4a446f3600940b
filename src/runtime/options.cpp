#include "runtime/options.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "platform/mapping.h"

namespace terrane::runtime {
namespace {

// Does not change `out` if the variable is not set.
base::Result<> read_size(const char* name, std::uint64_t least, std::uint64_t& out) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return {};
  auto size = parse_size(text);
  if (!size) return base::error("{}: {}", name, size.error().message);
  if (size.value() < least)
    return base::error("{}={}: too small; give at least {} bytes", name, text, least);
  out = size.value();
  return {};
}

base::Result<> read_network(Options& options) {
  if (const char* text = std::getenv("TERRANE_NET"); text != nullptr && *text != '\0')
    options.net = text;
  if (const char* text = std::getenv("TERRANE_TEST_LATENCY_US"); text != nullptr && *text != '\0') {
    auto [end, bad] = std::from_chars(text, text + std::strlen(text), options.extra_latency_us);
    if (bad != std::errc() || *end != '\0')
      return base::error("TERRANE_TEST_LATENCY_US={}: not a number of microseconds", text);
  }
  return {};
}

base::Result<> read_patience(Options& options) {
  const char* text = std::getenv("TERRANE_PATIENCE");
  if (text == nullptr || *text == '\0') return {};
  double seconds = 0;
  auto [end, bad] = std::from_chars(text, text + std::strlen(text), seconds);
  if (bad != std::errc() || *end != '\0' || !(seconds >= 0 && seconds <= 1e9))
    return base::error("TERRANE_PATIENCE={}: a number of seconds, or 0 for none", text);
  options.patience_ms = static_cast<std::uint64_t>(seconds * 1000);
  return {};
}

base::Result<> read_checks(Options& options) {
  const char* check = std::getenv("TERRANE_CHECK");
  std::string_view wanted = check == nullptr ? "" : check;
  options.check_accesses = wanted == "races=reads";
  options.check_races = options.check_accesses || wanted == "races";
  options.check_sharing = wanted == "sharing";
  if ((options.check_races || options.check_sharing) && options.sequential)
    return base::error(
        "TERRANE_CHECK={0}: with TERRANE_CONSISTENCY=sequential no node has copies in which "
        "{0} would show; leave one of the two out",
        check);
  if (const char* text = std::getenv("TERRANE_CHECK_OUTPUT"); text != nullptr)
    options.check_output = text;
  if (const char* text = std::getenv("TERRANE_RECORD"); text != nullptr) options.record = text;
  if (!options.record.empty() && options.sequential)
    return base::error(
        "TERRANE_RECORD: with TERRANE_CONSISTENCY=sequential nothing can be recorded; leave one "
        "of the two out");
  if (const char* text = std::getenv("TERRANE_REPORT"); text != nullptr) options.report = text;
  return {};
}

}  // namespace

base::Result<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t number = 0;
  auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  int shift = suffix.empty() || suffix == "B"    ? 0
              : suffix == "K" || suffix == "KiB" ? 10
              : suffix == "M" || suffix == "MiB" ? 20
              : suffix == "G" || suffix == "GiB" ? 30
              : suffix == "T" || suffix == "TiB" ? 40
                                                 : -1;
  if (bad != std::errc() || shift < 0 || number > (~0ull >> shift))
    return base::error("'{}' is not a size; write bytes, or a number with K, M, G or T", text);
  return number << shift;
}

base::Result<Options> read_options(std::uint32_t nodes) {
  Options options;
  std::uint64_t whole = platform::default_space_layout().bytes;
  // A third of a 47-bit address space for all peers' mappings together: what else a node has at
  // fixed addresses lies in its middle (private_stacks.cpp).
  std::uint64_t share = std::bit_floor((std::uint64_t{40} << 40) / nodes);
  options.space_bytes = std::min(whole, share);
  for (auto [name, least, out] : {std::tuple{"TERRANE_UNIT", 4096ull, &options.unit_bytes},
                                  std::tuple{"TERRANE_SPACE", 1ull << 20, &options.space_bytes},
                                  std::tuple{"TERRANE_MEMORY", 1ull << 18, &options.memory_bytes},
                                  std::tuple{"TERRANE_LOG_RANGES", 2ull, &options.log_ranges}}) {
    auto read = read_size(name, least, *out);
    if (!read) return read.error();
  }
  if (!std::has_single_bit(options.unit_bytes) || options.unit_bytes > 65536)
    return base::error("TERRANE_UNIT={}: the coherence unit is a power of two from 4K to 64K",
                       options.unit_bytes);
  if (options.space_bytes > whole) return base::error("TERRANE_SPACE: at most {}G", whole >> 30);
  options.space_bytes = options.space_bytes / 65536 * 65536;
  if (const char* text = std::getenv("TERRANE_FAULT_SOURCE"); text != nullptr && *text != '\0') {
    auto kind = platform::parse_fault_source(text);
    if (!kind) return kind.error();
    options.fault_source = kind.value();
  }
  if (const char* text = std::getenv("TERRANE_CONSISTENCY"); text != nullptr && *text != '\0') {
    options.sequential = std::string_view(text) == "sequential";
    if (!options.sequential && std::string_view(text) != "release")
      return base::error("TERRANE_CONSISTENCY={}: release or sequential", text);
  }
  if (auto read = read_checks(options); !read) return read.error();
  if (const char* text = std::getenv("TERRANE_TRANSPORT"); text != nullptr && *text != '\0')
    options.transport = text;
  if (auto network = read_network(options); !network) return network.error();
  if (const char* text = std::getenv("TERRANE_WAIT"); text != nullptr && *text != '\0') {
    auto mode = waiting::mode_named(text);
    if (!mode) return base::error("TERRANE_WAIT={}: auto, spin or sleep", text);
    options.wait = *mode;
  }
  if (auto patience = read_patience(options); !patience) return patience.error();
  if (const char* text = std::getenv("TERRANE_PREDICT"); text != nullptr) {
    auto prediction = protocol::parse_prediction(text);
    if (!prediction) return prediction.error();
    options.prediction = prediction.value();
  }
  // Other values name the hosts of each cluster; they are for the launcher.
  const char* clusters = std::getenv("TERRANE_CLUSTERS");
  options.clusters = clusters == nullptr || std::string_view(clusters) != "0";
  const char* verbose = std::getenv("TERRANE_VERBOSE");
  options.verbose = verbose != nullptr && std::string_view(verbose) == "1";
  for (auto [name, out] :
       {std::pair{"TERRANE_ONE_SIDED", &options.one_sided},
        std::pair{"TERRANE_MIGRATE", &options.migrate}, std::pair{"TERRANE_MEET", &options.meet},
        std::pair{"TERRANE_STATS", &options.stats},
        std::pair{"TERRANE_RECORD_PAGES", &options.record_pages},
        std::pair{"TERRANE_CHECK_FAILS", &options.check_fails}}) {
    const char* text = std::getenv(name);
    if (text == nullptr || *text == '\0') continue;
    if (std::string_view(text) != "0" && std::string_view(text) != "1")
      return base::error("{}={}: 0 or 1", name, text);
    *out = *text == '1';
  }
  return options;
}

}  // namespace terrane::runtime
