// The ZeroMQ peers: video_zmq --with reqrep|dealer --workers N --endpoint ipc|tcp INPUT. The
// process that is started is the input task; it starts the output task and the workers.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "exit_status.h"
#include "result.h"
#include "zmq/tasks.h"

namespace video::zmq {

std::string own_endpoint(const Options& options, const char* task) {
  if (options.endpoint == "tcp") return "tcp://127.0.0.1:*";
  return "ipc:///tmp/video-" + std::to_string(::getpid()) + "-" + task;
}

namespace {

// Where the tasks listen; through pipes, before the work.
struct Endpoints {
  char input[128] = {}, output[128] = {};
};

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  }
  bool read(Endpoints& endpoints) const {
    return ::read(ends[0], &endpoints, sizeof endpoints) == sizeof endpoints;
  }
  bool write(const Endpoints& endpoints) const {
    return ::write(ends[1], &endpoints, sizeof endpoints) == sizeof endpoints;
  }
};

int run_output(const Setting& setting, const Pipe& answers) {
  Outcome<std::unique_ptr<Sink>> made = open_sink(setting.options.output, setting.shape);
  if (!made.ok()) return complain(made.sentence());
  SummedSink sink(std::move(made.value()), setting.shape);
  Context context;
  Socket socket(context, ZMQ_PULL, kMark);
  Endpoints endpoints;
  socket.bind(own_endpoint(setting.options, "output")).copy(endpoints.output, 127);
  answers.write(endpoints);
  ProcessTally process;
  Outcome<> outcome = take_frames(setting, sink, socket, process);
  process.end();
  if (!outcome.ok()) return complain(outcome.sentence());
  process.print("output");
  const std::string name = "ZeroMQ " + setting.options.with + " " + setting.options.endpoint;
  print_result(name.c_str(), setting.shape, sink.frames(), sink.sum(), process.seconds());
  return 0;
}

int run_worker(const Setting& setting, int index, const Pipe& starts) {
  Endpoints endpoints;
  if (!starts.read(endpoints)) return 1;
  WorkerTally tally;
  ProcessTally process;
  do_work(setting, endpoints.input, endpoints.output, tally, process);
  process.end();
  tally.print(index);
  process.print("worker");
  return 0;
}

int run_input(const Setting& setting, Source& source, const Pipe& answers, const Pipe& starts) {
  Endpoints endpoints;
  if (!answers.read(endpoints)) return 1;  // the output has said why
  Context context;
  // No mark: at one these sockets drop an answer, and they count answers that have long been read
  // (libzmq 4.3.4). Workers' requests and credits bound what waits.
  Socket socket(context, setting.dealer() ? ZMQ_ROUTER : ZMQ_REP, kNoMark);
  socket.bind(own_endpoint(setting.options, "input")).copy(endpoints.input, 127);
  for (std::uint32_t worker = 0; worker < setting.options.workers; ++worker) {
    starts.write(endpoints);
  }
  FrameGiver giver(source);
  ProcessTally process;
  Outcome<> outcome = setting.dealer() ? give_by_router(setting, giver, socket, process)
                                       : give_by_reply(setting, giver, socket, process);
  process.end();
  process.print("input");
  return outcome.ok() ? 0 : complain(outcome.sentence());
}

// Runs a task in a process of its own, which has only these ends of the pipes.
template <typename Task>
pid_t start(Task task) {
  std::fflush(stdout);
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  int status = 1;
  try {
    status = task();
  } catch (const std::exception& error) {
    complain(error.what());
  }
  std::fflush(stdout);
  ::_exit(status);
}

int run_tasks(const Setting& setting, Source& source) {
  const Pipe answers, starts;
  std::vector<pid_t> tasks;
  tasks.push_back(start([&] {
    ::close(starts.ends[1]);
    return run_output(setting, answers);
  }));
  for (std::uint32_t worker = 0; worker < setting.options.workers; ++worker) {
    tasks.push_back(start([&] {
      ::close(starts.ends[1]);
      ::close(answers.ends[1]);
      return run_worker(setting, static_cast<int>(worker), starts);
    }));
  }
  ::close(answers.ends[1]);
  int status = run_input(setting, source, answers, starts);
  ::close(starts.ends[1]);
  for (pid_t task : tasks) {
    int ended = 0;
    if (::waitpid(task, &ended, 0) == task && ended != 0) status = 1;
  }
  return status;
}

int run(int argc, char** argv) {
  Outcome<Options> options = parse_options(argc, argv, {"reqrep", "dealer"});
  if (!options.ok()) return complain(options.sentence());
  if (options.value().help) return std::fputs(kUsage, stdout), 0;
  Outcome<Work> work = choose_work(options.value());
  if (!work.ok()) return complain(work.sentence());
  Outcome<std::unique_ptr<Source>> opened = open_source(options.value().input);
  if (!opened.ok()) return complain(opened.sentence());
  Source& source = *opened.value();
  return run_tasks({options.value(), work.value(), source.shape()}, source);
}

}  // namespace
}  // namespace video::zmq

int main(int argc, char** argv) {
  try {
    return video::zmq::run(argc, argv);
  } catch (const std::exception& error) {
    return video::complain(error.what());
  }
}
