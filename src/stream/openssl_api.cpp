#include "stream/openssl_api.h"

#include <dlfcn.h>
#include <openssl/opensslv.h>

#include <string>

#include "base/check.h"

namespace terrane::stream {
namespace {

const std::string kLibrary = "libssl.so." + std::to_string(OPENSSL_SHLIB_VERSION);

struct Loaded {
  OpensslApi api{};
  std::string wrong;  // empty: nothing
};

// The first function that the library lacks, or nullptr.
const char* find_all(void* library, OpensslApi& api) {
  const char* lacking = nullptr;
  auto need = [&](auto& function, const char* name) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    if (function == nullptr && lacking == nullptr) lacking = name;
  };
  need(api.BIO_clear_flags, "BIO_clear_flags");
  need(api.BIO_get_data, "BIO_get_data");
  need(api.BIO_get_new_index, "BIO_get_new_index");
  need(api.BIO_meth_new, "BIO_meth_new");
  need(api.BIO_meth_set_ctrl, "BIO_meth_set_ctrl");
  need(api.BIO_meth_set_read, "BIO_meth_set_read");
  need(api.BIO_meth_set_write, "BIO_meth_set_write");
  need(api.BIO_new, "BIO_new");
  need(api.BIO_set_data, "BIO_set_data");
  need(api.BIO_set_flags, "BIO_set_flags");
  need(api.BIO_set_init, "BIO_set_init");
  need(api.CRYPTO_memcmp, "CRYPTO_memcmp");
  need(api.ERR_clear_error, "ERR_clear_error");
  need(api.ERR_get_error, "ERR_get_error");
  need(api.ERR_peek_error, "ERR_peek_error");
  need(api.ERR_reason_error_string, "ERR_reason_error_string");
  need(api.EVP_sha256, "EVP_sha256");
  need(api.HMAC, "HMAC");
  need(api.SSL_CIPHER_find, "SSL_CIPHER_find");
  need(api.SSL_CIPHER_get_id, "SSL_CIPHER_get_id");
  need(api.SSL_CTX_clear_options, "SSL_CTX_clear_options");
  need(api.SSL_CTX_ctrl, "SSL_CTX_ctrl");
  need(api.SSL_CTX_free, "SSL_CTX_free");
  need(api.SSL_CTX_get_ex_data, "SSL_CTX_get_ex_data");
  need(api.SSL_CTX_new, "SSL_CTX_new");
  need(api.SSL_CTX_set_ciphersuites, "SSL_CTX_set_ciphersuites");
  need(api.SSL_CTX_set_ex_data, "SSL_CTX_set_ex_data");
  need(api.SSL_CTX_set_num_tickets, "SSL_CTX_set_num_tickets");
  need(api.SSL_CTX_set_options, "SSL_CTX_set_options");
  need(api.SSL_CTX_set_psk_find_session_callback, "SSL_CTX_set_psk_find_session_callback");
  need(api.SSL_CTX_set_psk_use_session_callback, "SSL_CTX_set_psk_use_session_callback");
  need(api.SSL_SESSION_free, "SSL_SESSION_free");
  need(api.SSL_SESSION_new, "SSL_SESSION_new");
  need(api.SSL_SESSION_set1_master_key, "SSL_SESSION_set1_master_key");
  need(api.SSL_SESSION_set_cipher, "SSL_SESSION_set_cipher");
  need(api.SSL_SESSION_set_protocol_version, "SSL_SESSION_set_protocol_version");
  need(api.SSL_do_handshake, "SSL_do_handshake");
  need(api.SSL_free, "SSL_free");
  need(api.SSL_get_SSL_CTX, "SSL_get_SSL_CTX");
  need(api.SSL_get_current_cipher, "SSL_get_current_cipher");
  need(api.SSL_get_error, "SSL_get_error");
  need(api.SSL_key_update, "SSL_key_update");
  need(api.SSL_new, "SSL_new");
  need(api.SSL_read_ex, "SSL_read_ex");
  need(api.SSL_session_reused, "SSL_session_reused");
  need(api.SSL_set_accept_state, "SSL_set_accept_state");
  need(api.SSL_set_bio, "SSL_set_bio");
  need(api.SSL_set_connect_state, "SSL_set_connect_state");
  need(api.SSL_set_verify, "SSL_set_verify");
  need(api.SSL_shutdown, "SSL_shutdown");
  need(api.SSL_version, "SSL_version");
  need(api.SSL_write_ex, "SSL_write_ex");
  need(api.TLS_method, "TLS_method");
  return lacking;
}

Loaded load() {
  Loaded loaded;
  void* library = ::dlopen(kLibrary.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char* lacking = library != nullptr ? find_all(library, loaded.api) : nullptr;
  if (library == nullptr) {
    const char* why = ::dlerror();
    loaded.wrong = fmt::format("cannot load OpenSSL ({}); install it: apt-get install libssl3",
                               why != nullptr ? why : kLibrary);
  } else if (lacking != nullptr) {
    loaded.wrong = fmt::format("{} has no {}; install OpenSSL 3", kLibrary, lacking);
  }
  return loaded;
}

const Loaded& loaded() {
  static const Loaded kLoaded = load();
  return kLoaded;
}

}  // namespace

base::Result<> load_openssl() {
  if (loaded().wrong.empty()) return {};
  return base::Error{loaded().wrong};
}

const OpensslApi& openssl() {
  TERRANE_CHECK(loaded().wrong.empty(), loaded().wrong.c_str());
  return loaded().api;
}

}  // namespace terrane::stream
