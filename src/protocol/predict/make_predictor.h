#pragma once

#include <memory>

#include "protocol/predict/block_history.h"
#include "protocol/predict/heuristics.h"
#include "protocol/predict/predictor.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Makes the predictor of a node. history: zeroed, one entry for each of `blocks`; owned by the
// caller, and must outlive the predictor. tunables: those that the node's Hlrc has (tuned()).
std::unique_ptr<Predictor> make_predictor(const Prediction& prediction, BlockHistory* history,
                                          std::uint64_t blocks, const Tunables& tunables);

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
