#include "frame_memory.h"
#include "queue.h"
#include "zmq/tasks.h"

namespace video::zmq {
namespace {

// Results that ZeroMQ sends; at most as many as the mark lets wait, and one that is written.
class Results {
 public:
  explicit Results(std::size_t bytes) : bytes_(bytes) {}
  std::uint8_t* take() {
    if (std::optional<std::uint8_t*> frame = free_.try_pop()) return *frame;
    return make_frame(bytes_).release();  // comes back to free_, and is used until the end
  }
  Message message(std::uint8_t* frame) { return Message(frame, bytes_, &Results::release, this); }

 private:
  static void release(void* frame, void* results) {
    static_cast<Results*>(results)->free_.push(static_cast<std::uint8_t*>(frame));
  }
  std::size_t bytes_;
  Queue<std::uint8_t*> free_;
};

}  // namespace

void do_work(const Setting& setting, const std::string& input, const std::string& output,
             WorkerTally& tally, ProcessTally& process) {
  static Results results(setting.shape.bytes());  // ZeroMQ gives buffers back until the end
  Context context;
  Socket jobs(context, setting.dealer() ? ZMQ_DEALER : ZMQ_REQ, kMark);
  Socket done(context, ZMQ_PUSH, kMark);
  jobs.drop_at_close();  // at the end there are credits that nobody takes
  jobs.connect(input);
  done.connect(output);
  const JobInfo hello{0, JobInfo::kHello};
  done.send(Message::of(hello));
  jobs.send(Message::of(hello));
  jobs.receive();
  const auto request = [&] {
    jobs.send(Message::of(JobInfo{}));
    process.sent(sizeof(JobInfo));
  };
  process.begin();
  tally.begin();
  for (std::uint64_t credit = 0; credit < (setting.dealer() ? kCredits : 1); ++credit) request();
  for (;;) {
    const JobInfo job = jobs.receive().as<JobInfo>();
    if (job.kind == JobInfo::kEnd) break;
    if (job.kind == JobInfo::kHello) {  // REQ-REP: some worker is not there yet
      request();
      continue;
    }
    Message frame = jobs.receive();
    // By REQ-REP the next frame is asked for before this one is processed; a dealer, whose second
    // credit is at the input, gives one back when it has finished with a frame.
    if (!setting.dealer()) request();
    std::uint8_t* result = results.take();
    tally.frame([&] { setting.work.run(setting.shape, frame.data(), result); });
    frame = Message();
    if (setting.dealer()) request();
    done.send(Message::of(job), true);
    done.send(results.message(result));
    process.sent(sizeof job + setting.shape.bytes());
  }
  done.send(Message::of(JobInfo{0, JobInfo::kEnd}));
  process.sent(sizeof(JobInfo));
}

}  // namespace video::zmq
