// What UCX's active messages cost by themselves between two processes, with the settings of our
// transport: the floor beside which it is measured. One turn.
//
//   terrane_bench_ucx_rows

#include <poll.h>

#include <cstring>
#include <memory>
#include <vector>

#include "forked_nodes.h"
#include "messages/rows.h"
#include "platform/wait.h"
#include "transport/ucx/worker.h"

namespace terrane::bench {
namespace {

using conformance::Node;
using conformance::require;
using transport::ucx::Worker;

constexpr int kSleep_ms = 1000;
constexpr std::uint64_t kFallAsleep_ns = 100'000;
constexpr std::size_t kAddressBytes = 2048;  // each half of the board's text
constexpr std::uint64_t kInFlight = 16;

enum class Wait : std::uint8_t { kPoll, kSleep };

// One of the two; both run the same sequence. Owns UCX's things.
class Pair {
 public:
  explicit Pair(Node& node);
  ~Pair();
  Pair(const Pair&) = delete;

  double round_trip(std::size_t bytes, Wait wait);
  double stream(std::size_t bytes, Wait wait);
  bool first() const { return first_; }

 private:
  static ucs_status_t on_message(void* pair, const void*, std::size_t, void* data,
                                 std::size_t bytes, const ucp_am_recv_param_t* param);
  static void on_sent(void* request, ucs_status_t, void* pair);
  static void on_fetched(void* request, ucs_status_t, std::size_t, void* pair);
  void connect(Node& node);
  void send(std::size_t bytes);
  void take(std::uint64_t count, Wait wait);
  void sleep();

  std::unique_ptr<Worker> worker_;
  bool first_;
  ucp_ep_h endpoint_ = nullptr;
  std::uint64_t messages_ = 0;
  std::uint64_t in_flight_ = 0;
  std::byte header_[32]{};
  std::vector<std::byte> buffer_ = std::vector<std::byte>(kStreamBytes.back());
  std::vector<std::byte> place_ = std::vector<std::byte>(kStreamBytes.back());
};

Pair::Pair(Node& node) : first_(node.self.value == 0) {
  auto worker = Worker::create({"lo", 2});
  require(worker.ok(), worker.ok() ? "" : worker.error().message);
  worker_ = std::move(worker).value();
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                       UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.cb = &Pair::on_message;
  handler.arg = this;
  worker_->api().worker_set_am_recv_handler(worker_->handle(), &handler);
  connect(node);
}

Pair::~Pair() {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = UCP_EP_CLOSE_FLAG_FORCE;
  void* closing = worker_->api().ep_close_nbx(endpoint_, &param);
  if (!UCS_PTR_IS_PTR(closing)) return;
  while (worker_->api().request_check_status(closing) == UCS_INPROGRESS) worker_->progress();
  worker_->api().request_free(closing);
}

void Pair::connect(Node& node) {
  auto address = worker_->address();
  require(address.ok() && address.value().size() <= kAddressBytes, "an address");
  char* half = node.board.text;
  std::memcpy(half + (first_ ? 0 : kAddressBytes), address.value().data(), address.value().size());
  node.barrier();
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
  params.address = reinterpret_cast<const ucp_address_t*>(half + (first_ ? kAddressBytes : 0));
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  require(worker_->api().ep_create(worker_->handle(), &params, &endpoint_) == UCS_OK,
          "a connection");
}

ucs_status_t Pair::on_message(void* user_data, const void*, std::size_t, void* data,
                              std::size_t bytes, const ucp_am_recv_param_t* param) {
  auto& pair = *static_cast<Pair*>(user_data);
  if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0) {
    if (bytes != 0) std::memcpy(pair.place_.data(), data, bytes);
    ++pair.messages_;
    return UCS_OK;
  }
  ucp_request_param_t receive{};
  receive.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  receive.cb.recv_am = &Pair::on_fetched;
  receive.user_data = &pair;
  void* request = pair.worker_->api().am_recv_data_nbx(pair.worker_->handle(), data,
                                                       pair.place_.data(), bytes, &receive);
  if (!UCS_PTR_IS_PTR(request)) ++pair.messages_;
  return UCS_INPROGRESS;
}

void Pair::on_fetched(void* request, ucs_status_t, std::size_t, void* user_data) {
  auto& pair = *static_cast<Pair*>(user_data);
  ++pair.messages_;
  pair.worker_->api().request_free(request);
}

void Pair::on_sent(void* request, ucs_status_t, void* user_data) {
  auto& pair = *static_cast<Pair*>(user_data);
  --pair.in_flight_;
  pair.worker_->api().request_free(request);
}

// With a header as long as ours; both live on while UCX needs them.
void Pair::send(std::size_t bytes) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.send = &Pair::on_sent;
  param.user_data = this;
  void* sent = worker_->api().am_send_nbx(endpoint_, 0, header_, sizeof header_, buffer_.data(),
                                          bytes, &param);
  if (!UCS_PTR_IS_PTR(sent)) return;
  ++in_flight_;
  while (in_flight_ >= kInFlight) worker_->progress();
}

