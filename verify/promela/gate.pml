/* The gate of a lossless ring: joining, leaving, dying and cloned subscribers (ring/gate.rs).
 *
 * One publisher, two subscribers that come and go and clone themselves, four slots, three laps. Properties:
 *
 *   NothingOverwritten   from its start on a subscriber finds every message in its slot
 *   PublisherProgress    the publisher comes to the end, whichever subscriber joins, leaves or dies (no invalid end state)
 *
 * Seeded bugs: NO_SECOND_LOOK (gate.join3 left out: gate_no_joiner_fence), PROMISES_TOO_MUCH, BLIND_FOR_A_LAP_MORE, FORKS_UNSEEN, NEVER_LEFT (gate_*),
 * NO_FENCE (the publisher looks at the cells before it says where it is: gate_no_publisher_fence).
 */
#define SLOTS 4
#define LAST 12
#define WINDOW 2
#define CELLS 4
#define FREE 255

byte slot[SLOTS];    /* a message's sequence, and one */
byte scanned;
byte forks;
byte cell[CELLS] = FREE;

#ifdef BLIND_FOR_A_LAP_MORE
#define AHEAD (2 * SLOTS)
#else
#define AHEAD WINDOW
#endif

active proctype publisher() {
    byte next, limit, seen, slowest, i;
    do
    :: next < LAST ->
        do
        :: next < limit -> break
        :: else ->
#ifndef NO_FENCE
            scanned = next;                                    /* gate.scan1 */
#endif
again:
            skip;
            seen = forks;
            slowest = FREE; i = 0;
            do
            :: i < CELLS -> slowest = (cell[i] < slowest -> cell[i] : slowest); i++   /* gate.scan3 */
            :: else -> break
            od;
#ifndef FORKS_UNSEEN
            if :: forks != seen -> goto again :: else fi;
#endif
#ifdef NO_FENCE
            scanned = next;
#endif
            skip;
            d_step {                                            /* gate.scan4 */
                limit = (slowest == FREE -> LAST + SLOTS : slowest + SLOTS);
                limit = (next + AHEAD < limit -> next + AHEAD : limit);
                i = 0; seen = 0; slowest = 0
            };
            /* At its limit it sleeps until a cell moves; spin has no need of another look before. */
            if
            :: next < limit
            :: else -> (cell[0] > next - SLOTS && cell[1] > next - SLOTS && cell[2] > next - SLOTS && cell[3] > next - SLOTS)
            fi
        od;
        skip;
        d_step { slot[next % SLOTS] = next + 1; next++ }
    :: else -> break
    od
}

inline promised(to) {
#ifdef PROMISES_TOO_MUCH
    to = (scanned > SLOTS -> scanned - SLOTS : 0)
#else
    to = (scanned + WINDOW > SLOTS -> scanned + WINDOW - SLOTS : 0)
#endif
}

/* Takes a free cell. */
inline take(which, cursor) {
    atomic {
        if
        :: cell[0] == FREE -> which = 0
        :: else ->
            if
            :: cell[1] == FREE -> which = 1
            :: else -> if :: cell[2] == FREE -> which = 2 :: else -> which = 3 fi
            fi
        fi;
        assert(cell[which] == FREE);
        cell[which] = cursor
    }
}

/* Waits for message n, or sees that it will not come. */
inline receive(n, which) {
    if
    :: slot[n % SLOTS] > n ->
        d_step {
            assert(slot[n % SLOTS] == n + 1);                   /* NothingOverwritten */
            n++
        };
        cell[which] = n                                         /* owned.read6 */
    fi
}

active [2] proctype subscriber() {
    byte early, n, m, mine, other, count;
    /* Joins at the oldest. */
    promised(early);
    take(mine, early);                                          /* gate.join1 */
#ifdef NO_SECOND_LOOK
    n = early;
#else
    promised(n);                                                /* gate.join3 */
#endif
    d_step { n = (n > early -> n : early) };
    cell[mine] = n;                                             /* gate.join4 */
    early = 0;
    do
    :: count < 3 && n < LAST -> receive(n, mine); count++
    :: n < LAST && n > 0 && count == 1 ->
        /* A clone at the same place; the original goes on first. */
        m = n;
        take(other, m);
        forks++;
        receive(n, mine);
        receive(m, other);
        cell[other] = FREE;
        d_step { m = 0; other = 0; count++ }
    :: break                                                    /* it leaves, or dies */
    od;
#ifndef NEVER_LEFT
    cell[mine] = FREE
#endif
}
