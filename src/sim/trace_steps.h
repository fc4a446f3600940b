#pragma once

#include <functional>
#include <string>

#include "protocol/steps/step_kinds.h"

namespace terrane::sim {

// The name of a range of blocks in a trace: "r0[1]", "b17".
using BlockNames = std::function<std::string(protocol::BlockRange)>;

// The blocks of a step, if any, and its event, or nullptr.
protocol::BlockRange blocks_of(const protocol::Step& step);
const protocol::Event* event_of(const protocol::Step& step);
// The details of the step besides kind, blocks and event: "at node 0", "protected". May be empty.
std::string detail_of(const protocol::Step& step);
// The result of the step in words; empty if such a step has none.
std::string result_of(const protocol::Step& step, const BlockNames& names);
// The result as a number, or 0.
std::uint64_t number_of_result(const protocol::Step& step);
// The step as "Kind b3..5 at node 0".
std::string describe(const protocol::Step& step);

}  // namespace terrane::sim
