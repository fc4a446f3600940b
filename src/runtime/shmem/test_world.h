#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "runtime/shmem/control_layout.h"
#include "runtime/shmem/late_puts.h"
#include "runtime/shmem/teams.h"
#include "runtime/shmem/world.h"

// A world whose PEs are threads of the test, with all memory in one process, so that any collective
// can run under ThreadSanitizer. Hosts are simulated: memory of a PE on another host is not in
// reach, and is accessed through the transport.
namespace terrane::runtime::shmem {

constexpr std::uint64_t kTestHeapBytes = 16 << 20;

// The memory of all PEs.
class TestMachine {
 public:
  explicit TestMachine(std::vector<std::uint32_t> host_of,
                       std::vector<std::uint32_t> cluster_of_host = {})
      : host_of_(std::move(host_of)), cluster_of_host_(std::move(cluster_of_host)) {
    bytes_ = kTestHeapBytes + control_bytes(pes());
    std::uint64_t all = bytes_ * pes();
    void* memory = mmap(nullptr, all, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    TERRANE_CHECK(memory != MAP_FAILED, "memory for a test");
    memory_ = static_cast<std::byte*>(memory);
  }
  ~TestMachine() { munmap(memory_, bytes_ * pes()); }
  TestMachine(const TestMachine&) = delete;
  TestMachine& operator=(const TestMachine&) = delete;

  std::uint32_t pes() const { return static_cast<std::uint32_t>(host_of_.size()); }
  std::uint32_t host_of(NodeId pe) const { return host_of_[pe.value]; }
  std::uint32_t cluster_of(NodeId pe) const {
    return cluster_of_host_.empty() ? 0 : cluster_of_host_[host_of(pe)];
  }
  // Counts calls from one cluster to another.
  std::atomic<std::uint64_t> crossed{0};
  std::byte* part(NodeId pe, Part part) const {
    return memory_ + pe.value * bytes_ + (part == Part::kHeap ? 0 : kTestHeapBytes);
  }
  std::uint64_t part_bytes(Part part) const {
    return part == Part::kHeap ? kTestHeapBytes : bytes_ - kTestHeapBytes;
  }

 private:
  std::vector<std::uint32_t> host_of_;
  std::vector<std::uint32_t> cluster_of_host_;
  std::uint64_t bytes_ = 0;
  std::byte* memory_ = nullptr;
};

// The transport between hosts: accesses the memory directly, or delays puts.
class TestTransport final : public transport::Transport {
 public:
  TestTransport(TestMachine& machine, NodeId self, bool late) : machine_(&machine), self_(self) {
    if (late) late_ = std::make_unique<LatePuts>(std::chrono::milliseconds(5));
  }
  base::Result<> put(NodeId peer, transport::RemoteAddress to, transport::Bytes from) override {
    count(peer);
    if (!late_) return Transport::put(peer, to, from);
    late_->send(reach(peer, to.region) + to.offset, from);
    return {};
  }
  base::Result<std::uint64_t> atomic_fetch(NodeId peer, transport::RemoteAddress word,
                                           const transport::Atomic& atomic) override {
    count(peer);
    if (late_) late_->wait_until_all_have_come();
    return Transport::atomic_fetch(peer, word, atomic);
  }
  base::Result<> get(NodeId peer, transport::RemoteAddress from,
                     transport::WritableBytes into) override {
    count(peer);
    return Transport::get(peer, from, into);
  }
  base::Result<> get_nbi(NodeId peer, transport::RemoteAddress from,
                         transport::WritableBytes into) override {
    count(peer);
    return Transport::get_nbi(peer, from, into);
  }
  // One message of a real transport; two calls here.
  base::Result<> put_and_set(NodeId peer, transport::RemoteAddress to, transport::Bytes from,
                             transport::RemoteAddress word, std::uint64_t value) override {
    if (auto done = Transport::put_and_set(peer, to, from, word, value); !done) return done;
    if (machine_->cluster_of(peer) != machine_->cluster_of(self_)) --machine_->crossed;
    return {};
  }
  base::Result<> quiet(NodeId) override { return quiet(); }
  base::Result<> quiet() override {
    if (late_) late_->wait_until_all_have_come();
    return {};
  }
  std::string_view name() const override { return "test"; }
  void send(NodeId, transport::Bytes, transport::Bytes) override {}
  std::size_t poll(transport::Receiver&) override { return 0; }
  bool pending() const override { return false; }
  void sleep(std::uint64_t) override {}
  void attend() override {}
  bool unattend() override { return false; }
  void interrupt() override {}
  std::byte* reach(NodeId peer, std::uint32_t region) override {
    return machine_->part(peer, Part{region});
  }
  std::uint64_t region_bytes(NodeId, std::uint32_t region) const override {
    return machine_->part_bytes(Part{region});
  }

 private:
  void count(NodeId peer) {
    if (machine_->cluster_of(peer) != machine_->cluster_of(self_)) ++machine_->crossed;
  }

