#pragma once

#include <memory>

#include "protocol/predict/block_history.h"
#include "protocol/predict/heuristics.h"
#include "protocol/predict/predictor.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// The predictor of a node. history: zeroed, one for each of `blocks`, the caller's for as long as
// the predictor lives; tunables: those that its Hlrc has, too (tuned()).
std::unique_ptr<Predictor> make_predictor(const Prediction& prediction, BlockHistory* history,
                                          std::uint64_t blocks, const Tunables& tunables);

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
