#include "local.h"

namespace video {

Outcome<LocalRun> open_local(const Options& options) {
  Outcome<Work> work = choose_work(options);
  if (!work.ok()) return Failure{work.sentence()};
  Outcome<std::unique_ptr<Source>> source = open_source(options.input);
  if (!source.ok()) return Failure{source.sentence()};
  const Shape shape = source.value()->shape();
  Outcome<std::unique_ptr<Sink>> sink = open_sink(options.output, shape);
  if (!sink.ok()) return Failure{sink.sentence()};
  return LocalRun{work.value(), std::move(source.value()),
                  std::make_unique<SummedSink>(std::move(sink.value()), shape)};
}

}  // namespace video
