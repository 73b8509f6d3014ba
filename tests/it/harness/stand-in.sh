#!/bin/sh
# Stands in for the program: says `ready`, stops when asked, aborts where a crash point is set.
trap 'echo stopped; exit 0' TERM
case "$*" in
  *--headless*)
    echo "log line" >&2
    [ -z "$RINGONCE_CRASH_AT" ] || kill -s ABRT $$
    echo ready
    while :; do sleep 0.05; done
    ;;
  *)
    cat
    echo "args: $*"
    exit 3
    ;;
esac
