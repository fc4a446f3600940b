#include "transport/ucx/inbox.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace terrane::transport::ucx {
namespace {

using wire::NetworkFrame;
using wire::NetworkFrameKind;

constexpr std::uint64_t kToken = 77;
constexpr NodeId kSelf{0};
constexpr std::uint32_t kNodes = 3;

// UCX as far as the inbox calls it; its functions have no argument of ours.
struct PlayedUcx {
  ucp_am_handler_param_t handler{};
  ucp_am_recv_data_nbx_callback_t fetched = nullptr;
  void* fetching = nullptr;
  std::byte* fetch_to = nullptr;
  int released = 0;
};
thread_local PlayedUcx* g_played = nullptr;

UcxApi played_api() {
  UcxApi api{};
  api.worker_set_am_recv_handler = [](ucp_worker_h, const ucp_am_handler_param_t* param) {
    g_played->handler = *param;
    return UCS_OK;
  };
  api.am_recv_data_nbx = [](ucp_worker_h, void*, void* to, std::size_t,
                            const ucp_request_param_t* param) -> ucs_status_ptr_t {
    g_played->fetched = param->cb.recv_am;
    g_played->fetching = param->user_data;
    g_played->fetch_to = static_cast<std::byte*>(to);
    return g_played;
  };
  api.am_data_release = [](ucp_worker_h, void*) { ++g_played->released; };
  api.request_free = [](void*) {};
  api.status_string = [](ucs_status_t) { return "status"; };
  return api;
}

class UcxInboxTest : public ::testing::Test, public Receiver {
 protected:
  UcxInboxTest() {
    g_played = &played_;
    EXPECT_TRUE(inbox_.listen().ok());
    inbox_.receive_by(this);
  }

  NetworkFrame frame(std::uint32_t from, std::uint64_t sequence, std::size_t bytes) const {
    return {kToken, sequence, bytes, from, NetworkFrameKind::kMessage};
  }
  ucs_status_t arrive(const NetworkFrame& frame, std::string text, std::uint64_t attributes = 0) {
    ucp_am_recv_param_t param{};
    param.recv_attr = attributes;
    lent_.push_back(std::move(text));
    return played_.handler.cb(played_.handler.arg, &frame, sizeof frame, lent_.back().data(),
                              lent_.back().size(), &param);
  }
  ucs_status_t arrive(std::uint32_t from, std::uint64_t sequence, const std::string& text,
                      std::uint64_t attributes = 0) {
    return arrive(frame(from, sequence, text.size()), text, attributes);
  }
  // Whether this frame alone costs its sender the connection where such traffic is expected.
  bool is_refused_among(Traffic traffic, NetworkFrameKind kind) {
    Inbox fresh(worker_, pool_, kToken, kSelf, kNodes, traffic);
    EXPECT_TRUE(fresh.listen().ok());
    EXPECT_EQ(played_.handler.id, static_cast<unsigned>(traffic));
    fresh.receive_by(this);
    arrive({kToken, 0, 0, 1, kind}, "");
    return fresh.has_broken();
  }
  // Whether this frame, after two good ones, costs its sender the connection, and nobody else.
  bool is_refused(const NetworkFrame& wrong, const std::string& text) {
    Inbox fresh(worker_, pool_, kToken, kSelf, kNodes);
    EXPECT_TRUE(fresh.listen().ok());
    fresh.receive_by(this);
    arrive(1, 0, "a");
    arrive(1, 2, "c");
    arrive(wrong, text);
    std::vector<NodeId> broken = fresh.take_broken();
    arrived_.clear();
    arrive(2, 0, "fine");
    EXPECT_EQ(arrived_, "2:fine ");
    return broken == std::vector{NodeId{1}};
  }

  PlayedUcx played_;
  Worker worker_{played_api()};
  ParcelPool pool_;
  Inbox inbox_{worker_, pool_, kToken, kSelf, kNodes};
  std::string arrived_;
  std::deque<std::string> lent_;

