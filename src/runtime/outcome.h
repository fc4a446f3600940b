#pragma once

#include <string>

namespace terrane::runtime {

// Why a call failed. The numbers are those of terrane_status in <terrane/status.h>.
enum class Status : int {
  kOk = 0,
  kInvalid = -1,
  kState = -2,
  kNoMemory = -3,
  kAddress = -4,
  kNotHeld = -5,
  kSystem = -6,
  kBusy = -7,
  kTimedOut = -8,
  kUnknown = -9,
  kMismatch = -10,
  kEnded = -11,
  kWritten = -12,
  kDied = -13,
  kFull = -14,
};

// A call's outcome: a status, and the error message if the call failed.
struct Outcome {
  Status status = Status::kOk;
  std::string message;

  bool ok() const { return status == Status::kOk; }
};

}  // namespace terrane::runtime
