/* The page protocol of src/protocol as a model for Spin; hlrc_model.md tells what it shows, what
 * it leaves out and how to run it. Sizes and planted errors are given by -D. */
#ifndef NODES
#define NODES 2 /* at most 3 */
#endif
#ifndef PAGES
#define PAGES 1
#endif
#ifndef ROUNDS0 /* critical sections of each thread before the barrier: node 0's threads */
#define ROUNDS0 2
#endif
#ifndef ROUNDS1 /* those of the others */
#define ROUNDS1 2
#endif
#ifndef SIBLINGS0 /* more threads of node 0, of node 1 */
#define SIBLINGS0 0
#endif
#ifndef SIBLINGS1
#define SIBLINGS1 0
#endif

#ifndef MANAGER1 /* of lock 1; node 0 is that of the others */
#define MANAGER1 1
#endif

#ifndef BYTES /* of a page, 2 or 3; lock b guards byte b of every page: false sharing */
#define BYTES 2
#endif

#define LOCKS BYTES
#define HOME_OF(p) ((p) % NODES)
#define MANAGER(l) ((l) == 1 -> MANAGER1 : 0)
#define NOBODY 255
#define SIBLINGS(n) ((n) == 0 -> SIBLINGS0 : ((n) == 1 -> SIBLINGS1 : 0))
#define ROUNDS(n) ((n) == 0 -> ROUNDS0 : ROUNDS1)
#define INTERVALS 12 /* of a node, at most */

mtype = { INVALID, CLEAN, HOME };                    /* a block */
mtype = { REQUEST, FORWARD, GRANT, ARRIVE, DEPART }; /* a message */
mtype = { NO, HERE, REMOTE };                        /* how a waiting thread was given a lock */

/* ---- What a node has; vectors have a place for each of three nodes ------------------------ */
typedef Page {
  mtype state = INVALID;
  bool busy;                   /* the block's lock */
  bool present, written;       /* application view: has an entry; written since protected */
  byte mem[BYTES], twin[BYTES];
  bool cached, lease, tracked; /* the block sets */
  bool word, wanted            /* control area at the home: "tracked"; asked for by readers */
};
typedef Lock {
  bool token, held, requested;
  byte waiting;                /* threads of this node */
  mtype given = NO;            /* to one of them, which has not seen it yet */
  byte successor = NOBODY;
  byte tail = NOBODY;          /* at the manager: the node that asked last */
  byte granted[3]              /* notices that came with the grant */
};
typedef Node {
  Page page[PAGES];
  Lock lock[LOCKS];
  byte known[3];               /* vector timestamp */
  byte told[3];                /* notices that came with a departure */
  bool consistency;            /* releases and invalidations of the node take turns */
  byte changed;                /* the interval under way: a bit a page */
  byte entered;                /* threads in the barrier */
  bool departed
};
Node node[NODES];

/* A notice set is written as the timestamp it brings its reader to: the intervals between the
 * reader's own and that are the ones it names. What they say stands here, a bit a page. */
byte said[NODES * INTERVALS];
#define SAID(n, interval) said[(n) * INTERVALS + (interval)]

/* In order from node to node, in no order otherwise. */
chan wire[NODES * NODES] = [3] of { mtype, byte /* lock */, byte /* who */, byte, byte, byte };
#define LINK(from, to) wire[(from) * NODES + (to)]

byte arrived, merged[3];       /* at node 0, the root of the barrier tree */

/* ---- What must hold ----------------------------------------------------------------------- */
byte last[PAGES * BYTES];      /* of each byte: what was written last, in happens-before order */
bool inside[LOCKS];            /* somebody is in the critical section */

/* ---- Messages: what a node's core does in one step ---------------------------------------- */
#define L(l) node[n].lock[l]
#define COPY(to, from) to[0] = from[0]; to[1] = from[1]; to[2] = from[2]

#define SEND(to, kind, l, who, set) \
  assert(nfull(LINK(n, to))); LINK(n, to)!kind, l, who, set[0], set[1], set[2]

inline grant(l, to) {
  assert(L(l).token && !L(l).held);
  L(l).token = false;
  L(l).successor = NOBODY;
  SEND(to, GRANT, l, to, node[n].known)
}

inline forwarded(l, who) {
  if
  :: L(l).token && !L(l).held -> grant(l, who)
  :: else -> L(l).successor = who
  fi
}

