#include "live/live_sink.h"

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <thread>

#include "live/jpeg.h"
#include "live/page.h"
#include "live/state.h"

namespace video {
namespace {

constexpr std::uint32_t kMostWidth = 960;
constexpr auto kBetweenPictures = std::chrono::milliseconds(40);
constexpr int kMostViewers = 4;   // each has a thread of the server
constexpr int kWriteSeconds = 3;  // a viewer that reads nothing for so long is disconnected
constexpr const char* kMultipart = "multipart/x-mixed-replace; boundary=picture";

using Clock = std::chrono::steady_clock;
using Picture = std::shared_ptr<const std::string>;

// The newest picture, for any number of viewers.
class Newest {
 public:
  void set(Picture picture) {
    {
      std::lock_guard guard(mutex_);
      picture_ = std::move(picture);
      ++number_;
    }
    changed_.notify_all();
  }
  // Waits for a picture after number `seen`; none at the end.
  Picture after(std::uint64_t& seen) {
    std::unique_lock guard(mutex_);
    ++waiting_;
    changed_.wait(guard, [&] { return number_ > seen || ended_; });
    --waiting_;
    seen = number_;
    return ended_ ? nullptr : picture_;
  }
  // A viewer waits for a picture: one that does not read the last one does not.
  bool is_awaited() {
    std::lock_guard guard(mutex_);
    return waiting_ > 0;
  }
  void end() {
    {
      std::lock_guard guard(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Picture picture_;
  std::uint64_t number_ = 0;
  int waiting_ = 0;
  bool ended_ = false;
};

// Interrupts the threads of the server that wait for viewers; the library has no call for that.
void disconnect_all(std::uint32_t port) {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", none)) {
    const int fd = std::atoi(entry.path().filename().c_str());
    sockaddr_in here{};
    socklen_t bytes = sizeof here;
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&here), &bytes) != 0) continue;
    if (here.sin_family == AF_INET && ntohs(here.sin_port) == port) ::shutdown(fd, SHUT_RDWR);
  }
}

class Live : public Sink {
 public:
  Live(std::unique_ptr<Sink> next, Shape shape, const Progress& progress)
      : next_(std::move(next)), shape_(shape), progress_(progress) {}
  ~Live() override {
    const int viewers = viewers_;  // a viewer that reads leaves as soon as it sees the end
    newest_.end();
    server_.stop();
    disconnect_all(port_);
    if (serving_.joinable()) serving_.join();
    if (viewers > 0) std::printf("row=live viewers_at_end=%d\n", viewers);
  }

  Outcome<> start(std::uint32_t port) {
    port_ = port;
    Outcome<std::unique_ptr<JpegWriter>> writer = make_jpeg_writer(shape_, kMostWidth);
    if (!writer.ok()) return Failure{writer.sentence()};
    writer_ = std::move(writer.value());
    // The library's default would share a port that is in use.
    server_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server_.set_write_timeout(kWriteSeconds, 0);
    server_.Get("/", [](const httplib::Request&, httplib::Response& response) {
      response.set_content(kPage, "text/html");
    });
    server_.Get("/state", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(state_json(progress_, shape_), "application/json");
    });
    server_.Get("/stream",
                [this](const httplib::Request&, httplib::Response& response) { show(response); });
    if (!server_.bind_to_port("127.0.0.1", static_cast<int>(port))) {
      return Failure{"port " + std::to_string(port) + " is in use; choose another one by --live"};
    }
    serving_ = std::thread([this] { server_.listen_after_bind(); });
    // The port listens already; stop() has an effect only on a server that runs.
    while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return success();
  }

  Outcome<> put(const std::uint8_t* frame) override {
    const Clock::time_point now = Clock::now();
    if (viewers_ > 0 && now - last_ >= kBetweenPictures && newest_.is_awaited()) {
      last_ = now;
      std::string file = writer_->write(frame);
      if (!file.empty()) newest_.set(std::make_shared<const std::string>(std::move(file)));
    }
    return next_->put(frame);
  }
  Outcome<> close() override { return next_->close(); }

 private:
  void show(httplib::Response& response) {
    if (viewers_.fetch_add(1) >= kMostViewers) {
      --viewers_;
      response.status = 503;
      return;
    }
    const auto seen = std::make_shared<std::uint64_t>(0);
    response.set_content_provider(
        kMultipart,
        [this, seen](std::size_t, httplib::DataSink& sink) {
          const Picture picture = newest_.after(*seen);
          if (!picture) return sink.done(), true;
          const std::string head = "--picture\r\nContent-Type: image/jpeg\r\nContent-Length: " +
                                   std::to_string(picture->size()) + "\r\n\r\n";
          return sink.write(head.data(), head.size()) &&
                 sink.write(picture->data(), picture->size()) && sink.write("\r\n", 2);
        },
        [this](bool) { --viewers_; });
  }

  std::unique_ptr<Sink> next_;
  Shape shape_;
  const Progress& progress_;
  std::uint32_t port_ = 0;
  std::unique_ptr<JpegWriter> writer_;
  Newest newest_;
  std::atomic<int> viewers_ = 0;
  Clock::time_point last_{};
  httplib::Server server_;
  std::thread serving_;
};

}  // namespace

Outcome<std::unique_ptr<Sink>> make_live_sink(std::unique_ptr<Sink> next, Shape shape,
                                              std::uint32_t port, const Progress& progress) {
  auto sink = std::make_unique<Live>(std::move(next), shape, progress);
  Outcome<> started = sink->start(port);
  if (!started.ok()) return Failure{started.sentence()};
  return std::unique_ptr<Sink>(std::move(sink));
}

}  // namespace video
