#pragma once

#include <zmq.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace video::zmq {

// What ZeroMQ refused.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what)
      : std::runtime_error(what + ": " + zmq_strerror(zmq_errno())) {}
};

// A part of a message; its bytes are not copied.
class Message {
 public:
  Message() { zmq_msg_init(&message_); }
  explicit Message(std::size_t bytes) { zmq_msg_init_size(&message_, bytes); }
  // Bytes of the caller, given back by `release(bytes, hint)` from a thread of ZeroMQ.
  Message(void* bytes, std::size_t count, zmq_free_fn* release, void* hint) {
    zmq_msg_init_data(&message_, bytes, count, release, hint);
  }
  Message(Message&& other) noexcept {
    zmq_msg_init(&message_);
    zmq_msg_move(&message_, &other.message_);
  }
  Message& operator=(Message&& other) noexcept {
    if (this != &other) zmq_msg_move(&message_, &other.message_);
    return *this;
  }
  ~Message() { zmq_msg_close(&message_); }

  std::uint8_t* data() { return static_cast<std::uint8_t*>(zmq_msg_data(&message_)); }
  std::size_t size() { return zmq_msg_size(&message_); }
  bool more() { return zmq_msg_more(&message_) != 0; }

  // A plain value as a message, and back.
  template <typename T>
  static Message of(const T& value) {
    Message message(sizeof value);
    std::memcpy(message.data(), &value, sizeof value);
    return message;
  }
  template <typename T>
  T as() {
    T value{};
    if (size() != sizeof value) throw std::runtime_error("ZeroMQ gave a message of another kind");
    std::memcpy(&value, data(), sizeof value);
    return value;
  }

  zmq_msg_t* raw() { return &message_; }

 private:
  zmq_msg_t message_;
};

class Context {
 public:
  Context() : context_(zmq_ctx_new()) {}
  Context(const Context&) = delete;
  ~Context() { zmq_ctx_term(context_); }
  void* raw() { return context_; }

 private:
  void* context_;
};

class Socket {
 public:
  // `mark`: messages that may wait in each direction of a connection.
  Socket(Context& context, int type, int mark) : socket_(zmq_socket(context.raw(), type)) {
    if (socket_ == nullptr) throw Error("no ZeroMQ socket");
    zmq_setsockopt(socket_, ZMQ_SNDHWM, &mark, sizeof mark);
    zmq_setsockopt(socket_, ZMQ_RCVHWM, &mark, sizeof mark);
  }
  Socket(const Socket&) = delete;
  ~Socket() { zmq_close(socket_); }

  // What was not sent when the socket is closed is dropped.
  void drop_at_close() {
    const int none = 0;
    zmq_setsockopt(socket_, ZMQ_LINGER, &none, sizeof none);
  }
  // Returns the endpoint that others connect to.
  std::string bind(const std::string& endpoint) {
    if (zmq_bind(socket_, endpoint.c_str()) != 0) throw Error("'" + endpoint + "' is not free");
    char name[256] = {};
    std::size_t size = sizeof name;
    zmq_getsockopt(socket_, ZMQ_LAST_ENDPOINT, name, &size);
    return name;
  }
  void connect(const std::string& endpoint) {
    if (zmq_connect(socket_, endpoint.c_str()) != 0) throw Error("'" + endpoint + "'");
  }
  void send(Message message, bool more = false) {
    while (zmq_msg_send(message.raw(), socket_, more ? ZMQ_SNDMORE : 0) < 0) {
      if (zmq_errno() != EINTR) throw Error("a message could not be sent");
    }
  }
  Message receive() {
    Message message;
    while (zmq_msg_recv(message.raw(), socket_, 0) < 0) {
      if (zmq_errno() != EINTR) throw Error("a message could not be received");
    }
    return message;
  }

 private:
  void* socket_;
};

}  // namespace video::zmq
