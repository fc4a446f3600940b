#pragma once

#include <openssl/err.h>
#include <openssl/hmac.h>
#include <openssl/ssl.h>

#include "base/result.h"

namespace terrane::stream {

// The functions of OpenSSL that this folder uses, from the library that is loaded when a process
// first proves a secret: a job without other hosts or gateways does without it, and starts faster.
struct OpensslApi {
  // NOLINTBEGIN(readability-identifier-naming): OpenSSL's names
  decltype(&::BIO_clear_flags) BIO_clear_flags;
  decltype(&::BIO_get_data) BIO_get_data;
  decltype(&::BIO_get_new_index) BIO_get_new_index;
  decltype(&::BIO_meth_new) BIO_meth_new;
  decltype(&::BIO_meth_set_ctrl) BIO_meth_set_ctrl;
  decltype(&::BIO_meth_set_read) BIO_meth_set_read;
  decltype(&::BIO_meth_set_write) BIO_meth_set_write;
  decltype(&::BIO_new) BIO_new;
  decltype(&::BIO_set_data) BIO_set_data;
  decltype(&::BIO_set_flags) BIO_set_flags;
  decltype(&::BIO_set_init) BIO_set_init;
  decltype(&::CRYPTO_memcmp) CRYPTO_memcmp;
  decltype(&::ERR_clear_error) ERR_clear_error;
  decltype(&::ERR_get_error) ERR_get_error;
  decltype(&::ERR_peek_error) ERR_peek_error;
  decltype(&::ERR_reason_error_string) ERR_reason_error_string;
  decltype(&::EVP_sha256) EVP_sha256;
  decltype(&::HMAC) HMAC;
  decltype(&::SSL_CIPHER_find) SSL_CIPHER_find;
  decltype(&::SSL_CIPHER_get_id) SSL_CIPHER_get_id;
  decltype(&::SSL_CTX_clear_options) SSL_CTX_clear_options;
  decltype(&::SSL_CTX_ctrl) SSL_CTX_ctrl;
  decltype(&::SSL_CTX_free) SSL_CTX_free;
  decltype(&::SSL_CTX_get_ex_data) SSL_CTX_get_ex_data;
  decltype(&::SSL_CTX_new) SSL_CTX_new;
  decltype(&::SSL_CTX_set_ciphersuites) SSL_CTX_set_ciphersuites;
  decltype(&::SSL_CTX_set_ex_data) SSL_CTX_set_ex_data;
  decltype(&::SSL_CTX_set_num_tickets) SSL_CTX_set_num_tickets;
  decltype(&::SSL_CTX_set_options) SSL_CTX_set_options;
  decltype(&::SSL_CTX_set_psk_find_session_callback) SSL_CTX_set_psk_find_session_callback;
  decltype(&::SSL_CTX_set_psk_use_session_callback) SSL_CTX_set_psk_use_session_callback;
  decltype(&::SSL_SESSION_free) SSL_SESSION_free;
  decltype(&::SSL_SESSION_new) SSL_SESSION_new;
  decltype(&::SSL_SESSION_set1_master_key) SSL_SESSION_set1_master_key;
  decltype(&::SSL_SESSION_set_cipher) SSL_SESSION_set_cipher;
  decltype(&::SSL_SESSION_set_protocol_version) SSL_SESSION_set_protocol_version;
  decltype(&::SSL_do_handshake) SSL_do_handshake;
  decltype(&::SSL_free) SSL_free;
  decltype(&::SSL_get_SSL_CTX) SSL_get_SSL_CTX;
  decltype(&::SSL_get_current_cipher) SSL_get_current_cipher;
  decltype(&::SSL_get_error) SSL_get_error;
  decltype(&::SSL_key_update) SSL_key_update;
  decltype(&::SSL_new) SSL_new;
  decltype(&::SSL_read_ex) SSL_read_ex;
  decltype(&::SSL_session_reused) SSL_session_reused;
  decltype(&::SSL_set_accept_state) SSL_set_accept_state;
  decltype(&::SSL_set_bio) SSL_set_bio;
  decltype(&::SSL_set_connect_state) SSL_set_connect_state;
  decltype(&::SSL_set_verify) SSL_set_verify;
  decltype(&::SSL_shutdown) SSL_shutdown;
  decltype(&::SSL_version) SSL_version;
  decltype(&::SSL_write_ex) SSL_write_ex;
  decltype(&::TLS_method) TLS_method;
  // NOLINTEND(readability-identifier-naming)
};

// Loads the library, once; it stays loaded. The error names it. Any thread.
base::Result<> load_openssl();
// The functions. Ends the process where the library cannot be loaded.
const OpensslApi& openssl();

// For std::unique_ptr: frees an object of OpenSSL.
template <auto kFree>
struct OpensslFree {
  template <typename T>
  void operator()(T* object) const {
    (openssl().*kFree)(object);
  }
};

}  // namespace terrane::stream
