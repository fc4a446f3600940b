#!/bin/sh
# Used as TERRANE_RSH: "reaches" hosts that are this machine under other names. What happens to a
# host lies in its name; see the tests in hosts_test.cpp.
host=$1
shift
case $host in
  down*) echo "ssh: connect to host $host port 22: No route to host" >&2; exit 255 ;;
  unknown*) echo "ssh: Could not resolve hostname $host: Name or service not known" >&2; exit 255 ;;
  denied*) echo "me@$host: Permission denied (publickey,password)." >&2; exit 255 ;;
  old*) echo "terrane: there is no command host-engine; see: terrane --help" >&2; exit 2 ;;
  bare*) exec /no/such/place/bin/terrane "$@" ;;
  mute*) exec sleep 1000 ;;
  thief*) { echo 00112233445566778899aabbccddeeff; cat > /dev/null; } | exec "$@" ;;
  noisy*) echo "Welcome to $host"; echo "motd" >&2; exec "$@" ;;
  *) exec "$@" ;;
esac
