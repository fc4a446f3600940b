#include "conformance.h"

namespace terrane::conformance {
namespace {

std::vector<std::string> all_transports() {
  auto names = transport::transport_names();
  return {names.begin(), names.end()};
}

std::vector<std::string> peer_transports() {
  auto names = all_transports();
  std::erase(names, "self");
  for (const char* more : {"mixed_near", "mixed_routed", "routed_tls"}) names.push_back(more);
  return names;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(Transports, LoopbackTest, ::testing::ValuesIn(all_transports()),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Transports, PeersTest, ::testing::ValuesIn(peer_transports()), test_name);

}  // namespace
}  // namespace terrane::conformance
