#include "transport/ucx/worker.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/own_process.h"
#include "base/signals_blocked.h"
#include "platform/wait.h"
#include "transport/ucx/free_port.h"

namespace terrane::transport::ucx {
namespace {

constexpr std::string_view kTransports = "tcp,rc,dc,ud";
// The ways within a host, which are ours, and those of other processors.
constexpr std::array<std::string_view, 14> kUnwanted = {
    "sm",   "shm",  "mm",   "posix",     "sysv",     "xpmem",     "cma",
    "knem", "self", "cuda", "cuda_copy", "cuda_ipc", "rocm_copy", "rocm_ipc"};
// Over sockets a rendezvous copies as often: without, 64 KiB and 1 MiB took less than half the
// time. And with UCX 1.13 messages of 100 KB by rendezvous stood still for ever now and then, where
// many processes shared two processors.
constexpr const char* kRendezvousFrom = "inf";
// UCX's own limit is 256 connections of an interface.
constexpr std::uint32_t kConnectionsByDefault = 256;
// What is copied travels over sockets in segments, 8 KiB by default: with 64 KiB 1 MiB took a third
// to a quarter of the time. Sixteen pages and their header are one segment.
constexpr const char* kSegment = "80k";
// Over sockets all is copied. Where a connection breaks while UCX sends from our memory (1.11 to
// 1.18 at least), it ends that send twice, and aborts the process.
constexpr const char* kSentInPlaceFrom = "inf";
// The engines say which host is dead (--death-after), and the kernel which process is. UCX gives a
// connection up that was idle for 10 s and unanswered for 6 more; the kernel allows at most so
// long.
constexpr const char* kAskedAfter = "32000s";
// By processors alone: those of a network card are not atomic to the target's own.
constexpr const char* kAtomics = "cpu";
// How long a thread may stay inside while the process exits.
constexpr std::uint64_t kClosing_ns = 1'000'000'000;

// What UCX may use: of the user's UCX_TLS what leads to other hosts, or what we know to do so.
std::string transports_allowed() {
  const char* chosen = std::getenv("UCX_TLS");
  if (chosen == nullptr || *chosen == '^') return std::string(kTransports);
  std::string kept;
  std::istringstream names(chosen);
  for (std::string name; std::getline(names, name, ',');) {
    if (name == "all") return std::string(kTransports);
    if (std::find(kUnwanted.begin(), kUnwanted.end(), name) != kUnwanted.end()) continue;
    kept += (kept.empty() ? "" : ",") + name;
  }
  return kept.empty() ? std::string(kTransports) : kept;
}

// The workers that UCX serves in this process.
class Living {
 public:
  static Living& of_process() {
    static auto* one = new Living();  // never destroyed: threads may run on while the process exits
    return *one;
  }

  void add(Worker* worker) {
    std::lock_guard hold(lock_);
    process_ = base::own_process();
    workers_.push_back(worker);
  }
  void remove(Worker* worker) {
    std::lock_guard hold(lock_);
    std::erase(workers_, worker);
  }
  void close_all() {
    if (process_ != base::own_process()) return;  // a child of a fork has no threads of ours
    std::lock_guard hold(lock_);
    for (Worker* worker : workers_) worker->close();
  }

