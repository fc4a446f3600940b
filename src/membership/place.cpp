#include "membership/place.h"

#include <unistd.h>

#include <algorithm>

#include "base/open_descriptors.h"
#include "base/own_process.h"
#include "membership/part.h"

namespace terrane::membership {

base::Result<std::unique_ptr<bootstrap::Bootstrap>> Place::join() {
  if (process_ != 0 && process_ != base::own_process())
    return base::error(
        "this process is a child of one that has joined the job; that one alone is in it");
  std::lock_guard hold(joining_);
  if (lost_)
    return base::error(
        "this process has lost its place in the job, since an earlier initialisation failed; "
        "end it");
  if (job_ == nullptr) {
    base::OpenDescriptors before;
    auto job = connect_();
    if (!job) return job.error();
    before.own_later_ones();  // PMIx opens some
    job_ = std::move(job).value();
    process_ = base::own_process();
  }
  auto part = Part::create(*this);
  if (!part) return part.error();
  std::lock_guard hear(news_);
  parts_.push_back(static_cast<Part*>(part.value().get()));
  return part;
}

void Place::left(Part& part, bootstrap::Departure departure) {
  std::lock_guard hold(joining_);
  part.inside_ = false;
  if (!others_inside(part)) job_->leaving(departure);
}

bool Place::has_others(const Part& part) {
  std::lock_guard hold(joining_);
  return others_inside(part);
}

std::uint32_t Place::interfaces() {
  std::lock_guard hold(joining_);
  return static_cast<std::uint32_t>(
      std::ranges::count_if(parts_, [](const Part* one) { return one->inside_; }));
}

bool Place::others_inside(const Part& part) const {
  return std::ranges::any_of(parts_, [&](const Part* one) { return one != &part && one->inside_; });
}

// Where an initialisation failed the others need not wait for this node, which closes its
// connection.
void Place::give_back(Part& part) {
  if (process_ != base::own_process())
    return;  // a child of a fork: the parent's lock may be held for ever
  std::lock_guard hold(joining_);
  std::lock_guard hear(news_);
  std::erase(parts_, &part);
  if (!parts_.empty() || !part.inside_) return;
  lost_ = true;
  job_.reset();
}

base::Result<std::vector<bootstrap::Contribution>> Place::exchange(Part& part,
                                                                   std::span<const std::byte> bytes,
                                                                   std::span<const int> fds) {
  {
    std::lock_guard hold(joining_);
    part.inside_ = true;
  }
  std::lock_guard hold(exchanges_);
  return job_->exchange(bytes, fds);
}

std::optional<bootstrap::News> Place::take_news(Part& part) {
  std::lock_guard hold(news_);
  while (auto one = job_->take_news()) {
    for (Part* each : parts_) each->hear(*one);
  }
  return part.next();
}

}  // namespace terrane::membership
