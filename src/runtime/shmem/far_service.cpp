#include "runtime/shmem/far_service.h"

#include <pthread.h>

#include "platform/wait.h"
#include "runtime/quiet_thread.h"

namespace terrane::runtime::shmem {
namespace {

constexpr std::uint64_t kSleepNs = 100'000'000;        // a bound on every sleep
constexpr std::uint64_t kLossGraceNs = 5'000'000'000;  // in which the launcher may end the job

}  // namespace

FarService::FarService(transport::Transport& transport, StridedMail::Own own, LossHandler on_loss)
    : transport_(transport), mail_(transport, std::move(own)), on_loss_(std::move(on_loss)) {
  thread_ = start_without_signals([this] { serve(); });
}

FarService::~FarService() {
  stopping_.store(true);
  transport_.interrupt();
  thread_.join();
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

void FarService::serve() {
  pthread_setname_np(pthread_self(), "terrane-handler");
  bool told = false;
  while (!stopping_.load()) {
    transport_.sleep(kSleepNs);
    while (transport_.pending() && transport_.poll(*this) > 0) {
    }
    std::uint64_t lost_at = lost_at_ns_.load();
    bool late = lost_at != 0 && platform::now_ns() - lost_at >= kLossGraceNs;
    if (!late || told || expected_.load()) continue;
    told = true;
    on_loss_(lost_, why_);
  }
}

}  // namespace terrane::runtime::shmem
