#include "frame_memory.h"
#include "mpi/ranks.h"

namespace video::mpi {
namespace {

// Waits for a worker that is ready for a job.
int ready_worker() {
  MPI_Status status;
  MPI_Recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, kReadyTag, MPI_COMM_WORLD, &status);
  return status.MPI_SOURCE;
}

// Tells each worker, when it is ready for another job, that there is none.
void end_workers(const Setting& setting, ProcessTally& process) {
  const JobInfo last{0, 1};
  for (int worker = 0; worker < setting.workers; ++worker) {
    MPI_Send(&last, sizeof last, MPI_BYTE, ready_worker(), kJobTag, MPI_COMM_WORLD);
    process.sent(sizeof last);
  }
}

// A buffer and the sends that use it.
struct Sending {
  FrameBuffer frame;
  JobInfo job;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

  bool finished() {
    int done = 0;
    MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    return done != 0;
  }
};

// A buffer whose sends have finished; waits for one.
Sending& finished_buffer(std::vector<Sending>& buffers) {
  std::vector<MPI_Request> requests;
  for (Sending& buffer : buffers) {
    if (buffer.finished()) return buffer;
    requests.push_back(buffer.requests[1]);
  }
  int index = 0;
  MPI_Waitany(static_cast<int>(requests.size()), requests.data(), &index, MPI_STATUS_IGNORE);
  Sending& buffer = buffers[static_cast<std::size_t>(index)];
  buffer.requests[1] = MPI_REQUEST_NULL;  // MPI_Waitany has freed it
  wait(buffer.requests[0]);
  return buffer;
}

}  // namespace

Outcome<> give_synchronous(const Setting& setting, FrameGiver& giver, ProcessTally& process) {
  const FrameBuffer frame = make_frame(giver.room());
  for (JobInfo job; giver.next(frame.get()); ++job.number) {
    const int worker = ready_worker();
    MPI_Send(&job, sizeof job, MPI_BYTE, worker, kJobTag, MPI_COMM_WORLD);
    MPI_Send(frame.get(), setting.bytes(), MPI_BYTE, worker, kFrameTag, MPI_COMM_WORLD);
    process.sent(sizeof job);
    process.sent(setting.shape.bytes());
  }
  end_workers(setting, process);
  return giver.outcome();
}

Outcome<> give_asynchronous(const Setting& setting, FrameGiver& giver, int in_flight,
                            ProcessTally& process) {
  // One buffer more than may be in flight: the next frame is decoded there.
  std::vector<Sending> buffers(static_cast<std::size_t>(in_flight) + 1);
  for (Sending& buffer : buffers) buffer.frame = make_frame(giver.room());
  for (std::uint64_t number = 0;; ++number) {
    Sending& buffer = finished_buffer(buffers);
    if (!giver.next(buffer.frame.get())) break;
    buffer.job = {number, 0};
    const int worker = ready_worker();
    // With one buffer, the send before this one must have finished.
    if (in_flight == 1) {
      for (Sending& other : buffers) MPI_Waitall(2, other.requests, MPI_STATUSES_IGNORE);
    }
    MPI_Isend(&buffer.job, sizeof buffer.job, MPI_BYTE, worker, kJobTag, MPI_COMM_WORLD,
              &buffer.requests[0]);
    MPI_Isend(buffer.frame.get(), setting.bytes(), MPI_BYTE, worker, kFrameTag, MPI_COMM_WORLD,
              &buffer.requests[1]);
    process.sent(sizeof buffer.job);
    process.sent(setting.shape.bytes());
  }
  end_workers(setting, process);
  for (Sending& buffer : buffers) MPI_Waitall(2, buffer.requests, MPI_STATUSES_IGNORE);
  return giver.outcome();
}

}  // namespace video::mpi
