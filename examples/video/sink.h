#pragma once

#include <memory>
#include <string>

#include "checksum.h"
#include "frame.h"
#include "outcome.h"

namespace video {

// Takes the finished pictures in order.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual Outcome<> put(const std::uint8_t* frame) = 0;
  // After the last picture: everything is written.
  virtual Outcome<> close() { return success(); }
};

// `output`: "" (pictures are only summed), FILE.y4m, FILE.gray (bytes alone), or with libavformat a
// playable FILE of any other ending.
Outcome<std::unique_ptr<Sink>> open_sink(const std::string& output, Shape shape);

// What open_sink chooses from.
Outcome<std::unique_ptr<Sink>> open_raw(const std::string& path, Shape shape, bool y4m);
Outcome<std::unique_ptr<Sink>> open_encoder(const std::string& path, Shape shape);

// A sink that also counts and sums what it gets.
class SummedSink {
 public:
  SummedSink(std::unique_ptr<Sink> sink, Shape shape) : sink_(std::move(sink)), shape_(shape) {}
  Outcome<> put(const std::uint8_t* frame) {
    checksum_.add(frame, shape_.bytes());
    ++frames_;
    return sink_->put(frame);
  }
  Outcome<> close() { return sink_->close(); }
  std::uint64_t frames() const { return frames_; }
  std::uint64_t sum() const { return checksum_.value(); }

 private:
  std::unique_ptr<Sink> sink_;
  Shape shape_;
  Checksum checksum_;
  std::uint64_t frames_ = 0;
};

}  // namespace video
