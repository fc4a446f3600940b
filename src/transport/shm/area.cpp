#include "transport/shm/area.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "platform/wait.h"

namespace terrane::transport::shm {
namespace {

constexpr std::uint64_t kMagic = 0x5445'5252'414e'4531;

// The thread that gets it wakes; a look first, since most find nobody asleep.
Sleeping take(std::atomic<std::uint32_t>& sleeping) {
  if (sleeping.load() == 0) return Sleeping::kNobody;
  return static_cast<Sleeping>(sleeping.exchange(0));
}

}  // namespace

AreaShape AreaShape::for_job(std::uint32_t nodes) {
  // Messages up to half a ring travel in one piece and are handed out without a copy. All rings in
  // use to their full length at once (nodes^2 of them, everybody flooding everybody) must stay
  // bearable.
  std::uint64_t kib = nodes <= 4     ? 4096
                      : nodes <= 8   ? 2048
                      : nodes <= 32  ? 512
                      : nodes <= 128 ? 128
                                     : 32;
  return {nodes, kib << 10};
}

std::uint64_t AreaShape::rings_offset() const {
  std::uint64_t end = kPage + std::uint64_t{nodes} * sizeof(RingControl);
  return (end + kPage - 1) & ~std::uint64_t{kPage - 1};
}

base::Result<Area> Area::map(int fd, AreaShape shape) {
  auto mapping = platform::SharedMapping::map(fd, shape.bytes());
  if (!mapping) return mapping.error();
  Area area;
  area.mapping_ = std::move(mapping).value();
  area.shape_ = shape;
  return area;
}

RingView Area::ring(NodeId sender) const {
  auto* controls = reinterpret_cast<RingControl*>(mapping_.data() + kPage);
  std::byte* data = mapping_.data() + shape_.rings_offset() + sender.value * shape_.ring_bytes;
  return {controls + sender.value, data, shape_.ring_bytes};
}

void Area::sign(std::uint32_t pid) {
  ControlPage& page = control();
  page.magic = kMagic;
  page.pid = pid;
  page.nodes = shape_.nodes;
  page.ring_bytes = shape_.ring_bytes;
}

bool Area::belongs_to(std::uint32_t pid, AreaShape shape) const {
  const ControlPage& page = control();
  return page.magic == kMagic && page.pid == pid && page.nodes == shape.nodes &&
         page.ring_bytes == shape.ring_bytes;
}

void wake_owner(const Doorbell& bell, Sleepers whom) noexcept {
  ControlPage& control = *bell.control;
  if (control.attending.load() != 0) return;
  Sleeping how = take(control.sleeping);
  bool beside = whom == Sleepers::kAll && take(control.beside) != Sleeping::kNobody;
  if (how == Sleeping::kNobody && !beside) return;
  control.bell.fetch_add(1);
  if (beside || how == Sleeping::kOnBell) platform::futex_wake_all(control.bell);
  if (how != Sleeping::kOnDescriptor) return;
  int saved = errno;
  std::uint64_t one = 1;
  [[maybe_unused]] ssize_t put = ::write(bell.fd, &one, sizeof one);
  errno = saved;
}

}  // namespace terrane::transport::shm
