#include "transport/ucx/ucx_api.h"

#include <dlfcn.h>
#include <signal.h>

#include <array>
#include <cstdlib>

#include "transport/ucx/open_ucx.h"

namespace terrane::transport::ucx {
namespace {

constexpr const char* kLibrary = "libucp.so.0";

// Puts back what a library's constructors changed of this process's signals. Owns the copies.
class SignalGuard {
 public:
  SignalGuard() {
    for (int signal = 1; signal < NSIG; ++signal) {
      known_[signal] = ::sigaction(signal, nullptr, &actions_[signal]) == 0;
    }
    ::sigaltstack(nullptr, &stack_);
  }
  ~SignalGuard() {
    for (int signal = 1; signal < NSIG; ++signal) {
      if (known_[signal]) ::sigaction(signal, &actions_[signal], nullptr);
    }
    ::sigaltstack(&stack_, nullptr);
  }
  SignalGuard(const SignalGuard&) = delete;

 private:
  std::array<struct sigaction, NSIG> actions_{};
  std::array<bool, NSIG> known_{};
  stack_t stack_{};
};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

// The first function that the library lacks, or nullptr.
const char* find_all(void* library, UcxApi& api) {
  const char* lacking = nullptr;
  auto need = [&](auto& function, const char* name) {
    if (!find(library, name, function) && lacking == nullptr) lacking = name;
  };
  need(api.config_read, "ucp_config_read");
  need(api.config_modify, "ucp_config_modify");
  need(api.config_release, "ucp_config_release");
  need(api.init_version, "ucp_init_version");
  need(api.cleanup, "ucp_cleanup");
  need(api.worker_create, "ucp_worker_create");
  need(api.worker_destroy, "ucp_worker_destroy");
  need(api.worker_get_address, "ucp_worker_get_address");
  need(api.worker_release_address, "ucp_worker_release_address");
  need(api.worker_get_efd, "ucp_worker_get_efd");
  need(api.worker_arm, "ucp_worker_arm");
  need(api.worker_progress, "ucp_worker_progress");
  need(api.worker_set_am_recv_handler, "ucp_worker_set_am_recv_handler");
  need(api.ep_create, "ucp_ep_create");
  need(api.ep_close_nbx, "ucp_ep_close_nbx");
  need(api.am_send_nbx, "ucp_am_send_nbx");
  need(api.am_recv_data_nbx, "ucp_am_recv_data_nbx");
  need(api.am_data_release, "ucp_am_data_release");
  need(api.mem_map, "ucp_mem_map");
  need(api.mem_unmap, "ucp_mem_unmap");
  need(api.rkey_pack, "ucp_rkey_pack");
  need(api.rkey_buffer_release, "ucp_rkey_buffer_release");
  need(api.ep_rkey_unpack, "ucp_ep_rkey_unpack");
  need(api.rkey_destroy, "ucp_rkey_destroy");
  need(api.put_nbx, "ucp_put_nbx");
  need(api.get_nbx, "ucp_get_nbx");
  need(api.atomic_op_nbx, "ucp_atomic_op_nbx");
  need(api.worker_fence, "ucp_worker_fence");
  need(api.ep_flush_nbx, "ucp_ep_flush_nbx");
  need(api.request_check_status, "ucp_request_check_status");
  need(api.request_free, "ucp_request_free");
  need(api.status_string, "ucs_status_string");
  need(api.get_version_string, "ucp_get_version_string");
  return lacking;
}

void quieten(void* library) {
  if (std::getenv("UCX_LOG_LEVEL") != nullptr) return;
  ucs_status_t (*set_option)(const char*, const char*) = nullptr;
  if (!find(library, "ucs_global_opts_set_value", set_option)) return;
  set_option("LOG_LEVEL", "fatal");
  set_option("HANDLE_ERRORS", "none");  // no list of UCX's functions where UCX gives up
}

}  // namespace

void* open_ucx() {
  constexpr int kFlags = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
  SignalGuard guard;
  void* library = ::dlopen(kLibrary, kFlags);
  const char* other = std::getenv("TERRANE_UCX");
  if (library != nullptr || other == nullptr || *other == '\0') return library;
  return ::dlopen(other, kFlags);
}

base::Result<UcxApi> UcxApi::load() {
  void* library = open_ucx();
  if (library == nullptr) {
    return base::error(
        "ucx: {} cannot be loaded ({}): nodes on several hosts need UCX (Debian: apt install "
        "libucx0; Python: pip install 'pyterrane[hosts]')",
        kLibrary, ::dlerror());
  }
  quieten(library);
  UcxApi api{};
  if (const char* lacking = find_all(library, api)) {
    return base::error("ucx: {} has no {}: UCX 1.11 or newer is needed", kLibrary, lacking);
  }
  return api;
}

}  // namespace terrane::transport::ucx
