#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/result.h"

namespace terrane::bench {

// What UCX itself takes for a request and its reply over tcp between two processes: active
// messages, nothing of ours round them. One end asks, the other serves, polling or asleep on the
// worker's event descriptor. One thread at a time at each end.
class UcxFloor {
 public:
  // Opens UCX on the interfaces ("lo").
  static base::Result<std::unique_ptr<UcxFloor>> open(const char* devices);
  ~UcxFloor();
  UcxFloor(const UcxFloor&) = delete;

  // To be brought to the other end, which connects.
  const std::vector<std::byte>& address() const { return address_; }
  base::Result<> connect(const std::byte* address);

  // Nanoseconds of a request of 16 bytes and a reply of `reply_bytes`; a mean over `times`.
  double request_reply(std::size_t reply_bytes, int times);
  // Nanoseconds until so many replies have come, with so many requests under way.
  double stream(std::size_t reply_bytes, int in_flight, int replies);
  // Ends the other end's serve().
  void stop_server();
  // Serves requests until stop_server(). asleep: sleeps on the event descriptor between them.
  void serve(bool asleep);
  // For a server that does something else meanwhile: whether stop_server() came since.
  void begin_waiting();
  bool was_stopped();

 private:
  struct Handles;
  UcxFloor();

  base::Result<> start(const char* devices);
  void send(unsigned id, std::size_t header, std::size_t bytes);
  void wait_for_news();

  std::unique_ptr<Handles> handles_;
  std::vector<std::byte> address_;
  std::vector<std::byte> payload_;
};

}  // namespace terrane::bench