inline queue_behind_tail(l, who) {
  was = L(l).tail;
  L(l).tail = who;
  if
  :: was == n -> forwarded(l, who)
  :: else -> SEND(was, FORWARD, l, who, node[n].known)
  fi;
  was = 0
}

inline request(l) {
  L(l).requested = true;
  if
  :: MANAGER(l) == n -> queue_behind_tail(l, n)
  :: else -> SEND(MANAGER(l), REQUEST, l, n, node[n].known)
  fi
}

/* Which of the node's waiting threads sees it first is left open. */
inline give(l, how) {
  L(l).held = true;
  L(l).waiting--;
  L(l).given = how
}

inline release_lock(l) {
  L(l).held = false;
  if
  :: L(l).successor != NOBODY ->
     was = L(l).successor;
     grant(l, was);
     was = 0;
     if
     :: L(l).waiting > 0 -> request(l)
     :: else
     fi
  :: L(l).successor == NOBODY && L(l).waiting > 0 -> give(l, HERE)
  :: else
  fi
}

inline depart() {
  i = 1;
  do
  :: i < NODES -> SEND(i, DEPART, 0, 0, merged); i++
  :: else -> break
  od;
  i = 0;
  COPY(node[n].told, merged);
  arrived = 0;
  node[n].departed = true
}

#define MAX_TO(a, b) if :: b > a -> a = b :: else fi

/* An arrival reaches the root with what the node knows; the last one departs. */
inline arrive() {
  MAX_TO(merged[0], v[0]);
  MAX_TO(merged[1], v[1]);
  MAX_TO(merged[2], v[2]);
  arrived++;
  if
  :: arrived == NODES -> depart()
  :: else
  fi
}

proctype core(byte n) {
  mtype kind;
  byte from, l, who, was, i, v[3];
end:
  do
  :: atomic {
       if
       :: nempty(LINK(0, n)) -> from = 0
       :: nempty(LINK(1, n)) -> from = 1
#if NODES > 2
       :: nempty(LINK(2, n)) -> from = 2
#endif
       fi;
       LINK(from, n)?kind, l, who, v[0], v[1], v[2];
       if
       :: kind == REQUEST -> queue_behind_tail(l, who)
       :: kind == FORWARD -> forwarded(l, who)
       :: kind == GRANT ->
          L(l).token = true;
          L(l).requested = false;
          COPY(L(l).granted, v);
          give(l, REMOTE)
       :: kind == ARRIVE -> arrive()
       :: kind == DEPART ->
          COPY(node[n].told, v);
          node[n].departed = true
       fi;
       kind = 0; from = 0; l = 0; who = 0; v[0] = 0; v[1] = 0; v[2] = 0
     }
  od
}

/* ---- Blocks: what a thread does, step by step (faults, misses, releases, acquires) --------- */
#define MINE(p) node[n].page[p]
#define AT_HOME(p) node[HOME_OF(p)].page[p]
#define BIT(p) (1 << (p))

inline lock_block(p) { atomic { !MINE(p).busy -> MINE(p).busy = true } }
inline enter() { atomic { !node[n].consistency -> node[n].consistency = true } }
inline leave() { node[n].consistency = false }

/* The bytes that differ from the twin go home, and into the twin; each is loaded once. */
inline push_changes(p, update_twin) {
  b = 0;
  do
  :: b < BYTES ->
     byte_now = MINE(p).mem[b];
     if
#ifdef FLUSH_WHOLE_BLOCK
     :: true ->
#else
     :: byte_now != MINE(p).twin[b] ->
#endif
        differs = true;
        AT_HOME(p).mem[b] = byte_now;
        if
#ifdef TWIN_COPIED_APART
        :: update_twin -> MINE(p).twin[b] = MINE(p).mem[b]
#else
        :: update_twin -> MINE(p).twin[b] = byte_now
#endif
        :: else
        fi
     :: else
     fi;
     b++
  :: else -> break
  od;
  atomic {
    if
    :: differs -> node[n].changed = node[n].changed | BIT(p)
    :: else
    fi;
    differs = false; b = 0; byte_now = 0
  }
}

/* Makes the page present for a thread that faulted on it; for_writing: it enters unprotected. */
inline fault(p, for_writing) {
  lock_block(p);
  if
  :: MINE(p).present /* by a sibling, meanwhile */
  :: !MINE(p).present && HOME_OF(p) == n ->
     d_step {
       MINE(p).state = HOME;
       MINE(p).present = true;
       MINE(p).written = !MINE(p).tracked
     }
  :: !MINE(p).present && HOME_OF(p) != n -> fault_copy(p, for_writing)
  fi;
  MINE(p).busy = false
}

