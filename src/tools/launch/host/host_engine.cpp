#include "tools/launch/host/host_engine.h"

#include "tools/launch/exit_codes.h"
#include "tools/launch/hub/beats.h"
#include "tools/launch/hub/remote_engine.h"
#include "tools/launch/output/host_streams.h"

namespace terrane::tools {
namespace {

// Of a host with which the job started. Watches the other hosts, and passes on what its nodes read
// and write.
class HostEngine final : public RemoteEngine {
 public:
  HostEngine(const HostEngineOptions& options, const stream::Secret& secret, Loop& loop,
             EngineSide side, DoorPlan* door)
      : RemoteEngine(options, secret, loop, std::move(side), door),
        beats_(loop, secret,
               [this](std::uint32_t host, Silence silence) {
                 report(event::HostSilent{host, silence.ms, silence.answers});
               }),
        streams_(loop, [this](HostEvent event) { report(event); }) {}

 private:
  base::Result<> introduce(Introduction& ours) override {
    if (options_.heartbeat_ms == 0) return {};
    if (auto opened = beats_.open(); !opened) return opened;
    ours.port = beats_.port();
    return {};
  }

  base::Result<> start_part() override {
    if (options_.heartbeat_ms != 0)
      beats_.start(plan_.peers, plan_.host, link_->peer_address(), options_.heartbeat_ms,
                   plan_.death_after_ms);
    if (auto opened = streams_.open(); !opened) return opened;
    base::UniqueFd input;
    if (plan_.map.host_of[0] == plan_.host) {
      auto opened = streams_.open_input();
      if (!opened) return opened.error();
      input = std::move(opened).value();
    }
    auto started = start_nodes(
        {.output = streams_.output(), .error = streams_.error(), .door = door_}, std::move(input));
    streams_.close_nodes_ends();
    return started;
  }

  void obey(const HostCommand& command) override {
    if (std::holds_alternative<command::Kill>(command)) streams_.drop();
    streams_.act(command);
    if (part_) part_->act(command);
  }

  void on_signal(int signal) override { report(event::Signalled{signal}); }

  void on_event(std::uint32_t, HostEvent event) override {
    // When the guard dies, its nodes are killed: that is no death of their own.
    if (std::holds_alternative<event::NodeDied>(event) && guard_.guard_is_going()) be_alone();
    if (!std::holds_alternative<event::Ended>(event)) return report(event);
    // What the nodes wrote last comes before the end.
    streams_.finish([this] { report(event::Ended{}); });
  }

  void on_alone() override {
    beats_.stop();
    streams_.drop();
    if (part_) part_->act(command::Kill{});
  }

  int exit_code() const override { return let_go() ? 0 : kExitFailure; }

  Beats beats_;
  HostStreams streams_;
};

}  // namespace

int run_host_engine(const HostEngineOptions& options, const stream::Secret& secret) {
  return run_guarded_engine(options, false, say_failure, [&](Loop& loop, EngineSide side) {
    return std::make_unique<HostEngine>(options, secret, loop, std::move(side), nullptr);
  });
}

int run_adopting_host_engine(const HostEngineOptions& options, const stream::Secret& secret,
                             DoorPlan door, const AdoptionAnswer& answer) {
  return run_guarded_engine(options, false, answer, [&](Loop& loop, EngineSide side) {
    return std::make_unique<HostEngine>(options, secret, loop, std::move(side), &door);
  });
}

}  // namespace terrane::tools
