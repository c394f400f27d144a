/* Many publishers of a lossless ring that only taps read, so that nobody holds them up at the gate: claim and wrap (ring/head.rs, ring/slots.rs,
 * broadcast/slot_access.rs). A publisher claims what is next when its slot is left. (Those of a lossy ring: ranges.pml.)
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
 *   LostIsLost       a lag counts messages that were overwritten, none that is still to be written
 *   JoinsInTime      all before the message that a joiner begins with is written
 *   NewestIsThere    `latest` finds a message, or publishers went on meanwhile (LATEST: a reader that does nothing else)
 *
 * Spin is sequentially consistent: this checks interleavings, not orderings; those are loom's.
 *
 * Seeded bugs: NO_WAIT (claim_looks_at_no_slot), NO_WRITING_STAMP (slot_no_writing_stamp), NO_SECOND_LOOK (slot_no_second_look),
 * CLAIM_NOT_ATOMIC (claim_whoever_was_faster), UNCOUNTED (lag_uncounted), SURVEY_BY_CLAIMS (survey_by_claims), LATEST_BY_CLAIMS (latest_by_claims).
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

/* The first message from `next` on that is not written, as a look at each slot tells (Head::survey). What was seen of a slot stays true. */
inline survey() {
    claim = claimed;
    head = claim;
    i = (claim > SLOTS && claim - SLOTS > next -> claim - SLOTS : next);
#ifndef SURVEY_BY_CLAIMS
    do
    :: i < claim ->
        d_step {
            seen = stamp[SLOT(i)];
            if
            :: seen == 0 -> waits = SLOT(i)
            :: else -> waits = (seen % 2 == 1 -> seen / 2 : seen / 2 - 1 + SLOTS)
            fi;
            do :: waits < next -> waits = waits + SLOTS :: else -> break od;
            head = (waits < head -> waits : head);
            i++; seen = 0; waits = 0
        }
    :: else -> break
    od;
#endif
    i = next;
    d_step {                                                    /* JoinsInTime */
        do :: i < head -> assert(stamp[SLOT(i)] >= DONE(i)); i++ :: else -> break od;
        i = 0; claim = 0
    }
}

#ifdef BATCH
#define CLAIMS BATCH
#else
#define CLAIMS 1
#endif

active [2] proctype writer() {
    byte s;
#if CLAIMS > 1
    byte end;
#endif
    byte wanted;
    do
    :: claimed < LAST ->
        wanted = claimed;
        if :: wanted >= LAST -> break :: else fi;
#ifndef NO_WAIT
        if                                                      /* claim.wait2 */
        :: stamp[SLOT(wanted)] == BEFORE(wanted)
        :: claimed != wanted -> wanted = 0; goto again
        fi;
#if CLAIMS > 1
        if
        :: stamp[SLOT(wanted + 1)] == BEFORE(wanted + 1)
        :: claimed != wanted -> wanted = 0; goto again
        fi;
#endif
#endif
#ifdef CLAIM_NOT_ATOMIC
        claimed = wanted + CLAIMS;
#else
        atomic {                                                /* claim.take1 */
            if
            :: claimed == wanted -> claimed = wanted + CLAIMS
            :: else -> wanted = 0; goto again
            fi
        };
#endif
        d_step { s = wanted; wanted = 0 };
#if CLAIMS > 1
        end = s + CLAIMS;
        do
        :: s < end ->
#endif
        d_step { writers[SLOT(s)]++; assert(writers[SLOT(s)] == 1) };  /* OneWriter */
#ifndef NO_WRITING_STAMP
        stamp[SLOT(s)] = WRITING(s);                            /* slot.w1 */
#endif
        one[SLOT(s)] = s + 1;                                   /* slot.w3 */
        two[SLOT(s)] = s + 1;
        d_step { stamp[SLOT(s)] = DONE(s); writers[SLOT(s)]--; s++ }  /* slot.w4 */
#if CLAIMS > 1
        :: else -> break
        od;
        end = 0;
#endif
        s = 0;
again:  skip
    :: else -> break
    od
}

#ifdef LATEST
active proctype reader() {
    byte claim, i, seen, done, newest;
    stamp[0] >= DONE(0);
    do
    :: claimed < LAST ->
        claim = claimed;
        i = claim;
        do
        :: i > 0 && i + SLOTS > claim ->
            d_step {
                i--;
                seen = stamp[SLOT(i)];
                done = (seen > 0 && seen % 2 == 0 -> seen / 2 : 0);  /* and one */
#ifdef LATEST_BY_CLAIMS
                done = (done > i -> done : 0);
#endif
                newest = (done > newest -> done : newest);
                i = (done > i -> 0 : i);
                seen = 0; done = 0
            }
        :: else -> break
        od;
        i = 0;
        d_step { assert(newest > 0 || claimed != claim); newest = 0; claim = 0 }  /* NewestIsThere */
    :: else -> break
    od
}
#else
active [READERS] proctype reader() {
    byte next, received, lagged, seen, first, second, oldest, claim, head, i, waits;
    do
    :: next < LAST ->
        stamp[SLOT(next)] >= DONE(next);                        /* slot.r1; before that it is empty */
        seen = stamp[SLOT(next)];
        if
        :: seen == DONE(next) ->
            first = one[SLOT(next)];                            /* slot.r2 */
            second = two[SLOT(next)];
#ifndef NO_SECOND_LOOK
            seen = stamp[SLOT(next)];                           /* slot.r4 */
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
            /* Lapped: what stands begins a lap before what is still to be written, or later where that was overwritten out of order. */
            d_step { seen = 0; first = 0; second = 0 };
            survey();
            oldest = (head > SLOTS -> head - SLOTS : 0);
            do
            :: oldest < head && stamp[SLOT(oldest)] != DONE(oldest) -> oldest++
            :: else -> break
            od;
            i = next;
            d_step {
                oldest = (oldest > next -> oldest : next + 1);
                do                                              /* LostIsLost */
                :: i < oldest -> assert(stamp[SLOT(i)] > DONE(i)); i++
                :: else -> break
                od;
                i = 0; head = 0;
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
#endif
