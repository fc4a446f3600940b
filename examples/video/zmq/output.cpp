#include "in_order.h"
#include "zmq/tasks.h"

namespace video::zmq {

Outcome<> take_frames(const Setting& setting, SummedSink& sink, Socket& socket,
                      ProcessTally& process) {
  InOrder<Message> order;
  Outcome<> outcome = success();
  std::uint32_t hellos = 0;
  for (std::uint32_t ends = 0; ends < setting.options.workers;) {
    const JobInfo job = socket.receive().as<JobInfo>();
    if (job.kind == JobInfo::kHello) {  // a worker has connected, before or after others began
      if (hellos++ == 0) process.begin();
      continue;
    }
    if (job.kind == JobInfo::kEnd) {
      ++ends;
      continue;
    }
    order.add(job.number, socket.receive());
    while (std::optional<Message> next = order.next()) {
      if (outcome.ok()) outcome = sink.put(next->data());
    }
  }
  return outcome.ok() ? sink.close() : outcome;
}

}  // namespace video::zmq
