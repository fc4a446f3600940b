#include "bootstrap/pmix_client.h"

#include <dlfcn.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace terrane::bootstrap {
namespace {

constexpr const char* kLibrary = "libpmix.so.2";

struct FreeValue {
  void operator()(pmix::Value* value) const {
    if (value->type == pmix::Type::kString) std::free(value->data.string);
    std::free(value);
  }
};
using OwnedValue = std::unique_ptr<pmix::Value, FreeValue>;

std::optional<std::uint64_t> number_of(const pmix::Value& value) {
  switch (value.type) {
    case pmix::Type::kInt:
    case pmix::Type::kUint:
    case pmix::Type::kUint32:
      return value.data.uint32;
    case pmix::Type::kUint16:
      return value.data.uint16;
    case pmix::Type::kSize:
    case pmix::Type::kUint64:
      return value.data.uint64;
    default:
      return std::nullopt;
  }
}

// What the library uses until all have come: it may outlive our wait.
struct Meeting {
  explicit Meeting(const pmix::Process& everybody) : all(everybody) {
    std::strcpy(collect.key, pmix::kCollect);
    collect.value.type = pmix::Type::kBool;
    collect.value.data.flag = true;
  }
  pmix::Process all;
  pmix::Info collect{};
  std::mutex mutex;
  std::condition_variable change;
  std::optional<pmix::Status> status;
};

pmix::Process process_of(const pmix::Process& job, std::uint32_t rank) {
  pmix::Process process = job;
  process.rank = rank;
  return process;
}

}  // namespace

bool PmixClient::offered() { return std::getenv("PMIX_RANK") && std::getenv("PMIX_NAMESPACE"); }

base::Result<PmixClient::Library> PmixClient::load() {
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    return base::error(
        "a PMIx launcher (mpirun, srun) started this program, and {} cannot be loaded here: {}; "
        "install it on every host (Debian: apt install libpmix2), or use: terrane run -n NODES "
        "PROGRAM",
        kLibrary, ::dlerror());
  }
  Library functions{};
  const char* missing = nullptr;
  auto find = [&](auto& function, const char* name) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    if (!function) missing = name;
  };
  find(functions.init, "PMIx_Init");
  find(functions.finalize, "PMIx_Finalize");
  find(functions.put, "PMIx_Put");
  find(functions.commit, "PMIx_Commit");
  find(functions.fence, "PMIx_Fence_nb");
  find(functions.abort, "PMIx_Abort");
  find(functions.get, "PMIx_Get");
  find(functions.error_string, "PMIx_Error_string");
  if (missing)
    return base::error("{} has no function {}: is it a PMIx library?", kLibrary, missing);
  return functions;
}

base::Error PmixClient::failure(const char* what, pmix::Status status) const {
  return base::error("PMIx cannot {}: {} ({})", what, library_.error_string(status), status);
}

base::Result<std::unique_ptr<PmixClient>> PmixClient::connect() {
  auto library = load();
  if (!library) return library.error();
  std::unique_ptr<PmixClient> client(new PmixClient(library.value()));
  pmix::Status status = client->library_.init(&client->self_, nullptr, 0);
  if (status != pmix::kSuccess) {
    return base::error(
        "a PMIx launcher started this program (PMIX_NAMESPACE={}), but its server cannot be "
        "reached: {} ({}); "
        "if the launcher has gone, unset PMIX_RANK and PMIX_NAMESPACE",
        std::getenv("PMIX_NAMESPACE"), client->library_.error_string(status), status);
  }
  client->connected_ = true;
  auto size = client->get_number(pmix::kWildcardRank, pmix::kJobSize);
  if (!size || *size == 0 || *size > kMaxJobNodes || client->rank() >= *size) {
    return base::error("PMIx says that this is process {} of {}; from 1 to {} processes make a job",
                       client->rank(), size.value_or(0), kMaxJobNodes);
  }
  client->size_ = static_cast<std::uint32_t>(*size);
  return client;
}

PmixClient::~PmixClient() { finalize(); }

