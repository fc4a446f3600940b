#pragma once

#include <vector>

#include "protocol/push/subscribers.h"
#include "protocol/steps/clusters.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Readers in another cluster may have subscribed to different runs that share blocks. Cuts such
// runs where the set of their readers changes, so that each block is in one push to that cluster. A
// reader joins its run from several pushes (PushBox::take). Runs that share no block, or none over
// a link, stay as they are. due: in the order of Subscribers::due(), also after the call.
void cut_for_links(const Clusters& clusters, NodeId self, std::vector<Subscribed>& due);

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
