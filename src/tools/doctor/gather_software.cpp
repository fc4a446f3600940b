#include <arpa/inet.h>
#include <dlfcn.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "tools/doctor/gather.h"
#include "tools/doctor/system_text.h"
#include "transport/ucx/door.h"
#include "transport/ucx/open_ucx.h"

namespace terrane::tools {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

// Asks the function of the library, if it is there, that tells its version. It stays loaded: these
// libraries do not like to be taken out.
LibraryFacts ask_library(void* library, const char* function, void** symbol) {
  LibraryFacts facts;
  if (library == nullptr) return facts;
  facts.found = true;
  auto version = reinterpret_cast<const char* (*)()>(::dlsym(library, function));
  if (version != nullptr) facts.version = version();
  facts.version = facts.version.substr(0, facts.version.find(" ("));
  if (symbol != nullptr) *symbol = reinterpret_cast<void*>(version);
  return facts;
}

// libuct_ib.so.0 -> ib, in the folder ucx beside the library.
std::vector<std::string> ucx_modules(void* symbol) {
  std::vector<std::string> modules;
  Dl_info where{};
  if (symbol == nullptr || ::dladdr(symbol, &where) == 0) return modules;
  std::error_code ignored;
  fs::path folder = fs::path(where.dli_fname).parent_path() / "ucx";
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    std::string name = entry.path().filename();
    constexpr std::string_view kPrefix = "libuct_";
    constexpr std::string_view kSuffix = ".so.0";
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
    modules.push_back(name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size()));
  }
  std::sort(modules.begin(), modules.end());
  return modules;
}

}  // namespace

std::string in_path(const char* program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string candidate = folder + "/" + program;
    if (!folder.empty() && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

std::vector<InterfaceFacts> gather_interfaces() {
  std::vector<InterfaceFacts> all;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return all;
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    auto same = [&](const InterfaceFacts& other) { return other.name == one->ifa_name; };
    auto at = std::find_if(all.begin(), all.end(), same);
    if (at == all.end()) {
      InterfaceFacts facts{.name = one->ifa_name};
      facts.up = (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_RUNNING) != 0;
      facts.loopback = (one->ifa_flags & IFF_LOOPBACK) != 0;
      facts.mtu = static_cast<std::uint32_t>(
          number_in("/sys/class/net/" + facts.name + "/mtu").value_or(0));
      at = all.insert(all.end(), facts);
    }
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    char text[INET_ADDRSTRLEN] = "";
    const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    ::inet_ntop(AF_INET, &address->sin_addr, text, sizeof text);
    if (at->address.empty()) at->address = text;
  }
  ::freeifaddrs(first);
  return all;
}

SoftwareFacts gather_software() {
  SoftwareFacts facts;
  // UCX would take signals and speak on standard error.
  ::setenv("UCX_ERROR_SIGNALS", "", 0);
  ::setenv("UCX_LOG_LEVEL", "fatal", 0);
  void* ucx = nullptr;
  facts.ucx = ask_library(transport::ucx::open_ucx(), "ucp_get_version_string", &ucx);
  facts.ucx.modules = ucx_modules(ucx);
  facts.ucx_is_guarded = facts.ucx.found && transport::ucx::can_keep_doors();
  facts.pmix =
      ask_library(::dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL), "PMIx_Get_version", nullptr);
  facts.srun = in_path("srun");
  facts.mpirun = in_path("mpirun");
  facts.prterun = in_path("prterun");
  facts.ssh = in_path("ssh");
  facts.slurm_job = variable("SLURM_JOB_ID");
  facts.slurm_nodes = variable("SLURM_JOB_NUM_NODES");
  return facts;
}

}  // namespace terrane::tools
