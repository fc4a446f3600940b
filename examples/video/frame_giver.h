#pragma once

#include <memory>
#include <string>

#include "source.h"

namespace video {

// The source, as an input task sees it: after a failure there is no other frame, and the sentence
// is kept.
class FrameGiver {
 public:
  explicit FrameGiver(Source& source) : source_(source) {}
  std::size_t room() const { return source_.room(); }
  // False: no other frame.
  bool next(std::uint8_t* frame) {
    Outcome<bool> more = source_.next(frame);
    if (!more.ok()) sentence_ = more.sentence();
    return more.ok() && more.value();
  }
  Outcome<> outcome() const {
    return sentence_.empty() ? success() : Outcome<>(Failure{sentence_});
  }

 private:
  Source& source_;
  std::string sentence_;
};

}  // namespace video
