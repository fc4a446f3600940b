#include "runtime/job_facts.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <string_view>
#include <tuple>

#include "base/architecture.h"

namespace terrane::runtime {
namespace {

constexpr char kByteOrder = std::endian::native == std::endian::little ? 'l' : 'b';

// Another node's text may contain anything: keeps only what can be printed.
template <std::size_t Size>
std::string text_of(const char (&bytes)[Size]) {
  std::string text(bytes, ::strnlen(bytes, Size));
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text;
}

std::string name_of(const NodePlace& place) {
  return fmt::format("node {} on host {}", place.node, place.host);
}

// Nodes of chunks share only bytes and structures. Nodes of other interfaces also share addresses
// of code, or results that only one architecture computes.
bool may_differ(const JobFacts& mine, const JobFacts& other) {
  return text_of(mine.interface) == "chunks" &&
         base::go_together(text_of(mine.architecture), text_of(other.architecture));
}

}  // namespace

JobFacts job_facts(const Options& options, std::string_view interface) {
  JobFacts facts;
  utsname system{};
  ::uname(&system);
  facts.byte_order = kByteOrder;
  std::string_view(TERRANE_VERSION).copy(facts.version, sizeof facts.version);
  std::string_view(system.machine).copy(facts.architecture, sizeof facts.architecture);
  interface.copy(facts.interface, sizeof facts.interface);
  facts.unit_bytes = options.unit_bytes;
  facts.space_bytes = options.space_bytes;
  facts.page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return facts;
}

base::Result<> compare_facts(const JobFacts& mine, const NodePlace& here,
                             std::span<const std::byte> theirs, const NodePlace& there) {
  JobFacts other;
  if (theirs.size() < sizeof other) {
    return base::error("{} did not introduce itself to {}: they run different versions of Terrane",
                       name_of(there), name_of(here));
  }
  std::memcpy(&other, theirs.data(), sizeof other);
  if (other.byte_order != mine.byte_order) {
    return base::error(
        "{} has another byte order than {}; the hosts of a job must be of one architecture",
        name_of(there), name_of(here));
  }
  std::string architecture = text_of(mine.architecture);
  for (auto [what, a, b, cure] :
       {std::tuple{"Terrane", text_of(mine.version), text_of(other.version),
                   "install one version on all hosts"},
        std::tuple{"the architecture", architecture,
                   may_differ(mine, other) ? architecture : text_of(other.architecture),
                   "the nodes of a job must be of one architecture, or of x86_64 and aarch64 where "
                   "they share chunks"},
        std::tuple{
            "the interface", text_of(mine.interface), text_of(other.interface),
            "all nodes of a job use the same ones, and begin with them in the same order"}}) {
    if (a == b) continue;
    return base::error("{} is {} at {}, but {} at {}; {}", what, a, name_of(here), b,
                       name_of(there), cure);
  }
  for (auto [what, a, b, cure] :
       {std::tuple{"TERRANE_UNIT", mine.unit_bytes, other.unit_bytes, "set it for all nodes: -x"},
        std::tuple{"TERRANE_SPACE", mine.space_bytes, other.space_bytes,
                   "set it for all nodes: -x"},
        std::tuple{"the page size", mine.page_bytes, other.page_bytes,
                   "use hosts whose kernels have one page size"}}) {
    if (a == b) continue;
    return base::error("{} is {} at {}, but {} at {}; {}", what, a, name_of(here), b,
                       name_of(there), cure);
  }
  return {};
}

}  // namespace terrane::runtime