void Pair::sleep() {
  if (!worker_->arm()) return;
  pollfd watched{.fd = worker_->event_fd(), .events = POLLIN, .revents = 0};
  ::poll(&watched, 1, kSleep_ms);
}

void Pair::take(std::uint64_t count, Wait wait) {
  for (std::uint32_t empty = 0; messages_ < count;) {
    if (worker_->progress() != 0) {
      empty = 0;
    } else if (wait == Wait::kSleep) {
      sleep();
    } else if (++empty % kSpins == 0) {
      ::sched_yield();
    }
  }
  messages_ -= count;
}

double Pair::round_trip(std::size_t bytes, Wait wait) {
  std::uint64_t count = wait == Wait::kSleep ? kSleptRoundTrips : kRoundTrips;
  std::uint64_t total_ns = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t start_ns = platform::now_ns();
    if (first_ && wait == Wait::kSleep) {
      while (platform::now_ns() - start_ns < kFallAsleep_ns) ::sched_yield();
      start_ns = platform::now_ns();
    }
    if (first_) send(bytes);
    take(1, first_ ? Wait::kPoll : wait);
    if (!first_) send(bytes);
    total_ns += platform::now_ns() - start_ns;
  }
  return static_cast<double>(total_ns) / static_cast<double>(count);
}

double Pair::stream(std::size_t bytes, Wait wait) {
  std::uint64_t count = stream_messages(bytes);
  std::uint64_t start_ns = platform::now_ns();
  if (first_) {
    for (std::uint64_t i = 0; i < count; ++i) send(bytes);
    take(1, Wait::kPoll);
  } else {
    take(count, wait);
    send(0);
  }
  return static_cast<double>(platform::now_ns() - start_ns) / static_cast<double>(count);
}

void measure(Node& node) {
  take_own_processor(node.self.value);
  {
    Pair pair(node);
    pair.round_trip(8, Wait::kPoll);  // warm
    for (Wait wait : {Wait::kPoll, Wait::kSleep}) {
      const char* name = wait == Wait::kPoll ? "poll" : "sleep";
      for (std::size_t bytes : kLatencyBytes) {
        double ns = pair.round_trip(bytes, wait);
        if (pair.first()) print_row("latency", bytes, name, ns);
      }
      for (std::size_t bytes : kStreamBytes) {
        double ns = pair.stream(bytes, wait);
        if (pair.first()) print_row("stream", bytes, name, ns);
      }
    }
    node.barrier();
  }
}

}  // namespace
}  // namespace terrane::bench

int main() {
  // The nodes find each other by shared memory, which is not measured.
  auto wrong = terrane::conformance::run_job(
      {.transport = "shm", .nodes = 2, .timeout_s = 300},
      [](terrane::conformance::Node& node) { terrane::bench::measure(node); });
  fmt::print(stderr, "{}", wrong);
  return wrong.empty() ? 0 : 1;
}
