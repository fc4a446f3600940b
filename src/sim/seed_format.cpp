#include <string_view>

#include "sim/campaign_worker.h"
#include "sim/player.h"
#include "sim/script/settings.h"

namespace terrane::sim {
namespace {

constexpr std::uint64_t kSeeds = 64;

// A hash of what was drawn: FNV-1a.
class Hash {
 public:
  void add(std::uint64_t value) {
    for (int byte = 0; byte < 8; ++byte) add_byte(static_cast<std::uint8_t>(value >> (8 * byte)));
  }
  void add(std::string_view text) {
    for (char c : text) add_byte(static_cast<std::uint8_t>(c));
  }
  std::uint64_t value() const { return value_; }

 private:
  void add_byte(std::uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001b3u; }

  std::uint64_t value_ = 0xcbf29ce484222325u;
};

void add(Hash& hash, const Program& program) {
  for (const Setting& setting : settings()) hash.add(setting.value_in(program.setup));
  for (const RegionPlan& region : program.regions)
    for (std::uint32_t value :
         {region.blocks, region.homes, region.home, region.protocol, region.propagation})
      hash.add(value);
  for (std::uint32_t t = 0; t < program.threads(); ++t) {
    hash.add(program.thread_node[t]);
    for (const Op& op : program.ops[t]) {
      for (std::uint64_t value :
           {std::uint64_t{op.size}, std::uint64_t{op.region}, std::uint64_t{op.at}, op.value})
        hash.add(value);
      hash.add(static_cast<std::uint64_t>(op.kind));
    }
  }
}

void add_pages(Hash& hash, Protocol protocol) {
  CampaignOptions options;
  options.protocol = protocol;
  Player player;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    player.draw(shape_of(options), seed);
    add(hash, player.program());
    hash.add(player.schedule_seed());
  }
}

}  // namespace

std::string seed_format(Protocol protocol) {
  Hash hash;
  if (protocol == Protocol::kMesiChunk) {
    hash.add(drawn_chunks(kSeeds));
  } else if (protocol == Protocol::kWorkStream) {
    hash.add(std::string("1"));  // change the number when WorkHistory draws something else
  } else if (protocol == Protocol::kRouting) {
    hash.add(std::string("routing 2"));  // ... or RoutingHistory
  } else {
    add_pages(hash, protocol);
  }
  std::uint64_t value = hash.value();
  return fmt::format("{:04x}", (value ^ value >> 16 ^ value >> 32 ^ value >> 48) & 0xffff);
}

}  // namespace terrane::sim
