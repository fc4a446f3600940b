#include "stream/tls_wire.h"

#include <algorithm>
#include <cstring>

#include "stream/openssl_api.h"

namespace terrane::stream {
namespace {

TlsWire& wire_of(BIO* bio) { return *static_cast<TlsWire*>(openssl().BIO_get_data(bio)); }

int read_wire(BIO* bio, char* data, int size) {
  TlsWire& wire = wire_of(bio);
  openssl().BIO_clear_flags(bio, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
  if (wire.in.empty()) {
    openssl().BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY);
    return -1;
  }
  std::size_t some = std::min(wire.in.size(), static_cast<std::size_t>(size));
  std::memcpy(data, wire.in.data(), some);
  wire.in = wire.in.subspan(some);
  return static_cast<int>(some);
}

int write_wire(BIO* bio, const char* data, int size) {
  TlsWire& wire = wire_of(bio);
  openssl().BIO_clear_flags(bio, BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY);
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  wire.out.insert(wire.out.end(), bytes, bytes + size);
  return size;
}

long control_wire(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

const BIO_METHOD* wire_method() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made =
        openssl().BIO_meth_new(openssl().BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "terrane");
    if (made != nullptr) {
      openssl().BIO_meth_set_read(made, read_wire);
      openssl().BIO_meth_set_write(made, write_wire);
      openssl().BIO_meth_set_ctrl(made, control_wire);
    }
    return made;
  }();
  return method;
}

}  // namespace

BIO* make_bio(TlsWire& wire) {
  BIO* bio = wire_method() != nullptr ? openssl().BIO_new(wire_method()) : nullptr;
  if (bio == nullptr) return nullptr;
  openssl().BIO_set_data(bio, &wire);
  openssl().BIO_set_init(bio, 1);
  return bio;
}

}  // namespace terrane::stream
