#pragma once

#include <string>

#include "frame_giver.h"
#include "measure.h"
#include "options.h"
#include "sink.h"
#include "zmq/message.h"

// The paper's pattern: workers ask the input by REQ-REP and push their results to the output by
// PUSH-PULL, with high-water mark 10, but none for the input's answers. "dealer": the same with
// ROUTER-DEALER and two credits.
namespace video::zmq {

constexpr int kMark = 10, kNoMark = 0;
constexpr std::uint64_t kCredits = 2;

// The part of a message before a frame.
struct JobInfo {
  enum Kind : std::uint64_t { kFrame, kHello, kEnd };
  std::uint64_t number = 0;
  Kind kind = kFrame;
};

// What all tasks know.
struct Setting {
  const Options& options;
  Work work;
  Shape shape;

  bool dealer() const { return options.with == "dealer"; }
};

// The endpoint of a task of this job, to bind.
std::string own_endpoint(const Options& options, const char* task);

// Each returns when it has no more to do.
Outcome<> give_by_reply(const Setting& setting, FrameGiver& giver, Socket& socket,
                        ProcessTally& process);
Outcome<> give_by_router(const Setting& setting, FrameGiver& giver, Socket& socket,
                         ProcessTally& process);
void do_work(const Setting& setting, const std::string& input, const std::string& output,
             WorkerTally& tally, ProcessTally& process);
Outcome<> take_frames(const Setting& setting, SummedSink& sink, Socket& socket,
                      ProcessTally& process);

}  // namespace video::zmq
