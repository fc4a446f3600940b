// What UCX's puts, gets and atomics cost by themselves between two processes, with the settings of
// our transport: the floor beside which it is measured. One turn.
//
//   terrane_bench_ucx_one_sided_rows

#include <poll.h>

#include <cstring>
#include <memory>
#include <vector>

#include "messages/one_sided_rows.h"
#include "transport/ucx/worker.h"

namespace terrane::bench {
namespace {

using conformance::require;
using transport::ucx::Worker;

constexpr int kSleep_ms = 1000;
constexpr std::size_t kPartBytes = 1024;  // an address or a key, on the board's text

// One of the two. Owns UCX's things.
class Side {
 public:
  explicit Side(conformance::Node& node);
  ~Side();
  Side(const Side&) = delete;

  void put_quiet(std::size_t bytes) { put_all(bytes, 1); }
  void put_all(std::size_t bytes, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      ucp_request_param_t param{};
      finish(api().put_nbx(endpoint_, buffer_.data(), bytes, target_, key_, &param));
    }
    ucp_request_param_t param{};
    finish(api().ep_flush_nbx(endpoint_, &param));
  }
  void get(std::size_t bytes) {
    ucp_request_param_t param{};
    finish(api().get_nbx(endpoint_, buffer_.data(), bytes, target_, key_, &param));
  }
  void fetch_add() {
    std::uint64_t one = 1;
    std::uint64_t before = 0;
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER;
    param.datatype = ucp_dt_make_contig(sizeof one);
    param.reply_buffer = &before;
    finish(api().atomic_op_nbx(endpoint_, UCP_ATOMIC_OP_ADD, &one, 1, target_, key_, &param));
  }
  void serve_once(Wait wait);

 private:
  const transport::ucx::UcxApi& api() const { return worker_->api(); }
  void finish(ucs_status_ptr_t request);

  std::unique_ptr<Worker> worker_;
  ucp_ep_h endpoint_ = nullptr;
  ucp_rkey_h key_ = nullptr;
  std::uint64_t target_ = 0;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(kOneSidedBytes);
};

Side::Side(conformance::Node& node) {
  auto worker = Worker::create({"lo", 2, true, true});
  require(worker.ok(), worker.ok() ? "" : worker.error().message);
  worker_ = std::move(worker).value();
  auto address = worker_->address();
  auto key = worker_->expose(node.regions[0], kOneSidedBytes);
  require(address.ok() && address.value().size() <= kPartBytes, "an address");
  require(key.ok() && key.value().size() <= kPartBytes, "a key");
  char* own = node.board.text + 2 * kPartBytes * node.self.value;
  char* peer = node.board.text + 2 * kPartBytes * (1 - node.self.value);
  std::memcpy(own, address.value().data(), address.value().size());
  std::memcpy(own + kPartBytes, key.value().data(), key.value().size());
  node.board.words[2 + node.self.value].store(reinterpret_cast<std::uintptr_t>(node.regions[0]));
  node.barrier();
  target_ = node.board.words[3 - node.self.value].load();
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
  params.address = reinterpret_cast<const ucp_address_t*>(peer);
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  require(api().ep_create(worker_->handle(), &params, &endpoint_) == UCS_OK, "a connection");
  require(api().ep_rkey_unpack(endpoint_, peer + kPartBytes, &key_) == UCS_OK, "the peer's key");
}

Side::~Side() {
  api().rkey_destroy(key_);
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = UCP_EP_CLOSE_FLAG_FORCE;
  finish(api().ep_close_nbx(endpoint_, &param));
}

void Side::finish(ucs_status_ptr_t request) {
  if (!UCS_PTR_IS_PTR(request)) return;
  for (std::uint32_t empty = 0; api().request_check_status(request) == UCS_INPROGRESS;) {
    if (worker_->progress() == 0 && ++empty % kSpins == 0) ::sched_yield();
  }
  api().request_free(request);
}

void Side::serve_once(Wait wait) {
  if (wait == Wait::kSleep && worker_->arm()) {
    pollfd watched{.fd = worker_->event_fd(), .events = POLLIN, .revents = 0};
    ::poll(&watched, 1, kSleep_ms);
  }
  for (std::uint32_t i = 0; i < (wait == Wait::kSleep ? 1 : kSpins); ++i) worker_->progress();
  if (wait == Wait::kPoll) ::sched_yield();
}

void measure(conformance::Node& node) {
  take_own_processor(node.self.value);
  Side side(node);
  measure_one_sided(node, side);
}

}  // namespace
}  // namespace terrane::bench

int main() {
  // The nodes find each other by shared memory, which is not measured.
  auto wrong = terrane::conformance::run_job(
      {.transport = "shm", .region_bytes = {terrane::bench::kOneSidedBytes}, .timeout_s = 300},
      [](auto& node) { terrane::bench::measure(node); });
  fmt::print(stderr, "{}", wrong);
  return wrong.empty() ? 0 : 1;
}
