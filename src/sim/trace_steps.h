#pragma once

#include <functional>
#include <string>

#include "protocol/steps/strand.h"

namespace terrane::sim {

// How a range of blocks is called in a trace: "r0[1]", "b17".
using BlockNames = std::function<std::string(protocol::BlockRange)>;

// What a step says beside its kind and its blocks: "at node 0", "protected". May be empty.
std::string detail_of(const protocol::Step& step);
// The result that the strand's step has left in it, in words; empty where such a step has none.
std::string result_of(const protocol::Step& step, const protocol::Strand& strand,
                      const BlockNames& names);
// The step as "Kind b3..5 at node 0".
std::string describe(const protocol::Step& step);

}  // namespace terrane::sim
