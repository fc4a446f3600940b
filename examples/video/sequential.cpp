#include "frame_memory.h"
#include "local.h"
#include "measure.h"
#include "result.h"

namespace video {

Outcome<> run_sequential(const Options& options) {
  Outcome<LocalRun> opened = open_local(options);
  if (!opened.ok()) return Failure{opened.sentence()};
  const Work& work = opened.value().work;
  Source& source = *opened.value().source;
  SummedSink& sink = *opened.value().sink;

  const FrameBuffer in = make_frame(source.room()), out = make_frame(source.shape().bytes());
  ProcessTally process;
  WorkerTally worker;
  process.begin();
  worker.begin();
  for (;;) {
    Outcome<bool> more = source.next(in.get());
    if (!more.ok()) return Failure{more.sentence()};
    if (!more.value()) break;
    worker.frame([&] { work.run(source.shape(), in.get(), out.get()); });
    Outcome<> put = sink.put(out.get());
    if (!put.ok()) return put;
  }
  Outcome<> closed = sink.close();
  if (!closed.ok()) return closed;
  process.end();
  worker.print(0);
  process.print("all");
  print_result("sequential", source, sink.frames(), sink.sum(), process.seconds());
  return success();
}

}  // namespace video
