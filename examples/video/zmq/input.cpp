#include <set>

#include "frame_memory.h"
#include "queue.h"
#include "zmq/tasks.h"

namespace video::zmq {
namespace {

// The buffers of frames: one that is decoded, and two for each worker. A buffer comes back when
// ZeroMQ has sent it.
class Pool {
 public:
  Pool(std::size_t room, std::uint32_t workers) {
    for (std::uint32_t buffer = 0; buffer < kCredits * workers + 1; ++buffer) {
      buffers_.push_back(make_frame(room));
      free_.push(buffers_.back().get());
    }
  }
  std::uint8_t* take() { return *free_.pop(); }
  Message message(std::uint8_t* frame, std::size_t bytes) {
    return Message(frame, bytes, &Pool::release, this);
  }

 private:
  static void release(void* frame, void* pool) {
    static_cast<Pool*>(pool)->free_.push(static_cast<std::uint8_t*>(frame));
  }
  std::vector<FrameBuffer> buffers_;
  Queue<std::uint8_t*> free_;
};

// The pool's messages point into it, so it lives as long as the process.
Pool& make_pool(const Setting& setting, const FrameGiver& giver) {
  static Pool pool(giver.room(), setting.options.workers);
  return pool;
}

}  // namespace

Outcome<> give_by_reply(const Setting& setting, FrameGiver& giver, Socket& socket,
                        ProcessTally& process) {
  Pool& pool = make_pool(setting, giver);
  // Until all workers are there, a worker that asks for a frame is answered to ask again.
  for (std::uint32_t hellos = 0; hellos < setting.options.workers;) {
    if (socket.receive().as<JobInfo>().kind == JobInfo::kHello) ++hellos;
    socket.send(Message::of(JobInfo{0, JobInfo::kHello}));
  }
  process.begin();
  std::uint8_t* frame = pool.take();
  for (JobInfo job; giver.next(frame); ++job.number) {
    socket.receive();  // a worker is ready
    socket.send(Message::of(job), true);
    socket.send(pool.message(frame, setting.shape.bytes()));
    process.sent(sizeof job + setting.shape.bytes());
    frame = pool.take();
  }
  for (std::uint32_t worker = 0; worker < setting.options.workers; ++worker) {
    socket.receive();
    socket.send(Message::of(JobInfo{0, JobInfo::kEnd}));
    process.sent(sizeof(JobInfo));
  }
  return giver.outcome();
}

Outcome<> give_by_router(const Setting& setting, FrameGiver& giver, Socket& socket,
                         ProcessTally& process) {
  Pool& pool = make_pool(setting, giver);
  // A message of a worker: its name, and a job that says hello or gives a credit.
  const auto receive = [&socket] {
    Message name = socket.receive();
    return std::pair(std::move(name), socket.receive().as<JobInfo>().kind);
  };
  // The workers give credits when all of them are there.
  std::vector<Message> names;
  while (names.size() < setting.options.workers) names.push_back(receive().first);
  process.begin();
  for (Message& name : names) {
    socket.send(std::move(name), true);
    socket.send(Message::of(JobInfo{0, JobInfo::kHello}));
  }
  std::uint8_t* frame = pool.take();
  for (JobInfo job; giver.next(frame); ++job.number) {
    Message name = receive().first;
    socket.send(std::move(name), true);
    socket.send(Message::of(job), true);
    socket.send(pool.message(frame, setting.shape.bytes()));
    process.sent(sizeof job + setting.shape.bytes());
    frame = pool.take();
  }
  std::set<std::string> ended;
  while (ended.size() < setting.options.workers) {
    Message name = receive().first;
    const std::string text(reinterpret_cast<const char*>(name.data()), name.size());
    if (!ended.insert(text).second) continue;
    socket.send(std::move(name), true);
    socket.send(Message::of(JobInfo{0, JobInfo::kEnd}));
    process.sent(sizeof(JobInfo));
  }
  return giver.outcome();
}

}  // namespace video::zmq