void PmixClient::finalize() {
  if (connected_) library_.finalize(nullptr, 0);
  connected_ = false;
}

std::optional<std::uint64_t> PmixClient::get_number(std::uint32_t rank, const char* key) const {
  pmix::Process of = process_of(self_, rank);
  pmix::Value* value = nullptr;
  if (library_.get(&of, key, nullptr, 0, &value) != pmix::kSuccess || !value) return std::nullopt;
  return number_of(*OwnedValue(value));
}

std::optional<std::string> PmixClient::get_text(std::uint32_t rank, const char* key) const {
  pmix::Process of = process_of(self_, rank);
  pmix::Value* value = nullptr;
  if (library_.get(&of, key, nullptr, 0, &value) != pmix::kSuccess || !value) return std::nullopt;
  OwnedValue owned(value);
  if (owned->type != pmix::Type::kString || !owned->data.string) return std::nullopt;
  return std::string(owned->data.string);
}

// Launchers differ in what they tell: some number the hosts, some only name them.
base::Result<JobMap> PmixClient::map() const {
  JobMap map;
  std::map<std::string, std::uint32_t> hosts;
  for (std::uint32_t rank = 0; rank < size_; ++rank) {
    std::optional<std::string> name = get_text(rank, pmix::kHostName);
    std::optional<std::uint64_t> number = get_number(rank, pmix::kHostNumber);
    if (!name && !number) {
      return base::error("PMIx does not tell on which host process {} of the job runs", rank);
    }
    std::string shown = name ? *name : "host" + std::to_string(*number);
    std::string key = number ? std::to_string(*number) : shown;
    auto [at, fresh] = hosts.try_emplace(key, static_cast<std::uint32_t>(map.names.size()));
    if (fresh) map.names.push_back(shown.substr(0, kMaxHostName));
    map.host_of.push_back(at->second);
  }
  if (map.names.size() > kMaxJobHosts) {
    return base::error("a job of {} hosts is over the limit of {}", map.names.size(), kMaxJobHosts);
  }
  return map;
}

base::Result<> PmixClient::put(const char* key, const std::string& text) {
  std::string copy = text;
  pmix::Value value{};
  value.type = pmix::Type::kString;
  value.data.string = copy.data();
  pmix::Status status = library_.put(pmix::Scope::kGlobal, key, &value);
  if (status == pmix::kSuccess) status = library_.commit();
  if (status != pmix::kSuccess) return failure("take what this process has to tell", status);
  return {};
}

base::Result<> PmixClient::meet(const std::function<std::optional<std::string>()>& objection) {
  auto meeting = std::make_shared<Meeting>(process_of(self_, pmix::kWildcardRank));
  auto done = [](pmix::Status status, void* data) {
    std::unique_ptr<std::shared_ptr<Meeting>> ours(static_cast<std::shared_ptr<Meeting>*>(data));
    std::lock_guard hold((*ours)->mutex);
    (*ours)->status = status;
    (*ours)->change.notify_all();
  };
  auto theirs = std::make_unique<std::shared_ptr<Meeting>>(meeting);
  pmix::Status status = library_.fence(&meeting->all, 1, &meeting->collect, 1, done, theirs.get());
  if (status != pmix::kSuccess) return failure("bring all processes of the job together", status);
  theirs.release();
  std::unique_lock hold(meeting->mutex);
  while (!meeting->status) {
    meeting->change.wait_for(hold, std::chrono::seconds(1),
                             [&] { return meeting->status.has_value(); });
    if (meeting->status) break;
    if (auto sentence = objection()) {
      abandon();
      return base::Error{*std::move(sentence)};
    }
  }
  if (*meeting->status == pmix::kSuccess) return {};
  return failure("bring all processes of the job together", *meeting->status);
}

base::Result<std::string> PmixClient::get(std::uint32_t rank, const char* key) const {
  auto text = get_text(rank, key);
  if (!text) return base::error("PMIx does not tell {} of process {}", key, rank);
  return *text;
}

}  // namespace terrane::bootstrap
