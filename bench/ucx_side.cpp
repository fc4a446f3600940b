#include "ucx_side.h"

#include <sched.h>

#include <cstring>

namespace terrane::bench {
namespace {

using transport::ucx::Worker;

constexpr std::uint32_t kSpins = 500;  // then the processor is given away once

// A card: where the memory is, how long address and key are, and both.
struct CardHead {
  std::uint64_t target;
  std::uint64_t address_bytes;
  std::uint64_t key_bytes;
};

}  // namespace

base::Result<std::unique_ptr<UcxSide>> UcxSide::open(const std::string& devices,
                                                     std::span<std::byte> memory) {
  auto worker = Worker::create({devices, 2, true, true});
  if (!worker) return worker.error();
  std::unique_ptr<UcxSide> side(new UcxSide());
  side->worker_ = std::move(worker).value();
  side->buffer_.resize(memory.size());
  auto address = side->worker_->address();
  if (!address) return address.error();
  auto key = side->worker_->expose(memory.data(), memory.size());
  if (!key) return key.error();
  const CardHead head{reinterpret_cast<std::uintptr_t>(memory.data()), address.value().size(),
                      key.value().size()};
  side->add_to_card(&head, sizeof head);
  side->add_to_card(address.value().data(), head.address_bytes);
  side->add_to_card(key.value().data(), head.key_bytes);
  if (side->card_.size() > kCardBytes) return base::error("UCX's address is too long for a card");
  side->card_.resize(kCardBytes);
  return side;
}

void UcxSide::add_to_card(const void* data, std::size_t bytes) {
  auto* begin = static_cast<const std::byte*>(data);
  card_.insert(card_.end(), begin, begin + bytes);
}

base::Result<> UcxSide::connect(const std::byte* card) {
  CardHead head;
  std::memcpy(&head, card, sizeof head);
  const std::byte* address = card + sizeof head;
  target_ = head.target;
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
  params.address = reinterpret_cast<const ucp_address_t*>(address);
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  auto made = api().ep_create(worker_->handle(), &params, &endpoint_);
  if (made != UCS_OK) return base::error("no connection by UCX: {}", worker_->text_of(made));
  auto unpacked = api().ep_rkey_unpack(endpoint_, address + head.address_bytes, &key_);
  if (unpacked != UCS_OK) return base::error("UCX's key: {}", worker_->text_of(unpacked));
  return {};
}

UcxSide::~UcxSide() {
  if (key_ != nullptr) api().rkey_destroy(key_);
  if (endpoint_ == nullptr) return;
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = UCP_EP_CLOSE_FLAG_FORCE;
  finish(api().ep_close_nbx(endpoint_, &param));
}

void UcxSide::put_all(std::size_t bytes, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    ucp_request_param_t param{};
    finish(api().put_nbx(endpoint_, buffer_.data(), bytes, target_, key_, &param));
  }
  ucp_request_param_t param{};
  finish(api().ep_flush_nbx(endpoint_, &param));
}

void UcxSide::get(std::size_t bytes) {
  ucp_request_param_t param{};
  finish(api().get_nbx(endpoint_, buffer_.data(), bytes, target_, key_, &param));
}

void UcxSide::fetch_add() {
  std::uint64_t one = 1, before = 0;
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER;
  param.datatype = ucp_dt_make_contig(sizeof one);
  param.reply_buffer = &before;
  finish(api().atomic_op_nbx(endpoint_, UCP_ATOMIC_OP_ADD, &one, 1, target_, key_, &param));
}

void UcxSide::finish(ucs_status_ptr_t request) {
  if (!UCS_PTR_IS_PTR(request)) return;
  for (std::uint32_t empty = 0; api().request_check_status(request) == UCS_INPROGRESS;) {
    if (worker_->progress() == 0 && ++empty % kSpins == 0) ::sched_yield();
  }
  api().request_free(request);
}

}  // namespace terrane::bench
