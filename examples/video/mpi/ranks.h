#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "frame_giver.h"
#include "frame_taker.h"
#include "measure.h"
#include "options.h"

// Rank 0 reads, rank 1 restores order and writes, the others work (the paper's pattern): a worker
// sends "ready" to the input, the input sends a job and then its frame, and the worker sends a job
// and then its result to the output.
namespace video::mpi {

constexpr int kInputRank = 0, kOutputRank = 1, kFirstWorker = 2;
constexpr int kReadyTag = 1, kJobTag = 2, kFrameTag = 3, kResultTag = 4, kResultFrameTag = 5;

// The control message before a frame.
struct JobInfo {
  std::uint64_t number = 0;
  std::uint64_t ends = 0;  // 1: no frame follows, and no other job
};

// What all ranks know.
struct Setting {
  const Options& options;
  Work work;
  Shape shape;
  int workers = 0;

  int bytes() const { return static_cast<int>(shape.bytes()); }
};

// A request that has completed or not, and what it needs until then.
inline void wait(MPI_Request& request) { MPI_Wait(&request, MPI_STATUS_IGNORE); }
inline bool test(MPI_Request& request) {
  int done = 0;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

// Each counts what it sends in `process`. The output returns the failure of the sink; the input
// that of the source. Both take part until the end all the same.
Outcome<> give_synchronous(const Setting& setting, FrameGiver& giver, ProcessTally& process);
// At most one send is in flight, or `buffers` of them.
Outcome<> give_asynchronous(const Setting& setting, FrameGiver& giver, int buffers,
                            ProcessTally& process);
void work_synchronous(const Setting& setting, WorkerTally& tally, ProcessTally& process);
void work_asynchronous(const Setting& setting, WorkerTally& tally, ProcessTally& process);

void take_synchronous(const Setting& setting, FrameTaker& taker);
void take_asynchronous(const Setting& setting, FrameTaker& taker);

}  // namespace video::mpi
