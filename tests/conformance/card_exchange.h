#pragma once

#include "transport/transport.h"

namespace terrane::conformance {

// One card over a SOCK_SEQPACKET socket, its descriptors with it. False when the other side has
// gone.
bool send_card(int socket, const transport::Card& card);
bool receive_card(int socket, transport::Card& card);
void close_card(transport::Card& card);

}  // namespace terrane::conformance
