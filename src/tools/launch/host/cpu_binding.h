#pragma once

#include <sched.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace terrane::tools {

// The cores that this process may use, each as the set of its usable processors (hardware threads);
// at least one.
std::vector<cpu_set_t> usable_cores();

// What a node is tied to.
enum class Binding : std::uint8_t {
  kNone,
  kCore,   // node i of the host to core i, and from the first core again where there are more nodes
  kShare,  // to an equal share of the cores, where there is a core for each node of the host
  kLast = kShare,
};

// The processors of each of a host's `nodes` nodes, in their order; empty where they are not bound.
// `cores`: at least one.
std::vector<cpu_set_t> bound_processors(Binding binding, const std::vector<cpu_set_t>& cores,
                                        std::size_t nodes);

// Reads a list as the kernel writes it ("0-3,8"); empty when it is not one.
std::vector<int> parse_cpu_list(std::string_view text);

}  // namespace terrane::tools
