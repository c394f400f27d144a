/* Many publishers: claim and wrap, lossy (ring/head.rs, ring/slot.rs, broadcast/room.rs).
 *
 * Two writers, four slots, three laps and one reader, or two laps and two readers (READERS; a reader writes nothing that another one
 * reads). A writer may stop for as long as it likes between any two steps, which is what a
 * stalled one does. Properties, the first three by the names that Photon Ring's TLA+ specification has for them:
 *
 *   NoTornRead       a reader that accepts a message got both its words from one writer
 *   ResultValidity   and that message is the one of its sequence
 *   ReaderProgress   no reader is stuck: each comes to the end (spin: no invalid end state)
 *   OneWriter        no two writers are in one slot
 *   Accounts         received + lagged is how far a reader came
 *
 * Spin is sequentially consistent: this checks interleavings, not orderings; those are loom's.
 *
 * Twins: NO_WAIT (claim_does_not_wait), NO_WRITING_STAMP (slot_no_writing_stamp), NO_SECOND_LOOK (slot_no_second_look),
 * CLAIM_NOT_ATOMIC (claim_not_atomic), UNCOUNTED (lag_uncounted).
 */
#define SLOTS 4
#ifndef READERS
#define READERS 1
#endif
#if READERS == 1
#define LAST 12
#else
#define LAST 8
#endif

#define SLOT(s) ((s) % SLOTS)
#define WRITING(s) (2 * (s) + 1)
#define DONE(s) (2 * (s) + 2)
/* The stamp of the lap before; 0 in the first. */
#define BEFORE(s) ((s) < SLOTS -> 0 : DONE((s) - SLOTS))

byte claimed;
byte stamp[SLOTS];
/* The two words of a message: its sequence, and one. */
byte one[SLOTS];
byte two[SLOTS];
byte writers[SLOTS];

active [2] proctype writer() {
    byte s;
    do
    :: claimed < LAST ->
#ifdef CLAIM_NOT_ATOMIC
        s = claimed;
        claimed = s + 1;
#else
        atomic { if :: claimed < LAST -> s = claimed; claimed++ :: else -> break fi };
#endif
#ifndef NO_WAIT
        stamp[SLOT(s)] == BEFORE(s);                            /* C2 */
#endif
        d_step { writers[SLOT(s)]++; assert(writers[SLOT(s)] == 1) };  /* OneWriter */
#ifndef NO_WRITING_STAMP
        stamp[SLOT(s)] = WRITING(s);                            /* W1 */
#endif
        one[SLOT(s)] = s + 1;                                   /* W3 */
        two[SLOT(s)] = s + 1;
        d_step { stamp[SLOT(s)] = DONE(s); writers[SLOT(s)]--; s = 0 }  /* W4 */
    :: else -> break
    od
}

active [READERS] proctype reader() {
    byte next, received, lagged, seen, first, second, oldest;
    do
    :: next < LAST ->
        stamp[SLOT(next)] >= DONE(next);                        /* R1; before that it is empty */
        seen = stamp[SLOT(next)];
        if
        :: seen == DONE(next) ->
            first = one[SLOT(next)];                            /* R2 */
            second = two[SLOT(next)];
#ifndef NO_SECOND_LOOK
            seen = stamp[SLOT(next)];                           /* R4 */
#endif
        :: else
        fi;
        if
        :: seen == DONE(next) ->
            d_step {
                assert(first == second);                        /* NoTornRead */
                assert(first == next + 1);                      /* ResultValidity */
                received++; next++
            }
        :: else ->
            /* Lapped: what stands begins a lap before the claims. */
            d_step {
                oldest = (claimed > SLOTS -> claimed - SLOTS : 0);
                oldest = (oldest > next -> oldest : next + 1);
#ifndef UNCOUNTED
                lagged = lagged + (oldest - next);
#endif
                next = oldest
            }
        fi;
        d_step { seen = 0; first = 0; second = 0; oldest = 0 }
    :: else -> break
    od;
    assert(received + lagged == LAST)                           /* Accounts */
}
