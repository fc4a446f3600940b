#include "mpi/ranks.h"

namespace video::mpi {

void take_synchronous(const Setting& setting, FrameTaker& taker) {
  for (int running = setting.workers; running > 0;) {
    JobInfo job;
    MPI_Status status;
    MPI_Recv(&job, sizeof job, MPI_BYTE, MPI_ANY_SOURCE, kResultTag, MPI_COMM_WORLD, &status);
    if (job.ends != 0) {
      --running;
      continue;
    }
    FrameBuffer frame = taker.buffer();
    MPI_Recv(frame.get(), setting.bytes(), MPI_BYTE, status.MPI_SOURCE, kResultFrameTag,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    taker.add(job.number, std::move(frame));
  }
}

// For each worker either the control message or the frame behind it is awaited; all at a time.
void take_asynchronous(const Setting& setting, FrameTaker& taker) {
  struct Receiving {
    JobInfo job;
    FrameBuffer frame;  // null: the control message is awaited
  };
  const auto workers = static_cast<std::size_t>(setting.workers);
  std::vector<Receiving> from(workers);
  std::vector<MPI_Request> requests(workers, MPI_REQUEST_NULL);
  const auto await_job = [&](std::size_t worker) {
    MPI_Irecv(&from[worker].job, sizeof(JobInfo), MPI_BYTE, kFirstWorker + static_cast<int>(worker),
              kResultTag, MPI_COMM_WORLD, &requests[worker]);
  };
  for (std::size_t worker = 0; worker < workers; ++worker) await_job(worker);
  for (;;) {
    int index = 0;
    MPI_Waitany(setting.workers, requests.data(), &index, MPI_STATUS_IGNORE);
    if (index == MPI_UNDEFINED) return;  // all workers have ended
    const auto worker = static_cast<std::size_t>(index);
    Receiving& receiving = from[worker];
    if (receiving.frame) {
      const std::uint64_t number = receiving.job.number;
      FrameBuffer frame = std::move(receiving.frame);
      await_job(worker);
      taker.add(number, std::move(frame));
    } else if (receiving.job.ends == 0) {
      receiving.frame = taker.buffer();
      MPI_Irecv(receiving.frame.get(), setting.bytes(), MPI_BYTE, kFirstWorker + index,
                kResultFrameTag, MPI_COMM_WORLD, &requests[worker]);
    }
  }
}

}  // namespace video::mpi
