#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/unique_fd.h"
#include "bootstrap/bootstrap.h"
#include "platform/mapping.h"
#include "runtime/options.h"
#include "runtime/shmem/far_service.h"
#include "runtime/shmem/peer_memory.h"
#include "runtime/shmem/rendezvous.h"
#include "runtime/shmem/settings.h"
#include "runtime/shmem/statics.h"
#include "runtime/shmem/symmetric_heap.h"
#include "runtime/shmem/world.h"

namespace terrane::runtime::shmem {

// The World of a process in a job. Owns the connection to the launcher, the transport, this PE's
// memory and the mappings of the other PEs' memory.
class JobWorld final : public World, private Statics::Places, private WorldWords {
 public:
  // Finds out which PE of which job this is. Before join(), only self(), pes(), fail() and
  // end_job() may be called. `place` names the place of the program's call.
  static base::Result<std::unique_ptr<JobWorld>> connect(std::string (*place)());

  // Collective: creates this PE's memory and connects to the other PEs' memory.
  base::Result<> join();
  // Collective: waits for all PEs; afterwards the exit of this process is in order. The memory
  // stays mapped.
  void leave();
  bool has_joined() const { return memory_ != nullptr; }
  // Collective, after leave(): undoes it.
  base::Result<> rejoin();

  // Collective: waits until all PEs have said yes or no. True: all said yes.
  bool all_agree(bool yes);
  // Makes the static data of libraries symmetric that the program has opened meanwhile. True: there
  // were some. PEs that have opened the same library reach each other's data. Cheap if there is no
  // new one.
  bool take_new_statics();
  // The same, at the start of every collective call: a library is opened before its barrier; after
  // the barrier other PEs may write to the library's data.
  void meet() {
    if (statics_.may_have_new()) take_new_statics();
  }
  const Statics& statics() const { return statics_; }
  // Reports to the launcher that the whole job ends with `code`, in order: the launcher expects the
  // exit of this process, and is ending the others when this returns.
  void end_job(int code);

  NodeId self() const override { return bootstrap_->self(); }
  std::uint32_t pes() const override { return bootstrap_->nodes(); }
  std::string host_name() const { return std::string(bootstrap_->host()); }
  std::uint32_t host_of(NodeId pe) const override { return host_of_[pe.value]; }
  std::uint32_t cluster_of(NodeId pe) const override {
    return knows_clusters_ ? bootstrap_->cluster_of(pe) : 0;
  }
  bool one_host() const override { return one_host_; }
  const PeerMemory& memory() const override { return *memory_; }
  SymmetricHeap& heap() { return *heap_; }
  const Settings& settings() const { return settings_; }
  transport::Transport& transport() override { return *transport_; }
  StridedMail* strided_mail() override { return far_ ? &far_->mail() : nullptr; }
  bool progress() override { return far_ && far_->progress(); }
  [[noreturn]] void fail(std::string_view sentence) override;
  [[noreturn]] void fail_unreached(std::string_view sentence) override;
  std::string place_of_call() const override { return place_(); }

 protected:
  bool nap(std::uint64_t& nap_ns) override;
  void attend(bool attends) override { attends ? far_->attend() : far_->unattend(); }

 private:
  JobWorld(std::unique_ptr<bootstrap::Bootstrap> bootstrap, std::string (*place)());
  base::Result<> make_memory();
  void find_hosts(const Options& options);
  base::Result<> connect_memory(const Options& options);
  std::byte* own(SymmetricAddress place, std::uint64_t bytes) const;
  base::Result<std::uint64_t> compare_cards(const std::vector<std::vector<std::byte>>& said) const;
  std::optional<std::uint64_t> place(std::uint64_t identity, std::uint64_t bytes) override;
  std::uint64_t load(std::uint64_t offset) override;
  std::uint64_t add(std::uint64_t offset, std::uint64_t value) override;
  std::uint64_t compare_swap(std::uint64_t offset, std::uint64_t expected,
                             std::uint64_t value) override;
  std::uint64_t update(std::uint64_t offset, const transport::Atomic& operation);
  void look_for_deaths();

  std::unique_ptr<bootstrap::Bootstrap> bootstrap_;
  Settings settings_;
  std::unique_ptr<SymmetricHeap> heap_;
  Statics& statics_ = Statics::of_process();
  base::UniqueFd control_fd_;
  platform::SharedMapping control_;
  platform::SharedMapping all_statics_;  // in one piece, for other hosts
  std::unique_ptr<transport::Transport> transport_;
  std::unique_ptr<PeerMemory> memory_;
  std::unique_ptr<Rendezvous> rendezvous_;
  std::unique_ptr<FarService> far_;  // nullptr: there is one host only
  std::mutex news_;
  std::vector<std::uint32_t> host_of_;  // by PE; PEs with the same one map each other's memory
  bool one_host_ = true;
  bool knows_clusters_ = true;
  std::string (*const place_)();
};

}  // namespace terrane::runtime::shmem
