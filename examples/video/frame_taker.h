#pragma once

#include <string>
#include <vector>

#include "frame_memory.h"
#include "in_order.h"
#include "sink.h"

namespace video {

// The end of an output task that receives into buffers of its own: gives buffers, restores order,
// puts frames in the sink. After a failure of the sink it still takes frames, and keeps the
// sentence.
class FrameTaker {
 public:
  FrameTaker(SummedSink& sink, Shape shape) : sink_(sink), shape_(shape) {}

  // A buffer for a frame that comes: a used one, if there is one.
  FrameBuffer buffer() {
    if (free_.empty()) return make_frame(shape_.bytes());
    FrameBuffer buffer = std::move(free_.back());
    free_.pop_back();
    return buffer;
  }
  void add(std::uint64_t number, FrameBuffer frame) {
    order_.add(number, std::move(frame));
    while (std::optional<FrameBuffer> next = order_.next()) {
      if (sentence_.empty()) note(sink_.put(next->get()));
      free_.push_back(std::move(*next));
    }
  }
  Outcome<> close() {
    if (sentence_.empty()) note(sink_.close());
    return sentence_.empty() ? success() : Outcome<>(Failure{sentence_});
  }

 private:
  void note(const Outcome<>& outcome) {
    if (!outcome.ok()) sentence_ = outcome.sentence();
  }
  SummedSink& sink_;
  Shape shape_;
  std::vector<FrameBuffer> free_;
  InOrder<FrameBuffer> order_;
  std::string sentence_;
};

}  // namespace video
