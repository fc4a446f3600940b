#include "ucx_floor.h"

#include <poll.h>
#include <ucp/api/ucp.h>

#include <cstdint>
#include <cstring>

#include "platform/wait.h"

namespace terrane::bench {
namespace {

enum : unsigned { kRequest = 1, kReply = 2, kStop = 3 };
constexpr std::size_t kMostBytes = 1 << 20;
constexpr int kNapMs = 100;

struct Request {
  std::uint64_t reply_bytes;
  std::uint64_t unused;
};

}  // namespace

struct UcxFloor::Handles {
  ucp_context_h context = nullptr;
  ucp_worker_h worker = nullptr;
  ucp_ep_h peer = nullptr;
  int event_fd = -1;
  std::uint64_t asked = 0;  // bytes that the last request wants; valid while `requests` > 0
  std::uint64_t requests = 0;
  std::uint64_t replies = 0;
  bool stopped = false;
};

UcxFloor::UcxFloor() : handles_(std::make_unique<Handles>()), payload_(kMostBytes) {}

base::Result<std::unique_ptr<UcxFloor>> UcxFloor::open(const char* devices) {
  std::unique_ptr<UcxFloor> floor(new UcxFloor());
  if (auto started = floor->start(devices); !started) return started.error();
  return floor;
}

base::Result<> UcxFloor::start(const char* devices) {
  ucp_config_t* config = nullptr;
  if (ucp_config_read(nullptr, nullptr, &config) != UCS_OK)
    return base::error("UCX cannot be configured");
  ucp_config_modify(config, "TLS", "tcp");
  ucp_config_modify(config, "NET_DEVICES", devices);
  ucp_config_modify(config, "HANDLE_ERRORS", "none");
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  ucs_status_t status = ucp_init(&params, config, &handles_->context);
  ucp_config_release(config);
  if (status != UCS_OK) return base::error("ucp_init: {}", ucs_status_string(status));
  ucp_worker_params_t worker{};
  worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  worker.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  status = ucp_worker_create(handles_->context, &worker, &handles_->worker);
  if (status != UCS_OK) return base::error("ucp_worker_create: {}", ucs_status_string(status));
  ucp_worker_get_efd(handles_->worker, &handles_->event_fd);

  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                       UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.arg = handles_.get();
  handler.id = kRequest;
  handler.cb = [](void* arg, const void* header, size_t, void*, size_t,
                  const ucp_am_recv_param_t*) {
    auto* handles = static_cast<Handles*>(arg);
    std::memcpy(&handles->asked, header, sizeof handles->asked);
    ++handles->requests;
    return UCS_OK;
  };
  ucp_worker_set_am_recv_handler(handles_->worker, &handler);
  handler.id = kReply;
  handler.cb = [](void* arg, const void*, size_t, void*, size_t, const ucp_am_recv_param_t*) {
    ++static_cast<Handles*>(arg)->replies;
    return UCS_OK;
  };
  ucp_worker_set_am_recv_handler(handles_->worker, &handler);
  handler.id = kStop;
  handler.cb = [](void* arg, const void*, size_t, void*, size_t, const ucp_am_recv_param_t*) {
    static_cast<Handles*>(arg)->stopped = true;
    return UCS_OK;
  };
  ucp_worker_set_am_recv_handler(handles_->worker, &handler);

  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  status = ucp_worker_get_address(handles_->worker, &address, &bytes);
  if (status != UCS_OK) return base::error("ucp_worker_get_address: {}", ucs_status_string(status));
  const auto* first = reinterpret_cast<const std::byte*>(address);
  address_.assign(first, first + bytes);
  ucp_worker_release_address(handles_->worker, address);
  return {};
}

UcxFloor::~UcxFloor() {
  if (handles_->worker != nullptr) ucp_worker_destroy(handles_->worker);
  if (handles_->context != nullptr) ucp_cleanup(handles_->context);
}

base::Result<> UcxFloor::connect(const std::byte* address) {
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  params.address = reinterpret_cast<const ucp_address_t*>(address);
  ucs_status_t status = ucp_ep_create(handles_->worker, &params, &handles_->peer);
  if (status != UCS_OK) return base::error("ucp_ep_create: {}", ucs_status_string(status));
  return {};
}

// Eager, as a reply of a page is; the caller's payload lives on.
void UcxFloor::send(unsigned id, std::size_t header, std::size_t bytes) {
  Request request{header, 0};
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  params.flags = UCP_AM_SEND_FLAG_EAGER;
  void* sent = ucp_am_send_nbx(handles_->peer, id, &request, sizeof request, payload_.data(), bytes,
                               &params);
  if (!UCS_PTR_IS_PTR(sent)) return;
  while (ucp_request_check_status(sent) == UCS_INPROGRESS) ucp_worker_progress(handles_->worker);
  ucp_request_free(sent);
}

double UcxFloor::request_reply(std::size_t reply_bytes, int times) {
  std::uint64_t from = platform::now_ns();
  for (int i = 0; i < times; ++i) {
    std::uint64_t before = handles_->replies;
    send(kRequest, reply_bytes, 0);
    while (handles_->replies == before) ucp_worker_progress(handles_->worker);
  }
  return static_cast<double>(platform::now_ns() - from) / times;
}

double UcxFloor::stream(std::size_t reply_bytes, int in_flight, int replies) {
  std::uint64_t from = platform::now_ns(), before = handles_->replies;
  auto wanted = static_cast<std::uint64_t>(replies);
  for (std::uint64_t asked = 0; handles_->replies - before < wanted;) {
    std::uint64_t under_way = asked - (handles_->replies - before);
    if (asked < wanted && under_way < static_cast<std::uint64_t>(in_flight)) {
      send(kRequest, reply_bytes, 0);
      ++asked;
    } else {
      ucp_worker_progress(handles_->worker);
    }
  }
  return static_cast<double>(platform::now_ns() - from);
}

void UcxFloor::stop_server() { send(kStop, 0, 0); }

void UcxFloor::wait_for_news() {
  if (ucp_worker_arm(handles_->worker) != UCS_OK) return;
  pollfd event{handles_->event_fd, POLLIN, 0};
  poll(&event, 1, kNapMs);
}

void UcxFloor::begin_waiting() { handles_->stopped = false; }

bool UcxFloor::was_stopped() {
  ucp_worker_progress(handles_->worker);
  return handles_->stopped;
}

void UcxFloor::serve(bool asleep) {
  for (begin_waiting(); !handles_->stopped;) {
    unsigned did = ucp_worker_progress(handles_->worker);
    for (; handles_->requests > 0; --handles_->requests) send(kReply, 0, handles_->asked);
    if (asleep && did == 0) wait_for_news();
  }
}

}  // namespace terrane::bench
