#include "tools/launch/job_engine.h"

#include <memory>
#include <optional>

#include "base/log.h"
#include "tools/launch/children.h"
#include "tools/launch/guard.h"
#include "tools/launch/guard_link.h"
#include "tools/launch/host_part.h"
#include "tools/launch/job.h"
#include "tools/launch/process_tree.h"

namespace terrane::tools {
namespace {

constexpr std::uint64_t kPatienceMs = 2000;

// The engine below the process that the user started: decides about the job and runs this host's
// part of it. Owns both.
class JobEngine final : HostListener, JobOutlet {
 public:
  // `door`: where another launcher starts the nodes.
  JobEngine(const JobPlan& plan, Loop& loop, EngineSide side, DoorPlan* door)
      : plan_(plan),
        inheritance_(*side.inheritance),
        input_(std::move(side.input)),
        children_(loop),
        guard_(loop, std::move(side.guard), plan.program.heartbeat_ms,
               {.on_signal = [this](int signal) { job_.on_signal(signal); },
                .on_gone = [this] { job_.kill(kExitFailure); },
                .on_stopped = [this] { guard_stopped(); }}),
        job_(plan, loop, *this),
        loop_(loop),
        door_(door) {}

  base::Result<> start() {
    if (auto opened = children_.open(); !opened) return opened;
    if (auto opened = guard_.open(); !opened) return opened;
    part_.emplace(plan_.program, HostSurroundings{.loop = &loop_,
                                                  .children = &children_,
                                                  .listener = this,
                                                  .inheritance = &inheritance_,
                                                  .guard = guard_.socket(),
                                                  .door = door_});
    if (auto started = part_->start(std::move(input_)); !started) return started;
    job_.started();
    return {};
  }

  int run() {
    while (!job_.ended()) loop_.turn();
    return job_.exit_code();
  }

 private:
  void guard_stopped() {
    job_.fail(kExitFailure,
              fmt::format("`terrane run` has been stopped for {:.1f} s; the job is being ended",
                          static_cast<double>(plan_.program.heartbeat_ms) / 1000));
  }

  void on_event(std::uint32_t host, HostEvent event) override { job_.on_event(host, event); }
  void tell(std::uint32_t, const HostCommand& command) override { part_->act(command); }
  void say(const std::string& line) override { base::log_line(line); }

  const JobPlan& plan_;
  const Inheritance& inheritance_;
  base::UniqueFd input_;
  Children children_;
  GuardLink guard_;
  Job job_;
  std::optional<HostPart> part_;
  Loop& loop_;
  DoorPlan* door_;
};

using Answer = std::function<void(const base::Result<std::string>&)>;

int run_engine(const JobPlan& plan, EngineSide side, DoorPlan* door, const Answer& answer) {
  auto loop = Loop::create();
  if (!loop) {
    answer(loop.error());
    return kExitFailure;
  }
  JobEngine engine(plan, *loop.value(), std::move(side), door);
  if (auto started = engine.start(); !started) {
    answer(started.error());
    kill_all_descendants(kPatienceMs);
    return kExitFailure;
  }
  answer(std::string());
  return engine.run();
}

}  // namespace

int run_job(const JobPlan& plan) {
  GuardOptions options{.command_line = plan.command_line,
                       .heartbeat_ms = plan.program.heartbeat_ms};
  Answer complain = [](const base::Result<std::string>& started) {
    if (!started) base::log("{}", started.error().message);
  };
  return run_guarded(options, [&](EngineSide side) {
    return run_engine(plan, std::move(side), nullptr, complain);
  });
}

int run_adopting_job(const JobPlan& plan, DoorPlan door, const Answer& answer) {
  GuardOptions options{.command_line = plan.command_line,
                       .heartbeat_ms = plan.program.heartbeat_ms,
                       .passes_input = false};
  return run_guarded(
      options, [&](EngineSide side) { return run_engine(plan, std::move(side), &door, answer); });
}

}  // namespace terrane::tools
