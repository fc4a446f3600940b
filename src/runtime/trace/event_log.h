#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "runtime/trace/event_ring.h"

namespace terrane::runtime::trace {

// A node's event log: each thread notes events in a ring of its own, which goes to the file when it
// is full, and every 100 ms. Nothing that was noted is left out; where the file cannot grow the log
// ends there, with a sentence, and the job goes on. What a node that dies noted in its last 100 ms
// is lost. Any thread may call.
class EventLog {
 public:
  struct Place {
    std::string folder;  // is made where it is not there
    NodeId node;
    std::uint32_t nodes = 0;
    std::string host;
  };
  // Refuses a folder that has a log of this node.
  static base::Result<std::unique_ptr<EventLog>> create(const Place& place);
  // The node has left the job in order.
  ~EventLog();
  EventLog(const EventLog&) = delete;

  // The fields mean what the event says (log_format.h).
  struct Fields {
    std::uint64_t object = 0, value = 0;
    std::uint8_t kind = 0, detail = 0;
    std::uint32_t number = 0;
  };
  void note(Event event, const Fields& fields);
  void note_at(std::uint64_t time_ns, Event event, const Fields& fields);
  // With text; fields.number is its length.
  void note_text(Event event, Fields fields, std::string_view text);

 private:
  explicit EventLog(base::UniqueFd file, std::string path);
  EventRing& ring();
  EventRing& ring_of_new_thread();
  void add(EventRing& ring, const Record& record);
  void drain(EventRing& ring);
  void drain_all();
  void write(BlockKind kind, std::uint32_t thread, std::span<const std::byte> bytes);
  void stream();

  const std::uint64_t serial_;  // no other log of the process has it
  const std::string path_;
  std::mutex file_mutex_;
  base::UniqueFd file_;
  bool ended_ = false;  // nothing more can be written

  std::mutex mutex_;  // of what follows
  std::condition_variable stop_;
  bool stopping_ = false;
  std::vector<std::shared_ptr<EventRing>> rings_, free_rings_;
  std::thread streamer_;
};

}  // namespace terrane::runtime::trace
