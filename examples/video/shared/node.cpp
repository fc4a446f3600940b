#include "shared/node.h"

#include <cstdio>
#include <optional>
#include <thread>

#include "exit_status.h"
#include "live/live_sink.h"
#include "result.h"
#include "shared/pipeline.h"

namespace video {
namespace {

// Of node 0.
struct Ends {
  Progress progress;
  std::unique_ptr<Source> source;
  std::unique_ptr<Sink> sink;
};

// Node 0: opens source and sink, and says in `header` whether there is work.
void prepare(const Outcome<Options>& options, int workers, Header& header, Ends& ends) {
  const auto fail = [&header](const std::string& sentence, int status) {
    header.failed = complain(sentence, status);
  };
  if (!options.ok()) return fail(options.sentence(), kUsageError);
  Outcome<Work> work = choose_work(options.value());
  if (!work.ok()) return fail(work.sentence(), kUsageError);
  Outcome<std::unique_ptr<Source>> opened = open_source(options.value().input);
  if (!opened.ok()) return fail(opened.sentence(), kFailed);
  ends.source = std::move(opened.value());
  header.shape = ends.source->shape();
  header.room = ends.source->room();
  header.strips = std::min(options.value().strips, header.shape.height);
  // Each buffer more makes the memory larger that goes through the caches.
  header.buffers = options.value().buffers != 0 ? options.value().buffers
                                                : static_cast<std::uint32_t>(workers) + 2;
  Outcome<std::unique_ptr<Sink>> made = open_sink(options.value().output, header.shape);
  if (!made.ok()) return fail(made.sentence(), kFailed);
  ends.sink = std::move(made.value());
  if (options.value().live == 0) return;
  made = make_live_sink(std::move(ends.sink), header.shape, options.value().live, ends.progress);
  if (!made.ok()) return fail(made.sentence(), kFailed);
  ends.sink = std::move(made.value());
}

// Every node learns what node 0 has opened.
Header exchange(const Job& job, const Outcome<Options>& options, int workers, Ends& ends) {
  Header header;
  auto chunk = job.create<Header>("header", 1);
  if (job.node() == 0) {
    prepare(options, workers, header, ends);
    chunk.write()[0] = header;
  }
  terrane::chunks::barrier("opened", static_cast<std::uint32_t>(job.nodes()));
  return chunk.read()[0];
}

void print_counters() {
  const terrane_chunk_counters read = terrane::chunks::counters();
  std::printf("row=counters messages=%llu transfer_bytes=%llu shared_bytes=%llu again=%llu\n",
              static_cast<unsigned long long>(read.messages_sent),
              static_cast<unsigned long long>(read.data_bytes_sent),
              static_cast<unsigned long long>(read.shared_bytes_sent),
              static_cast<unsigned long long>(read.versions_again));
  std::fflush(stdout);
}

// Runs a part of a node; the sentence of what it could not do. That a stream has ended is no
// failure.
template <typename Task>
Outcome<> attempt(Task task) {
  try {
    return task();
  } catch (const terrane::chunks::Error& error) {
    if (error.status() == TERRANE_EENDED) return success();
    return Failure{error.what()};
  }
}

// After a failure: the others stop, if they have not yet.
void end_frames(const Streams& streams) { terrane_work_end(streams.frames.handle()); }

void begin_together(const Job& job) {
  terrane::chunks::barrier("begin", static_cast<std::uint32_t>(job.nodes()));
}

// A worker of a node, from its subscription on; ends "results" when all is done.
Outcome<> run_worker(const Job* job, const Streams& streams, const Options& options,
                     const Work& work, ProcessTally& process, WorkerTally& tally) {
  const auto input = subscribe_to_frames(streams);
  if (job != nullptr) begin_together(*job);
  if (job != nullptr) process.begin();
  if (do_work(streams, input, work, options.weighted, tally)) streams.results.end();
  return success();
}

// Node 0: an input and an output thread; alone, one that works, too.
int run_ends(const Job& job, const Streams& streams, const Options& options, Ends& ends) {
  const Work work = choose_work(options).value();
  SummedSink sink(std::move(ends.sink), streams.header.shape);
  FrameGiver giver(*ends.source);
  Progress& progress = ends.progress;
  ProcessTally process;
  WorkerTally tally;
  Outcome<> worked = success(), taken = success();
  begin_together(job);
  process.begin();
  std::thread worker;
  if (job.nodes() == 1) {
    worker = std::thread([&] {
      worked = attempt([&] { return run_worker(nullptr, streams, options, work, process, tally); });
    });
  }
  std::thread output([&] {
    taken = attempt([&] { return take_results(streams, sink, progress, job.nodes() - 1); });
    if (!taken.ok()) end_frames(streams);  // the input stops
  });
  Outcome<> given =
      attempt([&] { return give_frames(streams, giver, progress, ends.source->frames()); });
  if (!given.ok()) end_frames(streams);
  output.join();
  if (worker.joinable()) worker.join();
  process.end();
  if (job.nodes() == 1) tally.print(0);
  process.print("ends");
  progress.print();
  print_counters();
  for (const Outcome<>* outcome : {&given, &taken, &worked}) {
    if (!outcome->ok()) return complain(outcome->sentence(), kFailed);
  }
  print_result("chunks", *ends.source, sink.frames(), sink.sum(), process.seconds());
  return kOk;
}

int run_worker_node(const Job& job, const Streams& streams, const Options& options) {
  const Outcome<Work> work = choose_work(options);
  if (!work.ok()) return complain(work.sentence(), kFailed);
  ProcessTally process;
  WorkerTally tally;
  Outcome<> worked =
      attempt([&] { return run_worker(&job, streams, options, work.value(), process, tally); });
  process.end();
  tally.print(job.node());
  process.print("worker");
  print_counters();
  return worked.ok() ? kOk : complain(worked.sentence(), kFailed);
}

}  // namespace

int run_node(const Outcome<Options>& options) {
  const Job job;
  if (options.ok() && options.value().help) {
    if (job.node() == 0) std::fputs(kUsage, stdout);
    return kOk;
  }
  Ends ends;
  const Header header = exchange(job, options, std::max(1, job.nodes() - 1), ends);
  if (header.failed != 0) return header.failed;
  const Streams streams(job, header);
  if (job.node() == 0) return run_ends(job, streams, options.value(), ends);
  return run_worker_node(job, streams, options.value());
}

}  // namespace video
