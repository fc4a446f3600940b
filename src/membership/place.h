#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "bootstrap/bootstrap.h"

namespace terrane::membership {

class Part;

// The place of a process in its job, and the parts that front-ends have in it. Owns the connection
// to the launcher. Outlives its parts. Any thread.
class Place {
 public:
  using Connect = std::function<base::Result<std::unique_ptr<bootstrap::Bootstrap>>()>;
  explicit Place(Connect connect) : connect_(std::move(connect)) {}

  base::Result<std::unique_ptr<bootstrap::Bootstrap>> join();

 private:
  friend class Part;

  // Parts are in the job from join() or an exchange of theirs until leaving().
  void left(Part& part, bootstrap::Departure departure);
  bool has_others(const Part& part);
  std::uint32_t interfaces();
  void give_back(Part& part);
  bool others_inside(const Part& part) const;
  base::Result<std::vector<bootstrap::Contribution>> exchange(Part& part,
                                                              std::span<const std::byte> bytes,
                                                              std::span<const int> fds);
  std::optional<bootstrap::News> take_news(Part& part);

  const Connect connect_;
  std::mutex joining_;    // before the others
  std::mutex exchanges_;  // one at a time
  std::mutex news_;       // of the parts' queues, too
  std::unique_ptr<bootstrap::Bootstrap> job_;
  std::atomic<pid_t> process_{0};  // 0: no place yet
  bool lost_ = false;
  std::vector<Part*> parts_;  // guarded by joining_ and news_
};

}  // namespace terrane::membership
