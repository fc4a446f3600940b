#include "tools/launch/watch/watch_door.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <utility>

#include "tools/launch/codec.h"
#include "tools/launch/local_door.h"

namespace terrane::tools {
namespace {

constexpr std::size_t kMostViewers = 64;

}  // namespace

bool WatchDoor::open(const std::string& job, const std::string& process) {
  listener_ = open_local_door(kWatchDoor, job, SOCK_STREAM);
  if (!listener_) listener_ = open_local_door(kWatchDoor, process, SOCK_STREAM);
  return listener_ && loop_.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) { admit(); });
}

void WatchDoor::close() {
  if (listener_) loop_.forget(listener_.get());
  listener_.reset();
  for (auto& visitor : visitors_) visitor->link->close();
  visitors_.clear();
}

void WatchDoor::admit() {
  drop_gone();
  base::UniqueFd socket = admit_at_local_door(listener_.get());
  if (!socket || visitors_.size() >= kMostViewers) return;
  auto visitor = std::make_shared<Visitor>();
  visitor->link = std::make_unique<Link>(loop_, std::move(socket));
  std::weak_ptr<Visitor> weak = visitor;
  visitor->link->set_handlers({.on_frame =
                                   [this, weak](std::span<const std::byte> frame) {
                                     auto known = weak.lock();
                                     return known && on_frame(known, frame);
                                   },
                               .on_closed =
                                   [weak](const std::string&) {
                                     if (auto known = weak.lock()) known->gone = true;
                                   }});
  visitors_.push_back(std::move(visitor));
}

// A link is not destroyed by its own handlers.
void WatchDoor::drop_gone() {
  visitors_.remove_if([](const auto& visitor) { return visitor->gone; });
}

bool WatchDoor::on_frame(const std::shared_ptr<Visitor>& visitor,
                         std::span<const std::byte> frame) {
  auto request = decode_message<WatchRequest>(frame);
  if (!request) return false;
  if (std::get<watch::Ask>(*request).format != watch::kFormat) {
    visitor->link->send(encode_message<WatchAnswer>(watch::Refused{
        "this job was started by another version of Terrane; use the `terrane` that started it"}));
    return true;
  }
  if (std::exchange(visitor->waits, true)) return true;
  collector_.ask([weak = std::weak_ptr<Visitor>(visitor)](const JobView& view) {
    auto known = weak.lock();
    if (!known || known->gone) return;
    known->waits = false;
    auto answer = encode_message<WatchAnswer>(watch::View{view});
    if (answer.size() > kMaxFrameBytes)
      answer =
          encode_message<WatchAnswer>(watch::Refused{"this job has too many nodes for a view"});
    known->link->send(answer);
  });
  return true;
}

}  // namespace terrane::tools
