#include "runtime/shmem/job_world.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "base/log.h"
#include "membership/membership.h"
#include "platform/wait.h"
#include "runtime/shmem/control_layout.h"
#include "runtime/wiring.h"
#include "waiting/constants.h"

namespace terrane::runtime::shmem {
namespace {

// What a PE contributes to the exchange.
struct PeCard {
  std::uint64_t heap_bytes = 0;
  std::uint64_t program = 0, statics = 0;  // identities
};

}  // namespace

base::Result<std::unique_ptr<JobWorld>> JobWorld::connect(std::string (*place)()) {
  auto bootstrap = membership::join();
  if (!bootstrap) return bootstrap.error();
  if (auto alone = refuse_guests(*bootstrap.value(), "OpenSHMEM"); !alone) return alone.error();
  return std::unique_ptr<JobWorld>(new JobWorld(std::move(bootstrap).value(), place));
}

JobWorld::JobWorld(std::unique_ptr<bootstrap::Bootstrap> bootstrap, std::string (*place)())
    : bootstrap_(std::move(bootstrap)), place_(place) {
  base::set_log_identity(fmt::format("PE {} ({})", self().value, bootstrap_->host()));
}

// If UCX is the only transport no PE maps another's memory: each is as if on its own host.
void JobWorld::find_hosts(const Options& options) {
  auto hosts = bootstrap_->hosts();
  host_of_.assign(hosts.begin(), hosts.end());
  if (options.transport == "ucx") std::iota(host_of_.begin(), host_of_.end(), 0u);
  knows_clusters_ = options.clusters;
  one_host_ =
      std::all_of(host_of_.begin(), host_of_.end(), [](std::uint32_t host) { return host == 0; });
}

base::Result<> JobWorld::make_memory() {
  auto heap = SymmetricHeap::reserve(settings_.symmetric_bytes, bootstrap_->nodes_on_host());
  if (!heap) return heap.error();
  heap_ = std::move(heap).value();
  const std::uint64_t bytes = control_bytes(pes());
  auto control = platform::create_memfd(bytes, "terrane-control");
  if (!control) return control.error();
  control_fd_.reset(control.value());
  auto mapping = platform::SharedMapping::map(control_fd_.get(), bytes);
  if (!mapping) return mapping.error();
  control_ = std::move(mapping).value();
  if (statics_.fd() < 0)
    return base::error("static data cannot be symmetric: {}", statics_.error());
  if (one_host_) return {};
  auto all_statics = platform::SharedMapping::map(statics_.fd(), statics_.bytes());
  if (!all_statics) return all_statics.error();
  all_statics_ = std::move(all_statics).value();
  return {};
}

base::Result<> JobWorld::join() {
  auto settings = read_settings();
  if (!settings) return settings.error();
  settings_ = settings.value();
  auto options = read_options(pes());
  if (!options) return options.error();
  find_hosts(options.value());
  if (auto made = make_memory(); !made) return made;
  if (auto connected = connect_memory(options.value()); !connected) return connected;
  rendezvous_.reset(new Rendezvous(*this, pes()));
  if (!one_host_) {
    far_ = std::make_unique<FarService>(
        *transport_,
        [this](SymmetricAddress place, std::uint64_t bytes) { return own(place, bytes); },
        [this](NodeId pe, const std::string& why) {
          fail(fmt::format("PE {} on host {} is lost: {}", pe.value, bootstrap_->host_name(pe),
                           why));
        });
  }
  take_new_statics();
  return {};
}

// The address of our memory at a place that another PE names; nullptr unless there are that many
// bytes.
std::byte* JobWorld::own(SymmetricAddress place, std::uint64_t bytes) const {
  auto part = static_cast<std::uint32_t>(place.part);
  if (place.offset >= transport_->region_bytes(self(), part)) return nullptr;
  std::byte* here = memory_->at(self(), place);
  return here != nullptr && memory_->locate(here, bytes) ? here : nullptr;
}

base::Result<> JobWorld::connect_memory(const Options& options) {
  waiting::Patience::set_ms(options.patience_ms);
  const std::array<transport::ExportedRegion, kParts> regions{
      {{heap_->fd(), heap_->reserved_bytes(), heap_->data()},
       {statics_.fd(), statics_.bytes(), all_statics_.data()},
       {control_fd_.get(), control_.bytes(), control_.data()}}};
  const PeCard mine{heap_->reserved_bytes(), statics_.program_identity(),
                    statics_.start_identity()};
  auto wiring = wire_up(*bootstrap_, options, "shmem", regions, std::as_bytes(std::span(&mine, 1)));
  if (!wiring) return wiring.error();
  transport_ = std::move(wiring.value().transport);
  auto heap_bytes = compare_cards(wiring.value().said);
  if (!heap_bytes) return heap_bytes.error();
  heap_->agree_on(heap_bytes.value());
  memory_ = std::make_unique<PeerMemory>(
      PeerMemory::Own{.self = self(),
                      .heap = {heap_->data(), heap_bytes.value()},
                      .control = {control_.data(), control_.bytes()},
                      .statics = &statics_.directory(),
                      .blocks = heap_.get(),
                      .look_for_more = [this] { return take_new_statics(); }},
      pes(), *transport_);
  return {};
}

// The size of the heap that all PEs can have. An error if the programs differ.
base::Result<std::uint64_t> JobWorld::compare_cards(
    const std::vector<std::vector<std::byte>>& said) const {
  std::uint64_t heap_bytes = heap_->reserved_bytes();
  for (std::uint32_t pe = 0; pe < said.size(); ++pe) {
    PeCard card;
    if (said[pe].size() != sizeof card)
      return base::error("the introduction of PE {} is malformed", pe);
    std::memcpy(&card, said[pe].data(), sizeof card);
    bool same_program = card.program == statics_.program_identity();
    if (!same_program || card.statics != statics_.start_identity()) {
      return base::error(
          "PE {} on host {} runs {} than PE {} on host {}; static data are symmetric only where "
          "all "
          "PEs run the same files: install the same ones on all hosts",
          pe, bootstrap_->host_name(NodeId{pe}),
          same_program ? "with other libraries" : "another program", self().value,
          bootstrap_->host());
    }
    heap_bytes = std::min(heap_bytes, card.heap_bytes);
  }
  return heap_bytes;
}

bool JobWorld::take_new_statics() {
  std::size_t before = statics_.directory().size();
  auto taken = statics_.take_new(*this);
  if (!taken) fail(taken.error().message);
  return statics_.directory().size() != before;
}

// The first PE that has loaded a module enters it at PE 0 and reserves room for it.
std::optional<std::uint64_t> JobWorld::place(std::uint64_t identity, std::uint64_t bytes) {
  constexpr std::uint64_t kLate = offsetof(WorldPage, late);
  for (std::uint32_t entry = 0; entry < LatePlaces::kEntries; ++entry) {
    std::uint64_t at = kLate + offsetof(LatePlaces, entries) + entry * sizeof(LatePlace);
    std::uint64_t offset = at + offsetof(LatePlace, offset);
    std::uint64_t found = compare_swap(at + offsetof(LatePlace, module), 0, identity);
    if (found == 0) {
      std::uint64_t used = add(kLate + offsetof(LatePlaces, used_bytes), bytes);
      add(offset, statics_.start_bytes() + used + 1);
      return statics_.start_bytes() + used;
    }
    if (found != identity) continue;
    wait_until([&] { return load(offset) != 0; });
    return load(offset) - 1;
  }
  return std::nullopt;
}

std::uint64_t JobWorld::load(std::uint64_t offset) {
  std::byte* near = memory_->at(NodeId{0}, in_control(offset));
  if (near == nullptr) return add(offset, 0);
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(near)).load(std::memory_order_acquire);
}

