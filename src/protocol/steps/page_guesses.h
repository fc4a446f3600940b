#pragma once

#include "protocol/steps/effects.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// What sc::Pages asks about synchronisation pages; under the contract of Predictor
// (predict/predictor.h): any answer is correct. These answers never guess.
class PageGuesses {
 public:
  virtual ~PageGuesses() = default;

  // A thread reads the page, which is not here: whether it comes to be written, and is at no other
  // node then.
  virtual bool takes_to_write(std::uint64_t /*block*/) { return false; }
  // The page is here from now on, or may be written now, too.
  virtual void came(std::uint64_t /*block*/, Access) {}
  // It has left.
  virtual void left(std::uint64_t /*block*/) {}
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
