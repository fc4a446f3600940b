#include "tools/launch/output/hub_streams.h"

#include <signal.h>

#include "tools/launch/output/output_process.h"

namespace terrane::tools {

base::Result<> HubStreams::open(const std::vector<std::uint32_t>& hosts, bool tagged) {
  if (hosts.empty()) return {};
  OutputProcess process;
  for (std::uint32_t host : hosts) {
    for (bool is_error : {false, true}) {
      auto end = process.add(is_error, tagged ? std::optional<std::string>("") : std::nullopt);
      if (!end) return end.error();
      StreamWriter::Handlers handlers{
          .on_taken =
              [this, host, is_error](std::uint32_t bytes) {
                tell_(host, command::OutputTaken{is_error, bytes});
              },
          .on_broken = [this, host, is_error] { tell_(host, command::OutputClosed{is_error}); }};
      outputs_.push_back(
          {host, is_error,
           std::make_unique<StreamWriter>(loop_, std::move(end).value(), std::move(handlers))});
    }
  }
  auto started = process.start(nice_);
  if (!started) return started.error();
  process_ = started.value();
  children_.expect(process_, [this](int status) {
    process_ = 0;
    if (auto failure = OutputProcess::failure(status)) on_failure_(*failure);
  });
  return {};
}

void HubStreams::carry_input(base::UniqueFd input, std::uint32_t host) {
  if (!input) return tell_(host, command::InputEnd{});
  input_ = std::make_unique<StreamReader>(
      loop_, std::move(input),
      StreamReader::Handlers{
          .on_bytes = [this,
                       host](std::string bytes) { tell_(host, command::Input{std::move(bytes)}); },
          .on_end = [this, host] { tell_(host, command::InputEnd{}); }});
  input_->allow(kStreamWindow);
}

void HubStreams::take_output(std::uint32_t host, const event::Output& output) {
  for (Output& one : outputs_) {
    if (one.host != host || one.is_error != output.is_error) continue;
    if (one.writer->is_open()) {
      one.writer->write(output.bytes);
    } else {  // dropped; the host's engine need not wait for it
      auto size = static_cast<std::uint32_t>(output.bytes.size());
      tell_(host, command::OutputTaken{output.is_error, size});
    }
  }
}

void HubStreams::input_taken(std::uint32_t bytes) {
  if (input_) input_->allow(bytes);
}

void HubStreams::finish_output(std::uint32_t host) {
  for (Output& one : outputs_) {
    if (one.host == host) one.writer->finish();
  }
}

void HubStreams::finish() {
  for (Output& one : outputs_) one.writer->finish();
  if (input_) input_->stop();
}

void HubStreams::kill_output() {
  if (process_ != 0) ::kill(process_, SIGKILL);
}

}  // namespace terrane::tools