#define copy_bytes(to, from) \
  do :: atomic { b < BYTES -> to[b] = from[b]; b++ } :: atomic { b == BYTES -> b = 0; break } od

inline fault_copy(p, for_writing) {
#ifndef LATE_CACHED_MARK
  d_step { MINE(p).lease = true; MINE(p).cached = true };
#endif
  relies = AT_HOME(p).word; /* on notices: one step from now on nothing keeps the word so */
  if
  :: relies -> MINE(p).lease = false
  :: !relies -> AT_HOME(p).wanted = true
  fi;
  copy_bytes(MINE(p).mem, AT_HOME(p).mem);
#ifdef LATE_CACHED_MARK
  atomic { MINE(p).lease = !relies; MINE(p).cached = true };
#endif
#ifdef TWIN_FROM_HOME
  copy_bytes(MINE(p).twin, AT_HOME(p).mem);
#else
  atomic { copy_bytes(MINE(p).twin, MINE(p).mem) };
#endif
  atomic {
    MINE(p).state = CLEAN;
    MINE(p).present = true;
    MINE(p).written = for_writing;
    relies = false
  }
}

/* What the notice set names, and every lease, is dropped; then the node knows what the set says. */
inline apply() {
  enter();
  d_step { /* reads what only the holder of the consistency lock changes, and block sets */
    i = 0;
    do
    :: i < NODES ->
       interval = node[n].known[i] + 1;
       do
       :: interval <= set[i] -> named = named | SAID(i, interval); interval++
       :: else -> break
       od;
       i++
    :: else -> break
    od;
    p = 0;
    do
    :: p < PAGES ->
#ifndef KEEP_LEASE
       if
       :: MINE(p).lease -> named = named | BIT(p)
       :: else
       fi;
#endif
       if
       :: !MINE(p).cached -> named = named & ~BIT(p)
       :: else
       fi;
       p++
    :: else -> break
    od;
    i = 0; interval = 0; p = 0
  }
  do
  :: p < PAGES && (named & BIT(p)) -> invalidate(p); p++
  :: p < PAGES && !(named & BIT(p)) -> p++
  :: p == PAGES -> break
  od;
  atomic {
    MAX_TO(node[n].known[0], set[0]);
    MAX_TO(node[n].known[1], set[1]);
    MAX_TO(node[n].known[2], set[2]);
    set[0] = 0; set[1] = 0; set[2] = 0; p = 0; named = 0
  }
  leave()
}

/* BUSY, zap, difference home, INVALID. The bytes stay in the memory behind the view. */
inline invalidate(p) {
  lock_block(p);
  assert(MINE(p).state == CLEAN);
#ifndef DIFF_BEFORE_ZAP
  MINE(p).present = false;
#endif
  push_changes(p, false);
  d_step {
    MINE(p).present = false;
    MINE(p).lease = false;
    MINE(p).cached = false;
    MINE(p).state = INVALID;
    MINE(p).busy = false
  }
}

/* All that the node's threads wrote goes home and becomes an interval. */
inline release() {
  enter();
  do
  :: p < PAGES ->
     atomic { /* the scan protects what it finds, at once */
       if
       :: (MINE(p).cached || MINE(p).tracked) && MINE(p).present && MINE(p).written ->
          MINE(p).written = false;
          named = named | BIT(p)
       :: else
       fi;
       p++
     }
  :: else -> break
  od;
  p = 0;
  do
  :: p < PAGES && (named & BIT(p)) -> flush_block(p); p++
  :: p < PAGES && !(named & BIT(p)) -> p++
  :: p == PAGES -> break
  od;
  atomic { named = 0; p = 0 }
  do
  :: p < PAGES -> track_if_wanted(p); p++
  :: else -> break
  od;
  atomic {
    p = 0;
    if
    :: node[n].changed ->
       node[n].known[n]++;
       assert(node[n].known[n] < INTERVALS);
       SAID(n, node[n].known[n]) = node[n].changed;
       node[n].changed = 0
    :: else
    fi
  }
  leave()
}

inline flush_block(p) {
  lock_block(p);
  if
  :: MINE(p).state == CLEAN -> push_changes(p, true)
  :: MINE(p).state == HOME ->
#ifndef KEEP_TRACKED_WHEN_WRITTEN
     MINE(p).word = false;
     d_step {
       MINE(p).tracked = false;
       node[n].changed = node[n].changed | BIT(p)
     }
#endif
  fi;
  MINE(p).busy = false
}

