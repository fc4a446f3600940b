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
#include "platform/ticks.h"
#include "runtime/trace/event_ring.h"

namespace terrane::runtime::trace {

// A node's event log. Each thread records events in its own ring, which is written to the file when
// it is full, and every 100 ms. No event is left out. If the file cannot grow, the log ends there
// with an error message, and the job goes on. The last 100 ms of a node that dies are lost. Any
// thread may call.
class EventLog {
 public:
  struct Place {
    std::string folder;  // created if it does not exist
    NodeId node;
    std::uint32_t nodes = 0;
    std::string host;
    std::string front_end = {};  // a part of the file's name, where a process has several logs
  };
  // An error if the folder already has a log of this node.
  static base::Result<std::unique_ptr<EventLog>> create(const Place& place);
  // Records that the node has left the job in order.
  ~EventLog();
  EventLog(const EventLog&) = delete;

  // The meaning of the fields depends on the event (log_format.h). Durations are in ticks here.
  struct Fields {
    std::uint64_t object = 0, value = 0;
    std::uint8_t kind = 0, detail = 0;
    std::uint32_t number = 0;
  };
  void note(Event event, const Fields& fields) { note_at(platform::ticks(), event, fields); }
  void note_at(std::uint64_t ticks, Event event, const Fields& fields) {
    const Record record{ticks,       fields.object, fields.value, event,
                        fields.kind, fields.detail, fields.number};
    const Noting now = noting_;
    if (now.serial != serial_ || !now.ring->add(record)) add(record);
  }
  // Records an event with a text; fields.number is the text's length.
  void note_text(Event event, Fields fields, std::string_view text);

 private:
  explicit EventLog(base::UniqueFd file, std::string path);
  EventRing& ring();
  EventRing& ring_of_new_thread();
  void add(const Record& record);
  void drain(EventRing& ring);
  platform::TickScale marked_scale();
  void in_ns(EventRing& ring, std::span<Record> records);
  void drain_all();
  void write(BlockKind kind, std::uint32_t thread, std::span<const std::byte> bytes);
  void stream();

  // The log that the calling thread used last, and its ring in that log. Reached by one
  // instruction, also in a library that is loaded later.
  struct Noting {
    std::uint64_t serial;
    EventRing* ring;
  };
  struct Mine;
  [[gnu::tls_model("initial-exec")]] static constinit thread_local Noting noting_;

  const std::uint64_t serial_;  // unique among the logs of the process
  const std::string path_;
  std::mutex file_mutex_;
  base::UniqueFd file_;
  platform::TickScale scale_;
  bool ended_ = false;  // the file can take no more

  std::mutex mutex_;  // of the members below
  std::condition_variable stop_;
  bool stopping_ = false;
  std::vector<std::shared_ptr<EventRing>> rings_, free_rings_;
  std::thread streamer_;
};

}  // namespace terrane::runtime::trace
