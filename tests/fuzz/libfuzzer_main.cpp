// What libFuzzer calls.
#include "fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  terrane::fuzz::run_one(std::as_bytes(std::span(data, size)));
  return 0;
}
