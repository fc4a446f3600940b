#include "bootstrap/card.h"

#include <algorithm>
#include <iterator>

namespace terrane::bootstrap {

bool Card::add(PacketReader& reader) {
  const MessageHeader& header = reader.header();
  if (header.total_bytes > kMaxCardBytes || header.total_fds > kMaxCardFds) return false;
  if (!started_) {
    started_ = true;
    total_bytes_ = header.total_bytes;
    total_fds_ = header.total_fds;
  } else if (complete() || header.total_bytes != total_bytes_ || header.total_fds != total_fds_) {
    return false;
  }
  auto piece = reader.bytes();
  if (bytes.size() + piece.size() > total_bytes_) return false;
  if (fds.size() + reader.fds().size() > total_fds_) return false;
  bytes.insert(bytes.end(), piece.begin(), piece.end());
  std::move(reader.fds().begin(), reader.fds().end(), std::back_inserter(fds));
  reader.fds().clear();
  return true;
}

PacketStatus CardSender::send(int socket, int flags) {
  while (!finished_) {
    auto piece =
        bytes_.subspan(bytes_sent_, std::min(bytes_.size() - bytes_sent_, kMaxPacketBytes));
    auto some_fds = fds_.subspan(fds_sent_, std::min(fds_.size() - fds_sent_, kMaxPacketFds));
    MessageHeader header{.kind = kind_,
                         .node = node_,
                         .total_bytes = bytes_.size(),
                         .total_fds = static_cast<std::uint32_t>(fds_.size())};
    PacketStatus status = send_packet(socket, header, piece, some_fds, flags);
    if (status != PacketStatus::kDone) return status;
    bytes_sent_ += piece.size();
    fds_sent_ += some_fds.size();
    finished_ = bytes_sent_ == bytes_.size() && fds_sent_ == fds_.size();
  }
  return PacketStatus::kDone;
}

}  // namespace terrane::bootstrap
