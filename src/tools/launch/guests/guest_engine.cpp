#include <optional>

#include "base/log.h"
#include "tools/launch/exit_codes.h"
#include "tools/launch/host/host_engine.h"
#include "tools/launch/hub/remote_engine.h"

namespace terrane::tools {
namespace {

// Of a guest: a host of one node that joins the running job. Its program, its input and its output
// are its own; what the job does concerns it until it has left.
class GuestEngine final : public RemoteEngine {
 public:
  GuestEngine(const HostEngineOptions& options, const stream::Secret& secret, Loop& loop,
              EngineSide side, const GuestProgram& program)
      : RemoteEngine(options, secret, loop, std::move(side), nullptr), program_(program) {}

 private:
  base::Result<> introduce(Introduction& ours) override {
    ours.joins = true;
    return {};
  }

  // The job says how its nodes are to be run, all but for what is the guest's own.
  void adapt(HostPlan& plan) override {
    plan.path = program_.path;
    plan.argv = program_.argv;
    plan.folder.clear();
    plan.tag_output = plan.hold = false;
    plan.binding = Binding::kNone;
  }

  base::Result<> start_part() override { return start_nodes({}, std::move(input_)); }

  void obey(const HostCommand& command) override {
    if (left_) return;
    if (const auto* end = std::get_if<command::End>(&command)) {
      if (!end->sentence.empty()) base::log_line(end->sentence);
      if (!exit_code_) exit_code_ = kExitFailure;
    }
    if (std::holds_alternative<command::Kill>(command)) say_lost("`terrane run` was killed");
    if (part_) part_->act(command);
  }

  // What is sent to this process is meant for the program alone.
  void on_signal(int signal) override {
    if (part_) return part_->act(command::Signal{signal});
    be_alone();
  }

  // Its user hears of it here; for the job it is the end of a node.
  void fail(int exit_code, const std::string& sentence) override {
    base::log_line(sentence);
    if (!exit_code_) exit_code_ = exit_code;
    be_alone();
  }

  void on_link_closed(const std::string& why) override { say_lost(why); }

  void on_event(std::uint32_t, HostEvent event) override {
    const auto* died = std::get_if<event::NodeDied>(&event);
    if (died && guard_.guard_is_going()) be_alone();
    if (died && !exit_code_) {
      base::log_line(describe(died->death, plan_.map.names[plan_.host], 0));
      exit_code_ = exit_code_of(died->death);
    }
    if (const auto* notice = std::get_if<event::Notice>(&event)) base::log_line(notice->text);
    report(event);
    if (std::holds_alternative<event::NodeLeftAlone>(event)) left_ = true;
    if (std::holds_alternative<event::Ended>(event)) be_alone();
  }

  void on_alone() override {
    if (part_ && !left_) part_->act(command::Kill{});
  }

  int exit_code() const override { return exit_code_.value_or(part_ ? 0 : kExitFailure); }

  void say_lost(const std::string& why) {
    if (!part_ || part_->ended() || left_ || exit_code_) return;
    base::log_line(fmt::format(
        "the job that this program had joined has gone ({}); the program is being ended", why));
    exit_code_ = kExitFailure;
  }

  const GuestProgram& program_;
  std::optional<int> exit_code_;
  bool left_ = false;  // and goes its own way
};

}  // namespace

int run_guest_engine(const HostEngineOptions& options, const stream::Secret& secret,
                     const GuestProgram& program) {
  return run_guarded_engine(options, true, say_failure, [&](Loop& loop, EngineSide side) {
    return std::make_unique<GuestEngine>(options, secret, loop, std::move(side), program);
  });
}

}  // namespace terrane::tools
