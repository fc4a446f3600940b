#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "protocol/steps/strand.h"

namespace terrane::sim {

// How a range of blocks is called in a trace: "r0[1]", "b17".
using BlockNames = std::function<std::string(protocol::BlockRange)>;

// The kind of the step at which the strand stands, its blocks, if any, and its event, or nullptr.
std::string_view kind_of(const protocol::Strand& strand);
protocol::BlockRange blocks_of(const protocol::Strand& strand);
const protocol::Event* event_of(const protocol::Strand& strand);
// What the step says beside these: "at node 0", "protected". May be empty.
std::string detail_of(const protocol::Strand& strand);
// Its result, in words; empty where such a step has none.
std::string result_of(const protocol::Strand& strand, const BlockNames& names);
// The step as "Kind b3..5 at node 0".
std::string describe(const protocol::Strand& strand);

}  // namespace terrane::sim
