#include "runtime/shmem/job_world.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "base/log.h"
#include "runtime/wiring.h"

namespace terrane::runtime::shmem {
namespace {

constexpr std::uint64_t kFirstNapNs = 20'000;
constexpr std::uint64_t kLongestNapNs = 1'000'000;

// What a PE tells the others of itself.
struct PeCard {
  std::uint64_t heap_bytes = 0;
};

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
  auto heap = SymmetricHeap::reserve(settings_.symmetric_bytes, bootstrap_->nodes_on_host());
  if (!heap) return heap.error();
  heap_ = std::move(heap).value();
  auto control = platform::create_memfd(kControlBytes, "terrane-control");
  if (!control) return control.error();
  control_fd_.reset(control.value());
  auto mapping = platform::SharedMapping::map(control_fd_.get(), kControlBytes);
  if (!mapping) return mapping.error();
  control_ = std::move(mapping).value();
  auto statics = platform::create_memfd(4096, "terrane-statics");
  if (!statics) return statics.error();
  statics_fd_.reset(statics.value());
  return {};
}

base::Result<> JobWorld::join() {
  auto settings = read_settings();
  if (!settings) return settings.error();
  settings_ = settings.value();
  if (auto made = make_memory(); !made) return made;
  if (auto connected = connect_memory(); !connected) return connected;
  auto* place = memory_->at(NodeId{0}, {Part::kControl, kMeetingOffset});
  rendezvous_ = std::make_unique<Rendezvous>(*reinterpret_cast<MeetingPlace*>(place), pes());
  return {};
}

base::Result<> JobWorld::connect_memory() {
  auto options = read_options(pes());
  if (!options) return options.error();
  const std::array<transport::ExportedRegion, kParts> regions{
      {{heap_->fd(), heap_->reserved_bytes()},
       {statics_fd_.get(), 4096},
       {control_fd_.get(), kControlBytes}}};
  const PeCard mine{heap_->reserved_bytes()};
  auto wiring =
      wire_up(*bootstrap_, options.value(), "shmem", regions, std::as_bytes(std::span(&mine, 1)));
  if (!wiring) return wiring.error();
  control_fd_.reset();
  transport_ = std::move(wiring.value().transport);
  std::uint64_t heap_bytes = heap_->reserved_bytes();
  for (const auto& said : wiring.value().said) {
    PeCard card;
    if (said.size() != sizeof card) return base::error("a PE's introduction is malformed");
    std::memcpy(&card, said.data(), sizeof card);
    heap_bytes = std::min(heap_bytes, card.heap_bytes);
  }
  heap_->agree_on(heap_bytes);
  PeerMemory::Own own{
      self(), {heap_->data(), heap_bytes}, {control_.data(), kControlBytes}, &statics_};
  memory_ = std::make_unique<PeerMemory>(own, pes(), *transport_);
  if (!memory_->all_in_reach())
    return base::error("OpenSHMEM serves the PEs of one host; start it with: terrane run -n {}",
                       pes());
  return {};
}

bool JobWorld::all_agree(bool yes) {
  rendezvous_->arrive(yes);
  wait_until([&] { return rendezvous_->decided(); });
  return rendezvous_->agreed();
}

void JobWorld::leave() {
  all_agree(true);
  heap_->clear();
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