  TestMachine* machine_;
  NodeId self_;
  std::unique_ptr<LatePuts> late_;
};

class TestWorld : public World, private SymmetricMemory {
 public:
  TestWorld(TestMachine& machine, NodeId self, bool late_puts = false)
      : machine_(&machine), self_(self), transport_(machine, self, late_puts) {}

  NodeId self() const override { return self_; }
  std::uint32_t pes() const override { return machine_->pes(); }
  std::uint32_t host_of(NodeId pe) const override { return machine_->host_of(pe); }
  std::uint32_t cluster_of(NodeId pe) const override { return machine_->cluster_of(pe); }
  std::uint64_t crossed() const { return machine_->crossed; }
  bool one_host() const override {
    for (std::uint32_t pe = 0; pe < pes(); ++pe) {
      if (!in_reach(NodeId{pe})) return false;
    }
    return true;
  }
  const SymmetricMemory& memory() const override { return *this; }
  transport::Transport& transport() override { return transport_; }
  bool progress() override {
    ++progressed_;
    return false;
  }
  [[noreturn]] void fail_unreached(std::string_view sentence) override {
    TestWorld::fail(sentence);
  }
  [[noreturn]] void fail(std::string_view sentence) override {
    fprintf(stderr, "PE %u: %.*s\n", self_.value, static_cast<int>(sentence.size()),
            sentence.data());
    std::_Exit(70);
  }

  // An object of the heap, `offset` bytes from its start.
  template <typename T>
  T* heap(std::uint64_t offset = 0) const {
    return reinterpret_cast<T*>(machine_->part(self_, Part::kHeap) + offset);
  }
  std::uint64_t progressed() const { return progressed_; }

 protected:
  bool nap(std::uint64_t&) override {
    std::this_thread::yield();
    return false;
  }

 private:
  std::optional<SymmetricAddress> locate(const void* address, std::uint64_t bytes) const override {
    auto offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(address) -
                                             machine_->part(self_, Part::kHeap));
    if (offset > kTestHeapBytes || bytes > kTestHeapBytes - offset) return std::nullopt;
    return SymmetricAddress{Part::kHeap, offset};
  }
  std::byte* at(NodeId pe, SymmetricAddress place) const override {
    return in_reach(pe) ? machine_->part(pe, place.part) + place.offset : nullptr;
  }
  bool in_reach(NodeId pe) const override {
    return machine_->host_of(pe) == machine_->host_of(self_);
  }

  TestMachine* machine_;
  NodeId self_;
  TestTransport transport_;
  std::uint64_t progressed_ = 0;
};

// One PE of a running test.
struct TestPe {
  TestWorld& world;
  Teams& teams;
  std::function<void()> everybody;  // waits for all PEs without the code under test

  std::uint32_t self() const { return world.self().value; }
  Team& all() const { return teams.world_team(); }
};

// The parameters of a test's world.
struct TestSetting {
  std::vector<std::uint32_t> host_of;
  bool crowded = false;
  std::string algorithms;
  bool first_is_late = false;  // delays puts of PE 0 to other hosts
  std::vector<std::uint32_t> cluster_of_host = {};

  static TestSetting one_host(std::uint32_t pes, bool crowded = false) {
    return {std::vector<std::uint32_t>(pes, 0), crowded, {}};
  }
  // Distributes the PEs in turn to hosts of `width` PEs.
  static TestSetting hosts(std::uint32_t pes, std::uint32_t width) {
    TestSetting setting;
    for (std::uint32_t pe = 0; pe < pes; ++pe) setting.host_of.push_back(pe / width);
    return setting;
  }
  static TestSetting clusters(std::vector<std::uint32_t> host_of,
                              std::vector<std::uint32_t> cluster_of_host) {
    TestSetting setting{std::move(host_of), false, {}};
    setting.cluster_of_host = std::move(cluster_of_host);
    return setting;
  }
};

// Runs `program` as every PE of a world.
inline void run_pes(const TestSetting& setting, const std::function<void(TestPe&)>& program) {
  TestMachine machine(setting.host_of, setting.cluster_of_host);
  std::barrier<> meeting(machine.pes());
  // The test has more threads than processors: a PE that waits must not keep another one from its
  // processor.
  waiting::share_processors(machine.pes(), 2);
  std::vector<std::jthread> pes;
  for (std::uint32_t pe = 0; pe < machine.pes(); ++pe) {
    pes.emplace_back([&, pe] {
      TestWorld world(machine, NodeId{pe}, pe == 0 && setting.first_is_late);
      auto teams = Teams::start(world, setting.crowded, setting.algorithms);
      ASSERT_TRUE(teams.ok()) << teams.error().message;
      TestPe self{world, *teams.value(), [&] { meeting.arrive_and_wait(); }};
      program(self);
      meeting.arrive_and_wait();
    });
  }
  pes.clear();
  waiting::share_processors(1, 1);
}

}  // namespace terrane::runtime::shmem