 private:
  void received(NodeId from, Bytes message) override {
    std::string text(reinterpret_cast<const char*>(message.data()), message.size());
    arrived_ += std::to_string(from.value) + ":" + text + " ";
  }
  void lost(NodeId, std::string_view) override {}
};

TEST_F(UcxInboxTest, MessagesThatOvertookAreDeliveredInTheOrderOfTheirSending) {
  arrive(1, 2, "c");
  arrive(1, 1, "b");
  arrive(2, 0, "x");
  EXPECT_EQ(arrived_, "2:x ");
  arrive(1, 0, "a");
  EXPECT_EQ(arrived_, "2:x 1:a 1:b 1:c ");
}

TEST_F(UcxInboxTest, AnAnnouncedMessageHoldsBackThoseBehindItUntilItIsHere) {
  EXPECT_EQ(arrive(1, 0, "long", UCP_AM_RECV_ATTR_FLAG_RNDV), UCS_INPROGRESS);
  arrive(1, 1, "b");
  EXPECT_EQ(arrived_, "");
  std::memcpy(played_.fetch_to, "LONG", 4);
  played_.fetched(nullptr, UCS_OK, 4, played_.fetching);
  EXPECT_EQ(arrived_, "1:LONG 1:b ");
}

TEST_F(UcxInboxTest, WhatCouldNotBeFetchedIsAGapAndItsMemoryIsFreeAtOnce) {
  arrive(1, 0, "long", UCP_AM_RECV_ATTR_FLAG_RNDV);
  arrive(1, 1, "b");
  played_.fetched(nullptr, UCS_ERR_CONNECTION_RESET, 0, played_.fetching);
  EXPECT_EQ(arrived_, "");
  Parcel* parcel = pool_.take(4);
  EXPECT_EQ(parcel->data(), played_.fetch_to);
  pool_.give(parcel);
  inbox_.close(NodeId{1});
  EXPECT_EQ(inbox_.kept_bytes(), 0u);
}

TEST_F(UcxInboxTest, WhatComesWithoutAReceiverWaitsForOne) {
  inbox_.receive_by(nullptr);
  EXPECT_EQ(arrive(1, 0, "lent", UCP_AM_RECV_ATTR_FLAG_DATA), UCS_INPROGRESS);
  arrive(1, 1, "copied");
  EXPECT_TRUE(inbox_.has_deliverable());
  inbox_.receive_by(this);
  inbox_.deliver();
  EXPECT_EQ(arrived_, "1:lent 1:copied ");
  EXPECT_EQ(played_.released, 1);
  EXPECT_FALSE(inbox_.has_deliverable());
  EXPECT_EQ(inbox_.kept_bytes(), 0u);
}

TEST_F(UcxInboxTest, AMalformedFrameClosesItsSenderAlone) {
  EXPECT_TRUE(is_refused(frame(1, 0, 1), "a")) << "a number for the second time";
  EXPECT_TRUE(is_refused(frame(1, 2, 1), "c")) << "a number that waits already";
  EXPECT_TRUE(is_refused(frame(1, 100'000, 1), "z")) << "far ahead of all that can overtake";
  EXPECT_TRUE(is_refused(frame(1, 1, 2), "b")) << "another size than it says";
  NetworkFrame unknown = frame(1, 1, 1);
  unknown.kind = static_cast<NetworkFrameKind>(9);
  EXPECT_TRUE(is_refused(unknown, "b"));
  NetworkFrame notice = frame(1, 1, 1);
  notice.kind = NetworkFrameKind::kFarewell;
  EXPECT_TRUE(is_refused(notice, "b")) << "a notice has no bytes";
  EXPECT_FALSE(is_refused(frame(1, 1, 1), "b")) << "nothing is wrong with this one";
}

TEST_F(UcxInboxTest, AFrameOfAStrangerCountsAgainstNobody) {
  NetworkFrame strange = frame(1, 0, 1);
  strange.token = kToken + 1;
  arrive(strange, "a");
  strange = frame(kNodes, 0, 1);
  arrive(strange, "a");
  arrive(kSelf.value, 0, "a");
  EXPECT_EQ(arrived_, "");
  EXPECT_FALSE(inbox_.has_broken());
  arrive(1, 0, "a");
  EXPECT_EQ(arrived_, "1:a ");
}

TEST_F(UcxInboxTest, AFarewellIsHeardWhenAllBeforeItHasArrived) {
  NetworkFrame farewell = frame(1, 1, 0);
  farewell.kind = NetworkFrameKind::kFarewell;
  arrive(farewell, "");
  inbox_.take_newcomers();
  EXPECT_FALSE(inbox_.has_notices());
  arrive(1, 0, "a");
  EXPECT_EQ(inbox_.take_farewells(), std::vector{NodeId{1}});
}

TEST_F(UcxInboxTest, NothingOfAClosedSenderArrives) {
  arrive(1, 1, "b");
  inbox_.close(NodeId{1});
  arrive(1, 0, "a");
  EXPECT_EQ(arrived_, "");
  EXPECT_EQ(inbox_.kept_bytes(), 0u);
}

TEST_F(UcxInboxTest, CallsAndMessagesAreNotMixed) {
  EXPECT_FALSE(is_refused_among(Traffic::kMessages, NetworkFrameKind::kMessage));
  EXPECT_FALSE(is_refused_among(Traffic::kMessages, NetworkFrameKind::kHello));
  EXPECT_TRUE(is_refused_among(Traffic::kMessages, NetworkFrameKind::kCall));
  EXPECT_FALSE(is_refused_among(Traffic::kCalls, NetworkFrameKind::kCall));
  EXPECT_TRUE(is_refused_among(Traffic::kCalls, NetworkFrameKind::kMessage));
  EXPECT_TRUE(is_refused_among(Traffic::kCalls, NetworkFrameKind::kHello));
}

}  // namespace
}  // namespace terrane::transport::ucx
