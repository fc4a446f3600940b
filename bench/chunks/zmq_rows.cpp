// The frames of chunk_rows.cpp by ZeroMQ: PUB to SUB sockets, each subscriber a process, without a
// high-water mark; what a subscriber has seen it tells by PUSH. By bench_chunks.py; by hand:
//   zmq_chunk_rows ipc|tcp SUBSCRIBERS BYTES FRAMES [whole]
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "frames.h"

using namespace terrane::bench::frames;

namespace {

void need(bool good) {
  if (good) return;
  std::fprintf(stderr, "zmq: %s\n", zmq_strerror(zmq_errno()));
  std::_Exit(1);
}

void* socket_of(void* context, int type, const std::string& address, bool binds) {
  void* socket = zmq_socket(context, type);
  int none = 0;
  need(socket != nullptr && zmq_setsockopt(socket, ZMQ_SNDHWM, &none, sizeof none) == 0 &&
       zmq_setsockopt(socket, ZMQ_RCVHWM, &none, sizeof none) == 0);
  need((binds ? zmq_bind(socket, address.c_str()) : zmq_connect(socket, address.c_str())) == 0);
  return socket;
}

struct Places {
  std::string frames, seen;
};

Places places_of(const std::string& way) {
  auto number = std::to_string(::getpid());
  if (way == "ipc") return {"ipc://@terrane-frames-" + number, "ipc://@terrane-seen-" + number};
  int port = 20'000 + ::getpid() % 20'000;
  return {"tcp://127.0.0.1:" + std::to_string(port), "tcp://127.0.0.1:" + std::to_string(port + 1)};
}

int subscriber(const Places& places, std::size_t bytes, int frames, bool whole) {
  void* context = zmq_ctx_new();
  void* socket = socket_of(context, ZMQ_SUB, places.frames, false);
  need(zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0) == 0);
  void* seen = socket_of(context, ZMQ_PUSH, places.seen, false);
  Account account(bytes, whole);
  account.begin();
  for (int frame = 0; frame <= frames;) {
    zmq_msg_t message;
    zmq_msg_init(&message);
    need(zmq_msg_recv(&message, socket, 0) >= 0);
    auto* data = static_cast<const char*>(zmq_msg_data(&message));
    if (zmq_msg_size(&message) == 1) {  // are you there?
      if (frame == 0) need(zmq_send(seen, "", 0, 0) == 0);
      frame = 1;
    } else {
      account.take(data, frame++);
      need(zmq_send(seen, "", 0, 0) == 0);
    }
    zmq_msg_close(&message);
  }
  account.print(frames);
  zmq_close(socket);
  zmq_close(seen);
  zmq_ctx_term(context);  // what was sent is on its way
  return 0;
}

void publish(const Places& places, int subscribers, std::size_t bytes, int frames) {
  void* context = zmq_ctx_new();
  void* socket = socket_of(context, ZMQ_PUB, places.frames, true);
  void* seen = socket_of(context, ZMQ_PULL, places.seen, true);
  char none;
  for (int there = 0; there < subscribers;) {
    zmq_send(socket, "?", 1, 0);
    zmq_pollitem_t item{seen, 0, ZMQ_POLLIN, 0};
    for (; zmq_poll(&item, 1, 10) > 0; ++there) zmq_recv(seen, &none, 1, 0);
  }
  Account account(bytes, false);
  account.begin();
  for (int frame = 1; frame <= frames; ++frame) {
    zmq_msg_t message;  // it is made where it is sent from
    need(zmq_msg_init_size(&message, bytes) == 0);
    fill(static_cast<char*>(zmq_msg_data(&message)), bytes, frame);
    need(zmq_msg_send(&message, socket, 0) >= 0);
    for (int i = 0; i < subscribers; ++i) need(zmq_recv(seen, &none, 1, 0) >= 0);
  }
  account.print(frames);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  bool whole = argc > 5 && std::string_view(argv[5]) == "whole";
  Places places = places_of(argv[1]);
  int subscribers = std::atoi(argv[2]), frames = std::atoi(argv[4]);
  std::size_t bytes = std::strtoull(argv[3], nullptr, 10);
  std::vector<pid_t> children;
  for (int i = 0; i < subscribers; ++i) {
    pid_t child = ::fork();
    if (child == 0) return subscriber(places, bytes, frames, whole);
    children.push_back(child);
  }
  publish(places, subscribers, bytes, frames);
  int bad = 0;
  for (pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    bad |= status;
  }
  std::_Exit(bad != 0);
}