std::uint64_t JobWorld::add(std::uint64_t offset, std::uint64_t value) {
  return update(offset, {.op = transport::AtomicOp::kAdd, .operand = value});
}

std::uint64_t JobWorld::compare_swap(std::uint64_t offset, std::uint64_t expected,
                                     std::uint64_t value) {
  return update(offset,
                {.op = transport::AtomicOp::kCompareSwap, .operand = value, .expected = expected});
}

std::uint64_t JobWorld::update(std::uint64_t offset, const transport::Atomic& operation) {
  auto before = transport_->atomic_fetch(
      NodeId{0}, {static_cast<std::uint32_t>(Part::kControl), offset}, operation);
  if (!before) fail_unreached(before.error().message);
  return before.value();
}

bool JobWorld::all_agree(bool yes) {
  meet();
  if (!one_host_) {
    auto done = transport_->quiet();
    if (!done) fail_unreached(done.error().message);
  }
  rendezvous_->arrive(yes);
  wait_until([&] { return rendezvous_->decided(); });
  return rendezvous_->agreed();
}

// PE 0 keeps the page of the rendezvous until no other PE reads it.
void JobWorld::leave() {
  all_agree(true);
  if (far_) {
    far_->expect_losses(true);
    if (self().value != 0) {
      rendezvous_->depart();
    } else {
      wait_until([&] { return rendezvous_->all_departed(); });
    }
    rendezvous_->end();
  }
  heap_->clear();
  // The collectives start anew after this. No PE begins one before all have come to the next
  // exchange.
  constexpr std::uint64_t kOurs = sizeof(ControlArea::world);
  platform::punch_hole(control_fd_.get(), {kOurs, control_.bytes() - kOurs});
  bootstrap_->leaving(bootstrap::Departure::kWithAll);
}

