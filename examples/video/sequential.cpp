#include "frame_memory.h"
#include "local.h"
#include "measure.h"
#include "result.h"

namespace video {

Outcome<> run_sequential(const Options& options) {
  Outcome<Work> work = choose_work(options);
  if (!work.ok()) return Failure{work.sentence()};
  Outcome<std::unique_ptr<Source>> opened = open_source(options.input);
  if (!opened.ok()) return Failure{opened.sentence()};
  Source& source = *opened.value();
  Outcome<std::unique_ptr<Sink>> made = open_sink(options.output, source.shape());
  if (!made.ok()) return Failure{made.sentence()};
  SummedSink sink(std::move(made.value()), source.shape());

  const FrameBuffer in = make_frame(source.room()), out = make_frame(source.shape().bytes());
  ProcessTally process;
  WorkerTally worker;
  process.begin();
  worker.begin();
  for (;;) {
    Outcome<bool> more = source.next(in.get());
    if (!more.ok()) return Failure{more.sentence()};
    if (!more.value()) break;
    worker.frame([&] { work.value().run(source.shape(), in.get(), out.get()); });
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
