#include "tools/launch/output/host_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace terrane::tools {
namespace {

constexpr std::size_t kFullRead = 16 * 1024;  // there may be more in the pipe
constexpr std::size_t kMaxHeld = 64 * 1024;

}  // namespace

base::Result<> HostStreams::open() {
  for (bool is_error : {false, true}) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) < 0) return base::errno_error("cannot make a pipe for output");
    (is_error ? error_end_ : output_end_).reset(ends[1]);
    StreamReader::Handlers handlers{
        .on_bytes = [this, is_error](std::string bytes) { on_output(is_error, std::move(bytes)); },
        .on_end =
            [this, is_error] {
              if (!held_[is_error].empty()) {
                report_(event::Output{is_error, std::exchange(held_[is_error], {})});
              }
              maybe_done();
            }};
    readers_[is_error] =
        std::make_unique<StreamReader>(loop_, base::UniqueFd(ends[0]), std::move(handlers));
    readers_[is_error]->allow(kStreamWindow);
  }
  return {};
}

base::Result<base::UniqueFd> HostStreams::open_input() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return base::errno_error("cannot make a pipe for input");
  base::UniqueFd read_end(ends[0]);
  input_ = std::make_unique<StreamWriter>(
      loop_, base::UniqueFd(ends[1]),
      StreamWriter::Handlers{
          .on_taken = [this](std::uint32_t bytes) { report_(event::InputTaken{bytes}); },
          .on_broken = [] {}});
  return read_end;
}

void HostStreams::close_nodes_ends() {
  output_end_.reset();
  error_end_.reset();
}

// Where more is to come, a line is not torn: other hosts' lines would run into it.
void HostStreams::on_output(bool is_error, std::string bytes) {
  std::string& held = held_[is_error];
  bool full = bytes.size() == kFullRead;
  std::string text = std::exchange(held, {}) + std::move(bytes);
  std::size_t line_end = text.rfind('\n');
  if (full && line_end != std::string::npos && text.size() - line_end - 1 < kMaxHeld) {
    held = text.substr(line_end + 1);
    text.resize(line_end + 1);
  }
  report_(event::Output{is_error, std::move(text)});
}

void HostStreams::act(const HostCommand& command) {
  if (const auto* taken = std::get_if<command::OutputTaken>(&command)) {
    if (readers_[taken->is_error]) readers_[taken->is_error]->allow(taken->bytes);
  } else if (const auto* closed = std::get_if<command::OutputClosed>(&command)) {
    if (readers_[closed->is_error]) readers_[closed->is_error]->stop();
    held_[closed->is_error].clear();
    maybe_done();
  } else if (const auto* input = std::get_if<command::Input>(&command)) {
    if (input_) input_->write(input->bytes);
  } else if (std::holds_alternative<command::InputEnd>(command)) {
    if (input_) input_->finish();
  }
}

void HostStreams::finish(std::function<void()> done) {
  done_ = std::move(done);
  if (input_) input_->close();
  for (auto& reader : readers_) {
    if (reader && !reader->ended()) reader->drain();
  }
  maybe_done();
}

void HostStreams::drop() {
  for (auto& reader : readers_) {
    if (reader) reader->stop();
  }
  maybe_done();
}

void HostStreams::maybe_done() {
  bool all = true;
  for (auto& reader : readers_) all = all && (!reader || reader->ended());
  if (all && done_) std::exchange(done_, nullptr)();
}

}  // namespace terrane::tools
