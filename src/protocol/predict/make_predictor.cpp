#include "protocol/predict/make_predictor.h"

#include "protocol/predict/adaptive.h"
#include "protocol/predict/four_pages.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

std::unique_ptr<Predictor> make_predictor(const Prediction& prediction, BlockHistory* history,
                                          std::uint64_t blocks, const Tunables& tunables) {
  switch (prediction.kind) {
    case PredictorKind::kNever:
      return std::make_unique<Predictor>();
    case PredictorKind::kFourPages:
      return std::make_unique<FourPages>();
    case PredictorKind::kAdaptive:
      break;
  }
  return std::make_unique<AdaptivePredictor>(history, blocks, tunables, prediction.on);
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
