#include "runtime/shmem/job_world.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/log.h"
#include "runtime/wiring.h"

namespace terrane::runtime::shmem {
namespace {

constexpr std::uint64_t kFirstNapNs = 20'000;
constexpr std::uint64_t kLongestNapNs = 1'000'000;

base::Result<platform::SharedMapping> make_part(std::uint64_t bytes, const char* name,
                                                base::UniqueFd& fd) {
  auto made = platform::create_memfd(bytes, name);
  if (!made) return made.error();
  fd.reset(made.value());
  return platform::SharedMapping::map(fd.get(), bytes);
}

}  // namespace

base::Result<std::unique_ptr<JobWorld>> JobWorld::connect() {
  auto bootstrap = bootstrap::Bootstrap::connect();
  if (!bootstrap) return bootstrap.error();
  return std::unique_ptr<JobWorld>(new JobWorld(std::move(bootstrap).value()));
}

JobWorld::JobWorld(std::unique_ptr<bootstrap::Bootstrap> bootstrap)
    : bootstrap_(std::move(bootstrap)) {
  base::set_log_identity(fmt::format("PE {} ({})", self().value, bootstrap_->host()));
  auto hosts = bootstrap_->hosts();
  one_host_ = std::all_of(hosts.begin(), hosts.end(), [](std::uint32_t host) { return host == 0; });
}

JobWorld::~JobWorld() = default;

base::Result<> JobWorld::make_memory() {
  auto heap = make_part(std::uint64_t{1} << 30, "terrane-heap", heap_fd_);
  if (!heap) return heap.error();
  heap_ = std::move(heap).value();
  auto control = make_part(kControlBytes, "terrane-control", control_fd_);
  if (!control) return control.error();
  control_ = std::move(control).value();
  auto statics = platform::create_memfd(4096, "terrane-statics");
  if (!statics) return statics.error();
  statics_fd_.reset(statics.value());
  return {};
}

base::Result<> JobWorld::join() {
  auto options = read_options(pes());
  if (!options) return options.error();
  if (auto made = make_memory(); !made) return made;
  const std::array<transport::ExportedRegion, kParts> regions{{{heap_fd_.get(), heap_.bytes()},
                                                               {statics_fd_.get(), 4096},
                                                               {control_fd_.get(), kControlBytes}}};
  auto wiring = wire_up(*bootstrap_, options.value(), "shmem", regions);
  if (!wiring) return wiring.error();
  transport_ = std::move(wiring.value().transport);
  PeerMemory::Own own{
      self(), {heap_.data(), heap_.bytes()}, {control_.data(), kControlBytes}, &statics_};
  memory_ = std::make_unique<PeerMemory>(own, pes(), *transport_);
  if (!memory_->all_in_reach())
    return base::error("OpenSHMEM serves the PEs of one host; start it with: terrane run -n {}",
                       pes());
  auto* place = memory_->at(NodeId{0}, {Part::kControl, kMeetingOffset});
  rendezvous_ = std::make_unique<Rendezvous>(*reinterpret_cast<MeetingPlace*>(place), pes());
  return {};
}

bool JobWorld::all_agree(bool yes) {
  rendezvous_->arrive(yes);
  wait_until([&] { return rendezvous_->decided(); });
  return rendezvous_->agreed();
}

void JobWorld::leave() {
  all_agree(true);
  bootstrap_->leaving();
}

// Whoever comes to an exchange is in the job again. One who has ended meanwhile cannot come: the
// launcher tells.
base::Result<> JobWorld::rejoin() {
  auto all = bootstrap_->exchange({}, {});
  return all ? base::Result<>() : all.error();
}

void JobWorld::end_job(int code) { bootstrap_->ending(code); }

void JobWorld::fail(std::string_view sentence) {
  bootstrap_->fail(sentence, 1);
  std::abort();
}

void JobWorld::nap(std::uint64_t& nap_ns) {
  nap_ns = std::clamp(nap_ns * 2, kFirstNapNs, kLongestNapNs);
  timespec time{0, static_cast<long>(nap_ns)};
  ::nanosleep(&time, nullptr);
}

}  // namespace terrane::runtime::shmem
