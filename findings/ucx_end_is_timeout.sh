#!/bin/sh
# UCX says "Endpoint timeout" at once when the process at the other end of a TCP connection has ended.
#
# Version: libucx0 1.13.1-1 of Debian 12, x86-64, on Linux. UCX_TLS=tcp, over loopback.
# Input: two processes exchange a message each by endpoints with UCP_ERR_HANDLING_MODE_PEER. Then one ends by _exit(0),
# and the other one makes progress until its error handler is called.
# What one would guess: an error of a closed connection, as UCS_ERR_CONNECTION_RESET, which this version has; and a
# timeout only after the times of UCX_TCP_KEEPIDLE, UCX_TCP_KEEPINTVL and UCX_TCP_KEEPCNT, or UCX_KEEPALIVE_INTERVAL.
# Seen: UCS_ERR_ENDPOINT_TIMEOUT some milliseconds after the end, with these times set to 1000 s. So this status says
# nothing of time, or of the network: who raises keepalive times because of it looks in the wrong place. The
# tcp transport gives this status to every connection that breaks.
# For our users: a node ends when its peers have what it sent (tests/conformance/end_test.cpp).
#
# Exit code: 0 if this is still so; 1 if it has changed; 77 if the packages cannot be had.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get -qq download libucx0=1.13.1-1 libucx-dev=1.13.1-1 libnuma1 libibverbs1 librdmacm1 libnl-3-200 \
  libnl-route-3-200 2>/dev/null || exit 77
for package in ./*.deb; do dpkg-deb -x "$package" root; done
libraries=$folder/root/usr/lib/x86_64-linux-gnu:$folder/root/lib/x86_64-linux-gnu

cat >ends.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

static ucs_status_t broken;

static void on_error(void* none, ucp_ep_h endpoint, ucs_status_t status) {
  (void)none, (void)endpoint;
  broken = status;
}
static void require(ucs_status_t status, const char* what) {
  if (status == UCS_OK) return;
  printf("%s: %s\n", what, ucs_status_string(status));
  exit(2);
}
static ucs_status_t finish(ucp_worker_h worker, void* request) {
  if (request == NULL) return UCS_OK;
  if (UCS_PTR_IS_ERR(request)) return UCS_PTR_STATUS(request);
  while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(worker);
  ucs_status_t status = ucp_request_check_status(request);
  ucp_request_free(request);
  return status;
}
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

int main(void) {
  int ways[2][2];
  if (pipe(ways[0]) != 0 || pipe(ways[1]) != 0) return 2;
  pid_t child = fork();
  int reads = ways[child == 0][0], writes = ways[child != 0][1];
  ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
  ucp_context_h context;
  require(ucp_init(&params, NULL, &context), "init");
  ucp_worker_params_t single = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                .thread_mode = UCS_THREAD_MODE_SINGLE};
  ucp_worker_h worker;
  require(ucp_worker_create(context, &single, &worker), "worker");
  ucp_address_t* own;
  size_t bytes;
  require(ucp_worker_get_address(worker, &own, &bytes), "address");
  if (write(writes, &bytes, sizeof bytes) < 0 || write(writes, own, bytes) < 0) return 2;
  char* other = malloc(1 << 16);
  if (read(reads, &bytes, sizeof bytes) != sizeof bytes) return 2;
  for (size_t got = 0; got < bytes;) got += read(reads, other + got, bytes - got);
  ucp_ep_params_t to = {
      .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                    UCP_EP_PARAM_FIELD_ERR_HANDLER,
      .address = (ucp_address_t*)other,
      .err_mode = UCP_ERR_HANDLING_MODE_PEER,
      .err_handler = {.cb = on_error}};
  ucp_ep_h endpoint;
  require(ucp_ep_create(worker, &to, &endpoint), "endpoint");
  ucp_request_param_t plain = {0};
  char sent = 'x', got = 0;
  void* receives = ucp_tag_recv_nbx(worker, &got, 1, 1, ~0ull, &plain);
  require(finish(worker, ucp_tag_send_nbx(endpoint, &sent, 1, 1, &plain)), "send");
  require(finish(worker, receives), "receive");
  if (child == 0) {
    double until = now() + 0.3; /* the other end has the message */
    while (now() < until) ucp_worker_progress(worker);
    _exit(0);
  }
  while (waitpid(child, NULL, WNOHANG) == 0) ucp_worker_progress(worker);
  double from = now();
  while (broken == UCS_OK && now() < from + 20) ucp_worker_progress(worker);
  printf("%d \"%s\" within a second of the end: %s\n", broken, ucs_status_string(broken),
         now() - from < 1 ? "yes" : "no");
  fflush(stdout);
  _exit(0);
}
C
cc -O1 -Iroot/usr/include -o ends ends.c -Lroot/usr/lib/x86_64-linux-gnu -Wl,-rpath-link,"$libraries" -lucp -lucs
seen=$(LD_LIBRARY_PATH=$libraries UCX_MODULE_DIR=$folder/root/usr/lib/x86_64-linux-gnu/ucx UCX_TLS=tcp \
  UCX_NET_DEVICES=lo UCX_TCP_KEEPIDLE=1000s UCX_TCP_KEEPINTVL=1000s UCX_KEEPALIVE_INTERVAL=1000s UCX_LOG_LEVEL=fatal \
  ./ends)
echo "UCX 1.13.1: $seen"
[ "$seen" = '-80 "Endpoint timeout" within a second of the end: yes' ]