 private:
  std::mutex lock_;
  std::vector<Worker*> workers_;
  pid_t process_ = 0;
};

// The loader ends this library after all that use it, and before UCX, which was opened later.
[[gnu::destructor]] void close_before_ucx_ends() { Living::of_process().close_all(); }

}  // namespace

base::Result<std::unique_ptr<Worker>> Worker::create(const WorkerOptions& options) {
  auto api = UcxApi::load();
  if (!api) return api.error();
  base::SignalsBlocked blocked;  // threads that UCX starts take none of the program's signals
  std::unique_ptr<Worker> worker(new Worker());
  worker->api_ = api.value();
  if (auto started = worker->start(options); !started) return started.error();
  return worker;
}

base::Result<> Worker::failed(const char* what, ucs_status_t status) const {
  return base::error("ucx: {}: {} (UCX {}; UCX_LOG_LEVEL=info tells more)", what, text_of(status),
                     version());
}

base::Result<> Worker::configure(ucp_config_t* config, const WorkerOptions& options) {
  auto set = [&](const char* name, const std::string& value) {
    return api_.config_modify(config, name, value.c_str());
  };
  // UCX 1.13 takes the options of a single transport without its name, and does not mind others.
  auto set_tcp = [&](const std::string& name, const std::string& value) {
    set(name.c_str(), value);
    set(("TCP_" + name).c_str(), value);
  };
  if (ucs_status_t status = set("TLS", transports_allowed()); status != UCS_OK) {
    return failed("the transports", status);
  }
  if (ucs_status_t status = set("NET_DEVICES", options.devices); status != UCS_OK) {
    return failed("the network interfaces", status);
  }
  if (options.sockets_alone && std::getenv("UCX_RNDV_THRESH") == nullptr) {
    set("RNDV_THRESH", kRendezvousFrom);
  }
  if (options.sockets_alone && std::getenv("UCX_ZCOPY_THRESH") == nullptr) {
    set("ZCOPY_THRESH", kSentInPlaceFrom);
  }
  for (const char* way : {"TX", "RX"}) {
    std::string name = std::string(way) + "_SEG_SIZE";
    if (std::getenv(("UCX_TCP_" + name).c_str()) == nullptr) set_tcp(name, kSegment);
  }
  if (std::getenv("UCX_TCP_KEEPIDLE") == nullptr) set_tcp("KEEPIDLE", kAskedAfter);
  if (ucs_status_t status = set("ATOMIC_MODE", kAtomics); status != UCS_OK) {
    return failed("the kind of its atomics", status);
  }
  if (options.nodes > kConnectionsByDefault) {
    set_tcp("MAX_NUM_EPS", std::to_string(2 * options.nodes));
  }
  return {};
}

base::Result<> Worker::start(const WorkerOptions& options) {
  if (auto found = await_free_port(kLeftPortLives); !found) return found;
  ucp_config_t* config = nullptr;
  if (ucs_status_t status = api_.config_read(nullptr, nullptr, &config); status != UCS_OK) {
    return failed("its configuration", status);
  }
  auto configured = configure(config, options);
  ucs_status_t status = UCS_OK;
  if (configured) {
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
    params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
    if (options.one_sided) {
      params.features |= UCP_FEATURE_RMA | UCP_FEATURE_AMO64 | UCP_FEATURE_AMO32;
    }
    params.estimated_num_eps = options.nodes;
    status = api_.init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &context_);
  }
  api_.config_release(config);
  if (!configured) return configured;
  if (status != UCS_OK) return failed("it cannot start on this host", status);

  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  auto keeper = DoorKeeper::create(version());
  if (!keeper) return keeper.error();
  keeper_ = std::move(keeper).value();
  {
    DoorKeeper::Opening opening(*keeper_);
    status = api_.worker_create(context_, &params, &worker_);
  }
  if (status != UCS_OK) return failed("a worker", status);
  status = api_.worker_get_efd(worker_, &event_fd_);
  if (status != UCS_OK) return failed("the worker's event descriptor", status);
  Living::of_process().add(this);
  return {};
}

Worker::~Worker() {
  Living::of_process().remove(this);
  if (worker_ != nullptr) api_.worker_destroy(worker_);
  for (ucp_mem_h memory : exposed_) api_.mem_unmap(context_, memory);
  if (context_ != nullptr) api_.cleanup(context_);
}

void Worker::close() {
  if (inside()) return;
  std::uint64_t deadline_ns = platform::now_ns() + kClosing_ns;
  while (!try_enter() && platform::now_ns() < deadline_ns) ::sched_yield();
}

base::Result<std::vector<std::byte>> Worker::address() const {
  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  ucs_status_t status = api_.worker_get_address(worker_, &address, &bytes);
  if (status != UCS_OK) return failed("the worker's address", status).error();
  auto* first = reinterpret_cast<const std::byte*>(address);
  std::vector<std::byte> copy(first, first + bytes);
  api_.worker_release_address(worker_, address);
  return copy;
}

base::Result<std::vector<std::byte>> Worker::expose(std::byte* base, std::uint64_t bytes) {
  ucp_mem_map_params_t params{};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS;
  params.address = base;
  params.length = bytes;
  params.flags = UCP_MEM_MAP_NONBLOCK;
  ucp_mem_h memory = nullptr;
  ucs_status_t status = api_.mem_map(context_, &params, &memory);
  if (status != UCS_OK) return failed("memory for peers", status).error();
  exposed_.push_back(memory);
  void* key = nullptr;
  std::size_t key_bytes = 0;
  status = api_.rkey_pack(context_, memory, &key, &key_bytes);
  if (status != UCS_OK) return failed("a key to memory", status).error();
  auto* first = static_cast<const std::byte*>(key);
  std::vector<std::byte> copy(first, first + key_bytes);
  api_.rkey_buffer_release(key);
  return copy;
}

}  // namespace terrane::transport::ucx
