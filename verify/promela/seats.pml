/* The seats of a lossless ring between processes: subscribers that take one, die at any step, and are followed by others (ring/seats.rs, with
 * ring/gate.rs, and the locks of shm/broadcast.rs).
 *
 * One publisher with two slots and a window of one; three subscribers and one seat, or two and two (SEATS, WHO). Each subscriber takes the lock of a seat, joins at the
 * oldest message, receives, and leaves. The first two may be killed between any two steps: then the kernel takes down the lock, and the cell stays.
 * The publisher at its limit takes the locks that it can get, and frees these cells. Properties:
 *
 *   NothingOverwritten   from its start on a living subscriber finds every message in its slot
 *   SeatsStay            the cell of a living subscriber is as it has left it: nobody else writes there
 *   OneOwner             a seat is taken by one at a time
 *   PublisherProgress    the publisher comes to the end, whichever subscriber is killed, wherever (no invalid end state)
 *   SeatsAreFree         so do all subscribers that wait for a seat: one that is dead has none (the same)
 *
 * A subscriber that finds no seat waits here for one, instead of an error. Nobody sleeps: a nap ends by itself.
 *
 * Seeded bugs: NO_SECOND_LOOK (gate.join3 left out: gate_no_joiner_fence), NO_FENCE (the publisher looks before it says where it is: gate_no_publisher_fence),
 * PROMISES_TOO_MUCH (gate_promises_too_much), NEVER_SWEPT (seats_never_swept), SWEPT_ALIVE (seats_swept_alive), SWEPT_UNLOCKED (it only asks whether
 * somebody has the lock, and does not take it), LOCK_KEPT (it does not give the lock up), UNLOCKED_FIRST (a subscriber that leaves gives the lock up before the
 * cell), ENTERS_UNLOCKED (a subscriber that joins uses a cell that seems to be free, without its lock).
 */
#ifndef SEATS
#define SEATS 1
#endif
#ifndef WHO
#define WHO 3
#endif
#define SLOTS 2
#define WINDOW 1
#ifndef LAST
#define LAST 5
#endif
#define FREE 255

#define NOBODY 0
#define PUBLISHER 1
#define SUBSCRIBER 2

byte slot[SLOTS];    /* a message's sequence, and one */
byte scanned;
byte cell[SEATS] = FREE;
byte lock[SEATS];    /* which subscriber has it */
bool kill[3];

#define is_dead(i) (cell[i] != FREE && lock[i] == NOBODY)
#define has_room(i) (cell[i] > next - SLOTS)
#if SEATS == 1
#define one_is_dead is_dead(0)
#define all_have_room has_room(0)
#else
#define one_is_dead (is_dead(0) || is_dead(1))
#define all_have_room (has_room(0) && has_room(1))
#endif

active proctype killer() {
    if :: kill[0] = true :: skip fi;
    if :: kill[1] = true :: skip fi
}

active proctype publisher() {
    byte next, limit, slowest, i;
    do
    :: next < LAST ->
        do
        :: next < limit -> break
        :: else ->
#ifndef NO_FENCE
            scanned = next;                                     /* gate.scan1 */
#endif
            slowest = FREE; i = 0;
            do
            :: i < SEATS -> slowest = (cell[i] < slowest -> cell[i] : slowest); i++   /* gate.scan3 */
            :: else -> break
            od;
#ifdef NO_FENCE
            scanned = next;
#endif
            skip;
            d_step {                                            /* gate.scan4 */
                limit = (slowest == FREE -> LAST + SLOTS : slowest + SLOTS);
                limit = (next + WINDOW < limit -> next + WINDOW : limit);
                i = 0; slowest = 0
            };
            if
            :: next < limit
            :: else ->
#ifndef NEVER_SWEPT
                do
                :: i < SEATS ->
                    if
                    :: cell[i] == FREE                          /* seats.sweep5 */
                    :: else ->
#ifdef SWEPT_ALIVE
                        cell[i] = FREE
#elif defined(SWEPT_UNLOCKED)
                        if :: lock[i] == NOBODY -> cell[i] = FREE :: else fi
#else
                        if
                        :: atomic { lock[i] == NOBODY -> lock[i] = PUBLISHER };   /* seats.sweep6 */
                            cell[i] = FREE;                     /* seats.sweep7 */
#ifndef LOCK_KEPT
                            lock[i] = NOBODY                    /* seats.leave4 */
#endif
                        :: lock[i] != NOBODY
                        fi
#endif
                    fi;
                    i++
                :: else -> break
                od;
                i = 0;
                /* It waits until there is something to see: a cell that has moved, or one to sweep. */
                (all_have_room || one_is_dead)
#else
                (all_have_room)
#endif
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

/* Takes the lock of a seat that nobody has. */
inline take() {
    atomic {
#ifdef ENTERS_UNLOCKED
        if
        :: cell[0] == FREE -> mine = 0
        :: cell[SEATS - 1] == FREE -> mine = SEATS - 1
        fi;
#else
        if                                                      /* seats.join1 */
        :: lock[0] == NOBODY -> mine = 0
        :: lock[0] != NOBODY && lock[SEATS - 1] == NOBODY -> mine = SEATS - 1
        fi;
        assert(lock[mine] == NOBODY);                           /* OneOwner */
        lock[mine] = SUBSCRIBER;
#endif
        has = true
    }
}

proctype subscriber(byte who) {
    byte early, n, mine;
    bool has;
    {
        promised(early);
        take();
        cell[mine] = early;                                     /* seats.join2, gate.join1 */
#ifdef NO_SECOND_LOOK
        n = early;
#else
        promised(n);                                            /* gate.join3 */
#endif
        d_step {
            assert(cell[mine] == early);                        /* SeatsStay */
            n = (n > early -> n : early)
        };
        cell[mine] = n;                                         /* gate.join4 */
        early = 0;
        do
        :: n < LAST ->
            if
            :: slot[n % SLOTS] > n ->
                d_step {
                    assert(slot[n % SLOTS] == n + 1);           /* NothingOverwritten */
                    assert(cell[mine] == n);                    /* SeatsStay */
                    n++
                };
                cell[mine] = n                                  /* owned.read6 */
            fi
        :: break                                                /* it leaves */
        od;
#ifdef UNLOCKED_FIRST
        atomic { lock[mine] = NOBODY; has = false };
        cell[mine] = FREE
#else
        cell[mine] = FREE;                                      /* seats.leave3 */
        atomic { lock[mine] = NOBODY; has = false }             /* seats.leave4 */
#endif
    } unless { kill[who] };
    /* What the kernel does for the dead. */
    d_step { if :: has -> lock[mine] = NOBODY :: else fi; has = false; mine = 0; n = 0; early = 0 }
}

init {
    atomic {
        run subscriber(0);
        run subscriber(1);
#if WHO == 3
        run subscriber(2)
#endif
    }
}
