#include "runtime/chunks/settings.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "platform/cgroup_memory.h"
#include "platform/mapping.h"
#include "runtime/chunks/chunk_trace.h"

namespace terrane::runtime::chunks {
namespace {

constexpr std::uint64_t kLeastRegion = 256ull << 20;

std::uint64_t machine_bytes() {
  struct sysinfo machine {};
  std::uint64_t all = 4ull << 30;
  if (::sysinfo(&machine) == 0) all = std::uint64_t{machine.totalram} * machine.mem_unit;
  return std::min(all, platform::cgroup_memory_left());
}

}  // namespace

base::Result<std::uint32_t> parse_report_every(std::string_view name, std::string_view text) {
  std::uint32_t every = 0;
  const char* last = text.data() + text.size();
  auto [end, bad] = std::from_chars(text.data(), last, every);
  if (bad != std::errc() || end != last || every == 0 || every > ChunkTrace::kMostEvery)
    return base::error("{} {}: must be a number from 1 (every scope) to {}", name, text,
                       ChunkTrace::kMostEvery);
  return every;
}

base::Result<Settings> read_settings(const Options& options, std::uint32_t nodes_on_host) {
  Settings settings;
  if (const char* text = std::getenv("TERRANE_SERVERS")) settings.servers = text;
  if (const char* folder = std::getenv("TERRANE_REPORT")) settings.report = folder;
  const char* every_text = std::getenv("TERRANE_REPORT_EVERY");
  if (every_text != nullptr && *every_text != '\0') {
    auto every = parse_report_every("TERRANE_REPORT_EVERY", every_text);
    if (!every) return every.error();
    settings.report_every = every.value();
  }
  const char* on_death = std::getenv("TERRANE_ON_DEATH");
  const char* patience = std::getenv("TERRANE_PATIENCE");
  if (patience != nullptr && *patience != '\0') settings.patience_ms = options.patience_ms;
  settings.survives = on_death != nullptr && std::string_view(on_death) == "survive";
  std::uint64_t memory =
      options.memory_bytes != ~0ull ? options.memory_bytes : machine_bytes() / 2 / nodes_on_host;
  settings.budget_bytes = settings.home_bytes = memory / 2;
  // More than `memory`: sizes are rounded up, and a buffer that another node reads is not reused at
  // once.
  std::uint64_t region =
      std::clamp(4 * memory, kLeastRegion, platform::comfortable_mapping_bytes());
  while (region > kLeastRegion && !platform::address_space_has(region * nodes_on_host)) region /= 2;
  settings.region_bytes = region;
  return settings;
}

}  // namespace terrane::runtime::chunks