/* Readers asked for a home block: protect it, then publish. Or leave it alone for now: the
 * protocol does so when a block was written soon after each time. */
inline track_if_wanted(p) {
  if
  :: atomic { MINE(p).wanted -> MINE(p).wanted = false; asked = true }
  :: atomic { !MINE(p).wanted -> asked = false }
  fi;
  if
  :: asked && !MINE(p).tracked ->
#ifdef PUBLISH_BEFORE_PROTECT
     MINE(p).word = true;
#endif
     lock_block(p);
     MINE(p).written = false;
     MINE(p).tracked = true;
     MINE(p).word = true;
     MINE(p).busy = false
  :: true
  fi;
  asked = false
}

/* ---- A thread's program ------------------------------------------------------------------- */
inline take_lock(l) {
  atomic {
    if
    :: L(l).token && !L(l).held -> L(l).held = true; how = HERE
    :: else ->
       L(l).waiting++;
       if
       :: !L(l).token && !L(l).requested -> request(l)
       :: else
       fi
    fi
  }
  if
  :: how == HERE
  :: atomic { how != HERE && L(l).given != NO -> how = L(l).given; L(l).given = NO }
  fi;
  if
  :: how == REMOTE -> d_step { COPY(set, L(l).granted) }; apply()
  :: else
  fi;
  atomic { assert(!inside[l]); inside[l] = true; how = NO }
}

/* To a sibling that waits the lock goes without a release, unless another node waits too. */
inline give_up_lock(l) {
  inside[l] = false;
  if
  :: atomic { L(l).successor == NOBODY && L(l).waiting > 0 -> release_lock(l) }
  :: atomic { !(L(l).successor == NOBODY && L(l).waiting > 0) -> skip };
#ifdef FLUSH_AFTER_GRANT
     atomic { release_lock(l) };
     release()
#else
     release();
     atomic { release_lock(l) }
#endif
  fi
}

inline barrier() {
  if
  :: atomic { node[n].entered < SIBLINGS(n) -> node[n].entered++ };
     node[n].entered == 0 /* set by the last one of this node when it leaves */
  :: atomic { node[n].entered == SIBLINGS(n) -> skip };
     release();
     SEND(0, ARRIVE, 0, 0, node[n].known);
     atomic { node[n].departed -> node[n].departed = false; COPY(set, node[n].told) };
     apply();
     node[n].entered = 0
  fi
}

inline read(p, at) {
  do
  :: atomic { MINE(p).present -> assert(MINE(p).mem[at] == last[(p) * BYTES + at]); break }
  :: atomic { !MINE(p).present -> skip }; fault(p, false)
  od
}

inline write(p, at) {
  do
  :: atomic {
       MINE(p).present ->
       last[(p) * BYTES + at]++;
       MINE(p).mem[at] = last[(p) * BYTES + at];
       MINE(p).written = true;
       break
     }
  :: atomic { !MINE(p).present -> skip }; fault(p, true)
  od
}

proctype thread(byte n) {
  mtype how = NO;
  byte round, l, page, p, b, byte_now, i, interval, named, was, set[3];
  bool differs, relies, asked;

  do
  :: round < ROUNDS(n) ->
     atomic {
       if
       :: l = 0
       :: l = 1
#if BYTES > 2
       :: l = 2
#endif
       fi;
       if
       :: page = 0
#if PAGES > 1
       :: page = 1
#endif
       fi
     }
     take_lock(l);
     if
     :: read(page, l)
     :: write(page, l)
     fi;
     give_up_lock(l);
     round++
  :: else -> break
  od;
  barrier();
  page = 0;
  do /* nothing was lost */
  :: page < PAGES ->
     l = 0;
     do
     :: l < BYTES -> read(page, l); l++
     :: else -> break
     od;
     page++
  :: else -> break
  od
}

init {
  atomic {
    byte n = 0, k = 0;
    do
    :: k < LOCKS ->
       node[MANAGER(k)].lock[k].token = true;
       node[MANAGER(k)].lock[k].tail = MANAGER(k);
       k++
    :: else -> break
    od;
    do
    :: n < NODES ->
       run core(n);
       run thread(n);
       k = 0;
       do
       :: k < SIBLINGS(n) -> run thread(n); k++
       :: else -> break
       od;
       n++
    :: else -> break
    od;
    n = 0; k = 0
  }
}
