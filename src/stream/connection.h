#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "stream/handshake.h"
#include "stream/secret.h"
#include "stream/tls_session.h"

namespace terrane::stream {

// What both ends of a connection know. With a key the connection is TLS 1.3; without, they prove
// the secret (Handshake), and what follows can be read on the network.
struct Credentials {
  Secret secret;
  std::optional<TlsKey> key = {};
};

// A connected TCP socket between two processes of a job: proves that both know the secret, then
// carries bytes. Owns the socket. Never blocks. One thread may receive while another one writes.
class Connection {
 public:
  enum class Side { kDialer, kListener };
  enum class State { kProving, kOpen, kClosed };

  // A socket that is connected, or a dialer's that is on its way to be.
  Connection(base::UniqueFd socket, Side side, const Credentials& credentials);

  // A connection whose two ends have proved the secret already; without TLS.
  static std::unique_ptr<Connection> of_proven(base::UniqueFd socket);

  int fd() const { return socket_.get(); }
  State state() const { return state_.load(); }
  // After kClosed, for a person: part of a sentence. For the receiving thread.
  const std::string& why() const { return why_; }

  // From now on the connection is closed when the other host or the network does not answer for
  // about `ms`, at least two seconds. `may_stop_reading`: the other end may stop reading for long;
  // then the kernel probes an idle connection alone.
  void limit_silence(std::uint64_t ms, bool may_stop_reading = false);

  // Takes what has come. Returns false when nothing more is there now, or readable() has to be
  // consumed first, or the connection is closed.
  bool receive();
  // Bytes that have come and are not consumed yet. Valid until the next receive().
  std::span<const std::byte> readable() const {
    return std::span(in_).subspan(begin_, end_ - begin_);
  }
  void consume(std::size_t bytes) { begin_ += bytes; }

  // Bytes to be sent are appended here; flush() sends them.
  std::vector<std::byte>& outgoing() { return out_; }
  // Sends as much as the socket takes. What cannot be sent any more is dropped; receive() says why.
  void flush();
  // The socket did not take all: flush() again when it is writable.
  bool wants_room() const { return blocked_.load(); }
  // All that was appended has gone to the kernel, or the connection is closed.
  bool is_flushed() const { return sent_ == out_.size() && !wants_room(); }

  // The other end's address in numbers; empty where it has none.
  std::string peer_address() const;
  // Of a connection without TLS that is open: the bare socket. The connection is closed then.
  base::UniqueFd release();

 private:
  explicit Connection(base::UniqueFd socket);
  void close(std::string why);
  bool receive_bytes(std::span<std::byte> into, std::size_t& bytes);
  bool receive_proof();
  bool receive_plain();
  bool receive_cipher();
  void make_room();
  std::size_t send_some(std::span<const std::byte> bytes);
  void send_proof();
  void send_cipher();

  base::UniqueFd socket_;
  std::atomic<State> state_{State::kProving};
  std::string why_;
  std::optional<Handshake> handshake_;
  std::optional<TlsSession> tls_;
  std::mutex tls_lock_;            // guards tls_
  std::vector<std::byte> cipher_;  // bytes cipher_begin_ to cipher_end_ are not decrypted yet
  std::size_t cipher_begin_ = 0, cipher_end_ = 0;
  std::vector<std::byte> in_;  // bytes begin_ to end_ wait for their consumer
  std::size_t begin_ = 0, end_ = 0;
  std::vector<std::byte> out_;
  std::size_t sent_ = 0;  // of out_
  std::atomic<bool> blocked_{false};
};

}  // namespace terrane::stream
