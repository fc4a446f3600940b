// Lists of hosts: -H, hostfiles, and what Slurm tells of slots.
#include "base/check.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_reader.h"
#include "fuzz/input_writer.h"
#include "tools/launch/host_list.h"

namespace terrane::fuzz {
namespace {

using namespace tools;

void check_placement(const std::vector<HostSlots>& hosts, std::uint32_t nodes) {
  for (const HostSlots& host : hosts) {
    TERRANE_CHECK(!host.name.empty() && host.name[0] != '-' && host.slots > 0,
                  "a host has a name that is no option, and room");
  }
  for (MapBy by : {MapBy::kSlot, MapBy::kNode}) {
    bootstrap::JobMap map = place_nodes(hosts, nodes, by);
    TERRANE_CHECK(map.nodes() == nodes, "every node has a place");
    for (std::uint32_t host : map.host_of) {
      TERRANE_CHECK(host < map.names.size(), "its place is a host");
    }
  }
}

}  // namespace

void run_one(std::span<const std::byte> input) {
  InputReader reader(input);
  std::uint32_t way = reader.below(3);
  std::uint32_t nodes = 1 + reader.below(64);
  std::span<const std::byte> rest = reader.rest();
  std::string text(reinterpret_cast<const char*>(rest.data()), rest.size());
  if (way == 0) {
    if (auto hosts = parse_host_list(text)) check_placement(hosts.value(), nodes);
  } else if (way == 1) {
    if (auto hosts = parse_host_file(text, "hosts")) check_placement(hosts.value(), nodes);
  } else {
    for (std::uint32_t slots : parse_slurm_counts(text)) {
      TERRANE_CHECK(slots > 0, "a count of slots");
    }
  }
}

std::vector<Input> seeds() {
  return {InputWriter().byte(0).byte(3).text("a,b:2,c.example:16,b,user@d").input(),
          InputWriter()
              .byte(1)
              .byte(9)
              .text("# two\nalpha slots=4\nbeta max_slots=8 # x\n\nfe80::1\n")
              .input(),
          InputWriter().byte(2).byte(0).text("2(x3),1,72(x2)").input()};
}

}  // namespace terrane::fuzz