// A PE that comes to this exchange is in the job again. If a PE has ended meanwhile, the launcher
// reports that.
base::Result<> JobWorld::rejoin() {
  auto all = bootstrap_->exchange({}, {});
  if (!all) return all.error();
  if (far_) far_->expect_losses(false);
  return {};
}

void JobWorld::end_job(int code) { bootstrap_->ending(code); }

void JobWorld::fail(std::string_view sentence) {
  bootstrap_->fail(sentence, 1);
  std::abort();
}

void JobWorld::fail_unreached(std::string_view sentence) {
  constexpr timespec kPause{0, 20'000'000};
  std::uint64_t until_ns = platform::now_ns() + waiting::kLossGraceNs;
  while (platform::now_ns() < until_ns) {
    look_for_deaths();
    ::nanosleep(&kPause, nullptr);
  }
  fail(sentence);
}

void World::tell_of_wait(double seconds) const {
  if (call_ != nullptr) base::log("has waited {:.3g} s in {}{}", seconds, call_, place_of_call());
}

bool JobWorld::nap(std::uint64_t& nap_ns) {
  nap_ns = std::clamp(nap_ns + nap_ns / 4, waiting::kFirstNapNs, waiting::kLongestNapNs);
  look_for_deaths();
  if (far_) {
    std::uint64_t moves = transport_->moves();
    far_->sleep(nap_ns);
    return transport_->moves() != moves;
  }
  timespec time{0, static_cast<long>(nap_ns)};
  ::nanosleep(&time, nullptr);
  return false;
}

// If the launcher lets the job go on without a PE, a waiting PE would wait for ever.
void JobWorld::look_for_deaths() {
  std::unique_lock hold(news_, std::try_to_lock);
  if (!hold || bootstrap_->news_fd() < 0) return;
  auto news = bootstrap_->take_news();
  if (news && news->kind == bootstrap::News::Kind::kDied)
    fail(fmt::format("{}; OpenSHMEM cannot go on without PE {}: run it without --on-death survive",
                     news->why, news->node.value));
}

}  // namespace terrane::runtime::shmem
