#include <atomic>
#include <string>
#include <thread>

#include "frame_memory.h"
#include "in_order.h"
#include "local.h"
#include "measure.h"
#include "queue.h"
#include "result.h"

namespace video {
namespace {

// A buffer of the pool: a frame and its result.
struct Buffer {
  FrameBuffer in, out;
  std::uint64_t number = 0;
};

// What the threads share. The first failure ends all of them.
class Pipeline {
 public:
  Pipeline(const Options& options, Work work, Source& source, SummedSink& sink)
      : work_(work), source_(source), sink_(sink), tallies_(options.workers) {
    for (std::uint32_t buffer = 0; buffer < 2 * options.workers + 2; ++buffer) {
      buffers_.push_back({make_frame(source.room()), make_frame(source.shape().bytes())});
    }
    for (Buffer& buffer : buffers_) free_.push(&buffer);
    running_ = options.workers;
  }

  Outcome<> run() {
    process_.begin();
    std::thread output([this] { write_frames(); });
    std::vector<std::thread> workers;
    for (WorkerTally& tally : tallies_) workers.emplace_back([this, &tally] { do_work(tally); });
    read_frames();
    for (std::thread& worker : workers) worker.join();
    output.join();
    if (sentence_.empty()) note(sink_.close());
    process_.end();
    return sentence_.empty() ? success() : Outcome<>(Failure{sentence_});
  }

  void print() const {
    for (std::size_t worker = 0; worker < tallies_.size(); ++worker) {
      tallies_[worker].print(static_cast<int>(worker));
    }
    process_.print("all");
    print_result("threads", source_, sink_.frames(), sink_.sum(), process_.seconds());
  }

 private:
  void read_frames() {
    std::uint64_t number = 0;
    while (std::optional<Buffer*> buffer = free_.pop()) {
      Outcome<bool> more = source_.next((*buffer)->in.get());
      if (!more.ok()) note(Failure{more.sentence()});
      if (!more.ok() || !more.value()) break;
      (*buffer)->number = number++;
      todo_.push(*buffer);
    }
    todo_.close();
  }

  void do_work(WorkerTally& tally) {
    tally.begin();
    while (std::optional<Buffer*> buffer = todo_.pop()) {
      tally.frame([&] { work_.run(source_.shape(), (*buffer)->in.get(), (*buffer)->out.get()); });
      done_.push(*buffer);
    }
    if (running_.fetch_sub(1) == 1) done_.close();
  }

  void write_frames() {
    InOrder<Buffer*> order;
    bool failed = false;
    while (std::optional<Buffer*> buffer = done_.pop()) {
      order.add((*buffer)->number, *buffer);
      while (std::optional<Buffer*> next = order.next()) {
        if (failed) continue;
        Outcome<> put = sink_.put((*next)->out.get());
        failed = !put.ok();
        note(std::move(put));
        if (failed) {
          free_.close();  // the input ends when it has used the buffers that are free now
        } else {
          free_.push(*next);
        }
      }
    }
  }

  void note(Outcome<> outcome) {
    std::lock_guard guard(mutex_);
    if (!outcome.ok() && sentence_.empty()) sentence_ = outcome.sentence();
  }

  Work work_;
  Source& source_;
  SummedSink& sink_;
  std::vector<Buffer> buffers_;
  Queue<Buffer*> free_, todo_, done_;
  std::vector<WorkerTally> tallies_;
  std::atomic<std::uint32_t> running_ = 0;
  ProcessTally process_;
  std::mutex mutex_;
  std::string sentence_;
};

}  // namespace

Outcome<> run_threads(const Options& options) {
  Outcome<LocalRun> opened = open_local(options);
  if (!opened.ok()) return Failure{opened.sentence()};
  const Work& work = opened.value().work;
  Source& source = *opened.value().source;
  SummedSink& sink = *opened.value().sink;

  Pipeline pipeline(options, work, source, sink);
  Outcome<> run = pipeline.run();
  if (run.ok()) pipeline.print();
  return run;
}

}  // namespace video
