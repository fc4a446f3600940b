#include "membership/part.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

namespace terrane::membership {

base::Result<std::unique_ptr<bootstrap::Bootstrap>> Part::create(Place& place) {
  std::unique_ptr<Part> part(new Part(place));
  if (auto watched = part->watch_news(); !watched) return watched.error();
  return std::unique_ptr<Bootstrap>(std::move(part));
}

// The news that another part took off the launcher's descriptor are still news to this one.
base::Result<> Part::watch_news() {
  if (job_.news_fd() < 0) return {};  // without a launcher there are none
  heard_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  either_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!heard_ || !either_) return base::errno_error("cannot make a descriptor for the job's news");
  for (int fd : {job_.news_fd(), heard_.get()}) {
    epoll_event readable{.events = EPOLLIN, .data = {}};
    if (::epoll_ctl(either_.get(), EPOLL_CTL_ADD, fd, &readable) < 0)
      return base::errno_error("cannot watch the job's news");
  }
  return {};
}

void Part::fail(std::string_view sentence, int code) {
  job_.fail(sentence, code);
  ::_exit(code);
}

// A part that no longer listens keeps one question of the launcher.
void Part::hear(const bootstrap::News& news) {
  using Kind = bootstrap::News::Kind;
  bool asked = std::ranges::any_of(
      news_, [](const bootstrap::News& one) { return one.kind == Kind::kAsked; });
  if (asked && news.kind == Kind::kAsked) return;
  news_.push_back(news);
  if (news_.size() == 1) ::eventfd_write(heard_.get(), 1);
}

std::optional<bootstrap::News> Part::next() {
  if (news_.empty()) return std::nullopt;
  bootstrap::News first = std::move(news_.front());
  news_.pop_front();
  eventfd_t count = 0;
  if (news_.empty()) ::eventfd_read(heard_.get(), &count);
  return first;
}

}  // namespace terrane::membership
