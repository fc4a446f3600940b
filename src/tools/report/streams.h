#pragma once

#include <functional>
#include <vector>

#include "tools/report/job_log.h"

namespace terrane::tools::report {

// A version of a pushed chunk on its way from the node that published it to a node that took it.
// Times in nanoseconds of the job; nodes as places in JobLog::logs.
struct Delivery {
  std::uint64_t object = 0;
  std::uint32_t version = 0;  // the low half of its number
  std::size_t from = 0, to = 0;
  std::uint32_t from_thread = 0, to_thread = 0;
  std::uint64_t published_ns = 0, taken_ns = 0;

  // None where the clocks of two hosts say that it was taken before it was published.
  std::uint64_t latency_ns() const { return taken_ns > published_ns ? taken_ns - published_ns : 0; }
};
// All of them, by the order in which each node took them.
void each_delivery(const JobLog& job, const std::function<void(const Delivery&)>& tell);

// What one node took of a stream.
struct Subscriber {
  std::size_t log = 0;          // its place in JobLog::logs
  std::uint64_t left_out = 0;   // versions
  std::vector<Delivery> taken;  // whose publication is in a log
  std::uint64_t unknown = 0;    // taken versions whose publication is in no log

  // Which so many percent of the deliveries did not exceed.
  std::uint64_t latency_ns(unsigned percent) const;
};

// A pushed chunk, with its subscribers.
struct Stream {
  std::uint64_t object = 0;
  std::uint64_t bytes = 0;               // published
  std::vector<std::uint64_t> published;  // when, in order
  std::vector<Subscriber> subscribers;   // by node
};
// Streams with the most versions first; not those that barriers and signals are made of.
std::vector<Stream> streams(const JobLog& job);

// The subscriber with the longest median latency of all streams that have several, with its stream;
// nullptr if there is none, or if no other subscriber of the stream is faster by half.
struct Slowest {
  const Stream* stream = nullptr;
  const Subscriber* subscriber = nullptr;
  std::uint64_t others_ns = 0;  // the median latency of the stream's fastest subscriber
};
Slowest slowest(const std::vector<Stream>& all);

}  // namespace terrane::tools::report
