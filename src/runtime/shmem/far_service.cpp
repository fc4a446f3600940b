#include "runtime/shmem/far_service.h"

#include "platform/wait.h"
#include "waiting/constants.h"

namespace terrane::runtime::shmem {

FarService::FarService(transport::Transport& transport, StridedMail::Own own, LossHandler on_loss)
    : transport_(transport), mail_(transport, std::move(own)), on_loss_(std::move(on_loss)) {
  thread_.start({[this](std::uint64_t timeout_ns, std::uint64_t) { transport_.sleep(timeout_ns); },
                 [this] { transport_.interrupt(); }, [this] { return turn(); }});
}

void FarService::sleep(std::uint64_t timeout_ns) {
  unattend();
  transport_.sleep(timeout_ns);
  attend();
}

void FarService::received(NodeId from, transport::Bytes message) {
  auto good = mail_.received(from, message);
  if (!good) on_loss_(from, good.error().message);
}

// Called by one thread at a time, as poll() delivers.
void FarService::lost(NodeId peer, std::string_view why) {
  if (lost_at_ns_.load() != 0 || expected_.load()) return;
  lost_ = peer;
  why_ = why;
  lost_at_ns_.store(platform::now_ns());
}

waiting::HandlerTurn FarService::turn() {
  while (transport_.pending() && transport_.poll(*this) > 0) {
  }
  std::uint64_t lost_at = lost_at_ns_.load();
  bool late = lost_at != 0 && platform::now_ns() - lost_at >= waiting::kLossGraceNs;
  if (late && !told_ && !expected_.load()) {
    told_ = true;
    on_loss_(lost_, why_);
  }
  return {};
}

}  // namespace terrane::runtime::shmem
