// The message-passing peers: mpirun -n RANKS video_mpi --with sync|async|multiple INPUT. Rank 0 is
// the input task, rank 1 the output task, the others work.
#include <mpi.h>

#include <cstdio>
#include <cstring>

#include "exit_status.h"
#include "mpi/ranks.h"
#include "result.h"

namespace video::mpi {
namespace {

// What rank 0 tells the others before the work.
struct Header {
  Shape shape;
  int failed = 0;
};

struct Ends {
  std::unique_ptr<Source> source;  // at rank 0
  std::unique_ptr<Sink> sink;      // at rank 1
};

// Opens source and sink; every rank returns whether both are there.
bool open_ends(const Options& options, int rank, Ends& ends, Header& header) {
  if (rank == kInputRank) {
    Outcome<std::unique_ptr<Source>> opened = open_source(options.input);
    header.failed = opened.ok() ? 0 : complain(opened.sentence());
    if (opened.ok()) {
      ends.source = std::move(opened.value());
      header.shape = ends.source->shape();
    }
  }
  MPI_Bcast(&header, sizeof header, MPI_BYTE, kInputRank, MPI_COMM_WORLD);
  if (header.failed == 0 && rank == kOutputRank) {
    Outcome<std::unique_ptr<Sink>> made = open_sink(options.output, header.shape);
    header.failed = made.ok() ? 0 : complain(made.sentence());
    if (made.ok()) ends.sink = std::move(made.value());
  }
  MPI_Bcast(&header.failed, sizeof header.failed, MPI_BYTE, kOutputRank, MPI_COMM_WORLD);
  return header.failed == 0;
}

Outcome<> give(const Setting& setting, Source& source, ProcessTally& process) {
  FrameGiver giver(source);
  if (setting.options.with == "sync") return give_synchronous(setting, giver, process);
  const int in_flight = setting.options.with == "async" ? 1 : setting.workers;
  return give_asynchronous(setting, giver, in_flight, process);
}

// Of rank 1: the sum is reported when all is written.
Outcome<> take(const Setting& setting, std::unique_ptr<Sink> sink, ProcessTally& process) {
  SummedSink summed(std::move(sink), setting.shape);
  FrameTaker taker(summed, setting.shape);
  if (setting.options.with == "sync") {
    take_synchronous(setting, taker);
  } else {
    take_asynchronous(setting, taker);
  }
  Outcome<> closed = taker.close();
  process.end();
  if (closed.ok()) {
    print_result(("MPI " + setting.options.with).c_str(), setting.shape, summed.frames(),
                 summed.sum(), process.seconds());
  }
  return closed;
}

int run_ranks(const Setting& setting, int rank, Ends& ends) {
  ProcessTally process;
  Outcome<> outcome = success();
  MPI_Barrier(MPI_COMM_WORLD);
  process.begin();
  if (rank == kInputRank) {
    outcome = give(setting, *ends.source, process);
    process.end();
  } else if (rank == kOutputRank) {
    outcome = take(setting, std::move(ends.sink), process);
  } else {
    WorkerTally tally;
    tally.begin();
    if (setting.options.with == "sync") {
      work_synchronous(setting, tally, process);
    } else {
      work_asynchronous(setting, tally, process);
    }
    process.end();
    tally.print(rank - kFirstWorker);
  }
  process.print(rank == kInputRank ? "input" : rank == kOutputRank ? "output" : "worker");
  return outcome.ok() ? 0 : complain(outcome.sentence());
}

int run(int argc, char** argv) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto refuse = [rank](const std::string& sentence) {
    return rank == 0 ? complain(sentence) : 1;
  };
  Outcome<Options> options = parse_options(argc, argv, {"multiple", "async", "sync"});
  if (!options.ok()) return refuse(options.sentence());
  if (options.value().help) return rank == 0 ? (std::fputs(kUsage, stdout), 0) : 0;
  if (ranks < 3) return refuse("an input, an output and a worker are needed; mpirun -n 3 or more");
  Outcome<Work> work = choose_work(options.value());
  if (!work.ok()) return refuse(work.sentence());
  Ends ends;
  Header header;
  if (!open_ends(options.value(), rank, ends, header)) return 1;
  return run_ranks({options.value(), work.value(), header.shape, ranks - kFirstWorker}, rank, ends);
}

}  // namespace
}  // namespace video::mpi

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = video::mpi::run(argc, argv);
  std::fflush(stdout);
  MPI_Finalize();
  return status;
}
