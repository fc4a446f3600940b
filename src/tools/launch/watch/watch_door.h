#pragma once

#include <list>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "tools/launch/link.h"
#include "tools/launch/watch/collector.h"

namespace terrane::tools {

// Where `terrane top` of the same user on the same host asks a job for views (local_door.h). Owns
// the socket and the connections. A visitor gets one view for each question.
class WatchDoor {
 public:
  WatchDoor(Loop& loop, Collector& collector) : loop_(loop), collector_(collector) {}
  ~WatchDoor() { close(); }
  WatchDoor(const WatchDoor&) = delete;

  // By the job's name or, where another job has that, by the number of its process. False: there is
  // no door, and the job runs without one.
  bool open(const std::string& job, const std::string& process);
  // Ends all connections.
  void close();

 private:
  // The connection and the collector, which may answer after its end, share it.
  struct Visitor {
    std::unique_ptr<Link> link;
    bool waits = false;
    bool gone = false;
  };

  void admit();
  bool on_frame(const std::shared_ptr<Visitor>& visitor, std::span<const std::byte> frame);
  void drop_gone();

  Loop& loop_;
  Collector& collector_;
  base::UniqueFd listener_;
  std::list<std::shared_ptr<Visitor>> visitors_;
};

inline constexpr std::string_view kWatchDoor = "terrane-top-";

}  // namespace terrane::tools
