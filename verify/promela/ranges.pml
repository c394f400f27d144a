/* Many publishers of several processes: a range is claimed by one step of the head, and an intent of each place says which (ring/claims.rs).
 *
 * Two places, one subscriber. The publisher of place 0 may die between any two steps, and then the next owner of its place comes, or nobody. Any
 * of them may stop for as long as it likes between any two steps. A publisher that has published all stays, and does nothing more.
 *
 *   OneWriter     no two living publishers are in one slot
 *   LostIsLost    a message that a subscriber has counted as lost was never there, and never is
 *   NobodyWaits   once all that live have published theirs, nobody waits for a message
 *   InOrder       the stamps of a slot grow
 *
 * Spin is sequentially consistent: this checks interleavings, not orderings; those are loom's.
 *
 * Seeded bugs: TAKEN_ALIVE, INTENT_AFTER (the head first), STAMP_FIRST (a subscriber looks at the stamp before the intents), KEPT (a publisher that passes over a
 * message leaves it in its intent), KEPT_BY_HEIR (the next owner leaves the intent as it is), INTENTS_UNSEEN (a publisher that claims looks at no intent).
 */
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef COUNT
#define COUNT 1
#endif
#ifndef LAST
#define LAST 4
#endif
#define SLOT(s) ((s) % SLOTS)
#define WRITING(s) (2 * (s) + 1)
#define DONE(s) (2 * (s) + 2)
/* The stamp of the lap before; 0 in the first. */
#define BEFORE(s) ((s) < SLOTS -> 0 : DONE((s) - SLOTS))
#define INTENT(s, n) ((n) == 0 -> 0 : (s) * 4 + (n))
#define COVERS(r, s) ((r) / 4 <= (s) && (s) < (r) / 4 + (r) % 4)
#define HEIR 2
#define PLACE(p) ((p) == HEIR -> 0 : (p))
#define HELD(place) ((place) == 0 -> alive[0] || alive[HEIR] : alive[1])

byte head;
byte rec[2];
byte stamp[SLOTS];
bool alive[3], finished[3];
byte in[3];             /* the slot that it writes, plus 1 */
bool lost[LAST + COUNT], there[LAST + COUNT];

proctype publisher(byte p) {
    byte s, end, x, r, a;
    bool is_free;
    {
        if
        :: p == HEIR ->
            if
#ifndef NO_HEIR
            :: atomic { !alive[0] -> alive[HEIR] = true }                       /* the lock of the place */
#endif
            :: atomic { finished[HEIR] = true; goto out }                       /* nobody comes */
            fi;
#ifndef KEPT_BY_HEIR
            rec[0] = 0                                                          /* fellow.next9 */
#endif
        :: else
        fi;
        /* fellow.claim1: s is where its last range ended, or what fellow.claim3 found */
        do
        :: true ->
#ifndef INTENT_AFTER
            rec[PLACE(p)] = INTENT(s, COUNT);                                   /* fellow.claim2 */
#endif
            atomic {                                                            /* fellow.claim3 */
                if
                :: head == s && s < LAST -> head = s + COUNT; end = s + COUNT
                :: else ->
                    s = head; end = head;
                    if :: s >= LAST -> goto closed :: else fi
                fi
            };
#ifdef INTENT_AFTER
            rec[PLACE(p)] = INTENT(s, end - s);
#endif
            do
            :: atomic { s < end -> x = stamp[SLOT(s)]; is_free = (x == BEFORE(s)) };    /* fellow.take4 */
#ifdef INTENTS_UNSEEN
                is_free = true;
#endif
                if
                :: is_free
                :: else ->
                    atomic {                                                    /* fellow.take5 */
                        r = rec[1 - PLACE(p)];
                        /* a: what of that is of this slot, in an earlier lap; plus 1 */
                        a = 0; x = r / 4;
                        do
                        :: x < r / 4 + r % 4 -> a = (SLOT(x) == SLOT(s) && x < s -> x + 1 : a); x++
                        :: else -> break
                        od;
                        r = 0; x = 0
                    };
                    if
                    :: a > 0 ->
                        atomic { is_free = (stamp[SLOT(s)] >= DONE(a - 1)); a = 0 };    /* fellow.take6 */
                        if
                        :: is_free
                        :: else ->
#ifdef TAKEN_ALIVE
                            is_free = true
#else
                            is_free = !HELD(1 - PLACE(p))                       /* fellow.take7 */
#endif
                        fi
                    :: else -> is_free = true
                    fi
                fi;
                if
                :: is_free ->
                    atomic {                                                    /* slot.w1 */
                        x = 0;
                        do
                        :: x < 3 -> assert(x == p || !alive[x] || in[x] != SLOT(s) + 1); x++    /* OneWriter */
                        :: else -> break
                        od;
                        x = 0;
                        in[p] = SLOT(s) + 1;
                        assert(stamp[SLOT(s)] < WRITING(s));                    /* InOrder */
                        stamp[SLOT(s)] = WRITING(s)
                    };
                    atomic {                                                    /* slot.w4 */
                        assert(stamp[SLOT(s)] == WRITING(s));
                        stamp[SLOT(s)] = DONE(s);
                        in[p] = 0;
                        assert(!lost[s]);                                       /* LostIsLost */
                        there[s] = true;
                        s++; is_free = false; x = 0
                    }
                :: else ->
                    atomic {                                                    /* fellow.pass8 */
                        s++;
#ifndef KEPT
                        rec[PLACE(p)] = INTENT(s, end - s);
#endif
                        x = 0
                    }
                fi
            :: atomic { s >= end -> end = 0; break }
            od
        od;
closed:
        rec[PLACE(p)] = 0;
        finished[p] = true
    } unless { !alive[p] && !(p == HEIR && alive[0]) && p != HEIR };
out: skip
}

active proctype killer() {
    atomic { if :: alive[0] = false; in[0] = 0 :: true fi }
}

/* It stands at each message in turn. */
active proctype subscriber() {
    byte s, r;
    bool waits, all;
    do
    :: s < LAST ->
        atomic { all = (finished[0] || !alive[0]) && finished[1] && finished[HEIR] };
        if
        :: atomic { stamp[SLOT(s)] >= DONE(s) -> s++ }
        :: atomic { stamp[SLOT(s)] < DONE(s) -> waits = false };
            if
            :: head > s ->                                                      /* fellow.look10 */
#ifdef STAMP_FIRST
                waits = (stamp[SLOT(s)] >= DONE(s));
#endif
                atomic { r = rec[0] };                                          /* fellow.look11 */
                if :: COVERS(r, s) -> waits = waits || HELD(0) :: else fi;      /* fellow.look12 */
                atomic { r = rec[1] };
                if :: COVERS(r, s) -> waits = waits || HELD(1) :: else fi;
                r = 0;
                if
#ifdef STAMP_FIRST
                :: atomic { !waits -> assert(!there[s]); lost[s] = true; s++ }
#else
                /* fellow.look13 */
                :: atomic { !waits && stamp[SLOT(s)] < DONE(s) -> assert(!there[s]); lost[s] = true; s++ }
                :: atomic { !waits && stamp[SLOT(s)] >= DONE(s) -> skip }
#endif
                :: atomic { waits -> assert(!all); waits = false }              /* NobodyWaits */
                fi
            :: head <= s -> skip
            fi
        fi
    :: else -> break
    od
}

init { atomic { alive[0] = true; alive[1] = true; run publisher(0); run publisher(1); run publisher(HEIR) } }
