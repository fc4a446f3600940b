#include <array>

#include "frame_memory.h"
#include "mpi/ranks.h"

namespace video::mpi {

void work_synchronous(const Setting& setting, WorkerTally& tally, ProcessTally& process) {
  const FrameBuffer in = make_frame(setting.shape.bytes());
  const FrameBuffer out = make_frame(setting.shape.bytes());
  JobInfo job;
  for (;;) {
    MPI_Send(nullptr, 0, MPI_BYTE, kInputRank, kReadyTag, MPI_COMM_WORLD);
    process.sent(0);
    MPI_Recv(&job, sizeof job, MPI_BYTE, kInputRank, kJobTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (job.ends != 0) break;
    MPI_Recv(in.get(), setting.bytes(), MPI_BYTE, kInputRank, kFrameTag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    tally.frame([&] { setting.work.run(setting.shape, in.get(), out.get()); });
    MPI_Send(&job, sizeof job, MPI_BYTE, kOutputRank, kResultTag, MPI_COMM_WORLD);
    MPI_Send(out.get(), setting.bytes(), MPI_BYTE, kOutputRank, kResultFrameTag, MPI_COMM_WORLD);
    process.sent(sizeof job);
    process.sent(setting.shape.bytes());
  }
  MPI_Send(&job, sizeof job, MPI_BYTE, kOutputRank, kResultTag, MPI_COMM_WORLD);
  process.sent(sizeof job);
}

namespace {

// One of the two places of a worker: a frame that is received, and a result that is sent.
struct Place {
  FrameBuffer in, out;
  JobInfo job, result;
  MPI_Request receives[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Request sends[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Request ready = MPI_REQUEST_NULL;

  // Says that the worker is ready for a job, which comes to this place.
  void request(const Setting& setting) {
    wait(ready);
    MPI_Irecv(&job, sizeof job, MPI_BYTE, kInputRank, kJobTag, MPI_COMM_WORLD, &receives[0]);
    MPI_Irecv(in.get(), setting.bytes(), MPI_BYTE, kInputRank, kFrameTag, MPI_COMM_WORLD,
              &receives[1]);
    MPI_Isend(nullptr, 0, MPI_BYTE, kInputRank, kReadyTag, MPI_COMM_WORLD, &ready);
  }
  // False: no job came, but the end.
  bool arrived() {
    wait(receives[0]);
    if (job.ends == 0) {
      wait(receives[1]);
      return true;
    }
    MPI_Cancel(&receives[1]);
    wait(receives[1]);
    return false;
  }
  void send(const Setting& setting) {
    result = job;
    MPI_Isend(&result, sizeof result, MPI_BYTE, kOutputRank, kResultTag, MPI_COMM_WORLD, &sends[0]);
    MPI_Isend(out.get(), setting.bytes(), MPI_BYTE, kOutputRank, kResultFrameTag, MPI_COMM_WORLD,
              &sends[1]);
  }
  void finish() {
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
    wait(ready);
  }
  // Moves messages of the library; call during the work.
  void poll() {
    int done = 0;
    MPI_Testall(2, receives, &done, MPI_STATUSES_IGNORE);
  }
};

}  // namespace

// The next frame is on its way while this one is processed, and the result before it, too.
void work_asynchronous(const Setting& setting, WorkerTally& tally, ProcessTally& process) {
  std::array<Place, 2> places;
  for (Place& place : places) {
    place.in = make_frame(setting.shape.bytes());
    place.out = make_frame(setting.shape.bytes());
  }
  places[0].request(setting);
  process.sent(0);
  for (std::size_t number = 0;; ++number) {
    Place& now = places[number % 2];
    Place& next = places[(number + 1) % 2];
    if (!now.arrived()) break;
    next.request(setting);
    process.sent(0);
    MPI_Waitall(2, now.sends, MPI_STATUSES_IGNORE);
    tally.frame([&] {
      setting.work.run_polling(setting.shape, now.in.get(), now.out.get(), [&] { next.poll(); });
    });
    now.send(setting);
    process.sent(sizeof now.result);
    process.sent(setting.shape.bytes());
  }
  for (Place& place : places) place.finish();
  const JobInfo last{0, 1};
  MPI_Send(&last, sizeof last, MPI_BYTE, kOutputRank, kResultTag, MPI_COMM_WORLD);
  process.sent(sizeof last);
}

}  // namespace video::mpi
