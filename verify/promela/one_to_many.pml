/* One-to-many lanes: claims by many consumers, stealing, lanes taken over, and the end for all (lane/stamped.rs, queue/write_many.rs, queue/read_many.rs).
 *
 * Two consumers, of which the first claims two messages at once where two are there, and a thread that may close the queue at any moment. One lane of two
 * slots, whose producer sends three messages, two of them at once where there is room. Nobody sleeps in there; SLEEP has two messages, and consumers
 * that sleep; FULL_LANE one slot, two messages, and a producer that sleeps; LANES=2 two lanes of one slot and two producers with a message each, where the second
 * takes the lane of the first over, or adds one, and nobody else closes; LANES=2,JOINS only that second one, and a close; LANES=2,THIN with a list of lanes, from which
 * consumers take quiet ones (queue/roster.rs); LANES=2,FAIR another message of the first producer, and nobody leaves. Properties:
 *
 *   OneUser        a thread that writes a slot finds it empty, one that takes a message finds it, and nobody else's
 *   AckedIsReceived at the end, what was acknowledged was received, and what was not was not
 *   NothingMissed  a poll that finds nothing: what was acknowledged before it began was claimed before it ended
 *   OneEnd         after a consumer says that everything was received, nothing is
 *   FairTurns      (FAIR) a consumer has at most one turn of the other lane while something that was acknowledged lies in this one, and nobody takes it
 *   BoundedLanes   there are only as many lanes as there were producers at one time
 *   OneOwner       a lane that is taken over has no producer, and goes on where the last one stopped
 *   NoLostWake     no thread sleeps for ever that has something to do (where nothing goes on, nobody closes, and all was sent and received)
 *
 * Seeded bugs: OVERWRITES (no stamped.send1), FULL_EARLY, TAKEN_EARLY (the stamp before the message), CLAIM_NOT_ATOMIC, OLD_HEAD (no second look at the head), CLOSE_UNSETTLED,
 * CLOSED_UNSEALED, SEALS_BLINDLY (divide.end2 without stamped.take4), NO_FENCE (the producer looks at `closed` before its message is seen), JOIN_UNFENCED (before its lane is seen),
 * GIVES_UP_EARLY, ADDS_BLINDLY (a lane for each producer that joins), STARTS_ANEW (each search begins with the first lane), STEALS_WITHOUT_END, POLLS_BESIDE_THINNING, NO_THIRD_LOOK (no roster.quiet4), NO_SECOND_LOOK, SEND_WAKES_NOBODY, TAKE_WAKES_NOBODY, CLOSE_WAKES_NOBODY. That divide.settle1 writes the head is for the order only: litmus `one_to_many_left`.
 */
#ifndef LANES
#define LANES 1
#endif
#if LANES == 2
#define SLOTS 1
#ifdef FAIR
#define MESSAGES (2 - newcomer)
#else
#define MESSAGES 1
#endif
#elif defined(SLEEP)
#define SLOTS 2
#define MESSAGES 2
#elif defined(FULL_LANE)
#define SLOTS 1
#define MESSAGES 2
#else
#define SLOTS 2
#define MESSAGES 3
#endif
/* How many messages a consumer claims at once. */
#ifdef SLEEP
#define MOST(me) 1
#else
#define MOST(me) (2 - me)
#endif
#define OVER 64

#define AT(lane, number) ((lane) * SLOTS + (number) % SLOTS)
#define FREE(number) (2 * (number))
#define FULL(number) (2 * (number) + 1)

/* Where nobody sleeps, a thread that waits for something just waits for it. */
#define HAS(lane) (stamp[AT(lane, head[lane])] == FULL(head[lane]))
#define SOMETHING (HAS(0) || HAS(LANES - 1))

byte stamp[LANES * SLOTS];
byte value[LANES * SLOTS];      /* the message's number and one; 0: moved out */
byte head[LANES];
byte left_at[LANES];
bool free[LANES];
bool there[LANES];
bool closed;
byte producers;

/* The list: whether the producer may go by it that consumers look, whether they do, and a number that is odd while one takes lanes off. */
bool is_active[LANES];
bool bit_of[LANES];
byte thinning;
#ifdef THIN
#define ON_LIST(lane) (all || bit_of[lane])
#else
#define ON_LIST(lane) true
#endif

/* The eventcount `sent`: whether somebody is registered, how many wake-ups there were, which threads sleep. `taken` has one sleeper. */
bool registered;
byte wakes;
bool asleep[2];
bool waits;
bool waits_asleep;

/* For the properties. */
byte acked[LANES];              /* a bit for each message */
byte received[LANES];
byte acked_until[LANES];
byte sent_until[LANES];
bool owned[LANES];
bool declared;
#if LANES == 2 && !defined(JOINS) && !defined(THIN)
byte present = 1;               /* producers that have begun to join, and not left */
byte most = 1;                  /* the most at one time */
#endif
#ifdef FAIR
byte waited[2 * LANES];         /* of each consumer and lane: turns of the other lane meanwhile */
#endif
bool stays;                     /* the producer does not leave, and nobody closes */

#if LANES == 2 && !defined(JOINS) && !defined(THIN)
inline comes() { present++; if :: present > most -> most = present :: else fi }
inline assert_bounded() { assert(most >= LANES) }                           /* BoundedLanes */
inline goes() { present-- }
#else
inline comes() { skip }
inline assert_bounded() { skip }
inline goes() { skip }
#endif
#ifdef ADDS_BLINDLY
#define NONE_FREE true
#else
#define NONE_FREE !free[0]
#endif

inline notify_sent() {
    atomic { if :: registered -> registered = false; wakes++; asleep[0] = false; asleep[1] = false :: else fi }
}

inline notify_taken() {
    atomic { if :: waits -> waits = false; waits_asleep = false :: else fi }
}

inline close() {
    closed = true;
#ifndef CLOSE_WAKES_NOBODY
#ifdef SLEEP
    notify_sent()
#endif
#ifdef FULL_LANE
    notify_taken()
#endif
#endif
}

/* stamped.send2 and stamped.send3 of message next + count. */
inline send() {
#ifdef FULL_EARLY
    stamp[AT(lane, next + count)] = FULL(next + count);
#endif
    assert(value[AT(lane, next + count)] == 0);                             /* OneUser */
    value[AT(lane, next + count)] = next + count + 1;                       /* stamped.send2 */
#ifndef FULL_EARLY
    stamp[AT(lane, next + count)] = FULL(next + count);                     /* stamped.send3 */
#endif
    count++
}

/* stamped.take6 */
inline take(number) {
#ifdef TAKEN_EARLY
    stamp[AT(lane, number)] = FREE(number + SLOTS);
#endif
    atomic {
        assert(value[AT(lane, number)] == (number) + 1);                    /* OneUser */
        value[AT(lane, number)] = 0
    };
#ifndef TAKEN_EARLY
    stamp[AT(lane, number)] = FREE(number + SLOTS);
#endif
#if defined(FULL_LANE) && !defined(TAKE_WAKES_NOBODY)
    notify_taken()
#endif
}

/* divide.settle1, of messages next to before next + count: those from `until` on are claimed by their producer. */
inline settle() {
    h = head[lane];
    do
    :: h >= OVER -> until = (h - OVER > next -> h - OVER : next); break
    :: h < OVER && h >= next + count -> until = next + count; break
    :: else ->
        atomic {
            if
            :: head[lane] == h ->
                if
                :: h < next -> until = next + count
                :: else -> until = h; head[lane] = next + count
                fi;
                break
            :: else -> h = head[lane]
            fi
        }
    od
}

proctype producer(bool newcomer) {
    byte lane, next, count, until, h, sent;
    bool ends, refused;
    if
    :: newcomer ->
#ifdef JOIN_UNFENCED
        refused = closed;
#endif
        if
        :: atomic { free[0] -> free[0] = false; comes() };                  /* take_over */
            next = left_at[0];
            assert(!owned[0] && next == sent_until[0])                      /* OneOwner */
        :: atomic { NONE_FREE -> comes(); lane = LANES - 1; there[LANES - 1] = true;    /* join */
            assert_bounded() }
        fi
    :: else
    fi;
    owned[lane] = true;
#ifndef JOIN_UNFENCED
    refused = closed;
#endif
    do
    :: sent == MESSAGES || refused -> break
    :: else ->
#ifndef OVERWRITES
        if
        :: stamp[AT(lane, next)] != FREE(next) ->                           /* stamped.send1 */
#ifdef FULL_LANE
            waits = true;                                                   /* event.sleep1 */
            if :: closed -> break :: else fi;
            if
#ifndef NO_SECOND_LOOK
            :: stamp[AT(lane, next)] == FREE(next)                          /* event.sleep3 */
#endif
            :: else ->
                atomic { if :: waits -> waits_asleep = true :: else fi };   /* event.sleep4 */
                !waits_asleep
            fi;
#else
            (closed || stamp[AT(lane, next)] == FREE(next));
#endif
            refused = closed;
            goto again
        :: else
        fi;
#endif
#ifdef NO_FENCE
        ends = closed;
#endif
        send();
#if SLOTS > 1 && !defined(SLEEP)
        if :: sent == 0 && stamp[AT(lane, next + 1)] == FREE(next + 1) -> send() :: else fi;
#endif
#ifndef NO_FENCE
        ends = closed;
#endif
#ifdef THIN
        if
        :: atomic { !is_active[lane] -> is_active[lane] = true }; bit_of[lane] = true
        :: else
        fi;
#endif
        until = next + count;
#ifndef CLOSE_UNSETTLED
        if :: ends -> settle() :: else fi;
#endif
#if defined(SLEEP) && !defined(SEND_WAKES_NOBODY)
        notify_sent();
#endif
        atomic {
            h = next;
            do :: h < until -> acked[lane] = acked[lane] | (1 << h); h++ :: else -> break od;
            if :: until > next -> acked_until[lane] = until :: else fi;
            refused = (until < next + count);
            sent = sent + count;
            next = next + count; count = 0; h = 0;
            sent_until[lane] = next
        };
        do :: until < next -> take(until); until++ :: else -> break od;
        until = 0; ends = false;
        if :: !refused -> refused = closed :: else fi;
again:
        skip
    od;
    owned[lane] = false;
    if :: stays -> goto gone :: else fi;
#ifdef GIVES_UP_EARLY
    free[lane] = true;
    left_at[lane] = next;
#else
    left_at[lane] = next;
    atomic { free[lane] = true; goes() };
#endif
    atomic { producers--; ends = (producers == 0) };
    if :: ends -> close() :: else fi;
gone:
    skip
}

proctype closer() {
    close()
}

/* stamped.take4 and stamped.take5: claims up to `most` messages of `lane`, `count` of them from `h` on. */
inline claim(most) {
    h = head[lane];
    do
    :: true ->
        do
        :: count < most && count < SLOTS && stamp[AT(lane, h + count)] == FULL(h + count) -> count++
        :: else -> break
        od;
        if
        :: count == 0 ->
#ifdef OLD_HEAD
            break
#else
            atomic { if :: head[lane] == h -> break :: else -> h = head[lane] fi }
#endif
        :: else ->
#ifdef CLAIM_NOT_ATOMIC
            head[lane] = h + count;
            break
#else
            atomic {
                if
                :: head[lane] == h ->
#ifdef FAIR
                    waited[lane] = 0; waited[LANES + lane] = 0;
                    if
                    :: acked_until[1 - lane] > head[1 - lane] ->
                        waited[LANES * me + 1 - lane] = waited[LANES * me + 1 - lane] + 1;
                        assert(waited[LANES * me + 1 - lane] <= 1)          /* FairTurns */
                    :: else
                    fi;
#endif
                    head[lane] = h + count; assert(!declared); break        /* stamped.take5, OneEnd */
                :: else -> h = head[lane]; count = 0
                fi
            }
#endif
        fi
    od
}

proctype consumer(byte me) {
    byte lane, looks, count, h, ticket;
    byte before[LANES];
    bool settled, second, ended, all;
    byte begun;
#ifdef FAIR
    byte turn = me;             /* the lane that it looks at first */
#endif
poll:
    skip;
#ifdef THIN
    atomic { begun = thinning; all = settled || (begun % 2 == 1) };
#endif
#if !defined(SLEEP) && !defined(FAIR)
    /* One of them checks this: two would make it too large. */
    atomic { if :: me == 1 -> before[0] = acked_until[0]; before[LANES - 1] = acked_until[LANES - 1] :: else fi };
#endif
    /* The local lane, then the others. */
    do
    :: looks < LANES ->
#if defined(FAIR) && defined(STARTS_ANEW)
        lane = looks;
#elif defined(FAIR)
        lane = (turn + looks) % LANES;
#else
        lane = (me + looks) % LANES;
#endif
        if
        :: there[lane] && ON_LIST(lane) ->
            claim(MOST(me));
            if
            :: count > 0 ->
                do
                :: atomic { count > 0 ->
                    assert(!(received[lane] & (1 << h)));
                    received[lane] = received[lane] | (1 << h) };
                    take(h);
                    atomic { h++; count-- }
                :: else -> break
                od;
                atomic {
#ifdef STEALS_WITHOUT_END
                    turn = lane;
#elif defined(FAIR)
                    turn = (lane + 1) % LANES;
#endif
                    h = 0; looks = 0; lane = 0; second = false
                };
                goto poll
            :: else
            fi
        :: else
        fi;
        atomic { h = 0; looks++ }
#ifdef THIN
    :: looks == LANES && !all && thinning != begun ->
#ifdef POLLS_BESIDE_THINNING
        break
#else
        atomic { looks = 0; all = true }
#endif
#endif
    :: else -> break
    od;
    atomic {
        all = false; begun = 0;
        assert(head[0] >= before[0] && head[LANES - 1] >= before[LANES - 1]);           /* NothingMissed */
#ifdef FAIR
        /* It has looked at the lane that had its turn, too, and begins with it. */
        turn = (turn + LANES - 1) % LANES;
#endif
        looks = 0; lane = 0; before[0] = 0; before[LANES - 1] = 0
    };
#ifdef THIN
    if
    :: atomic { me == 0 && !settled && thinning == 0 -> thinning++ };
        do
        :: looks < LANES && bit_of[looks] ->
            is_active[looks] = false;                                          /* roster.quiet1 */
            if
            :: HAS(looks) -> is_active[looks] = true                           /* roster.quiet3 */
            :: else ->
                bit_of[looks] = false;
#ifndef NO_THIRD_LOOK
                if :: is_active[looks] -> bit_of[looks] = true :: else fi      /* roster.quiet4 */
#endif
            fi;
            looks++
        :: looks < LANES && !bit_of[looks] -> looks++
        :: else -> break
        od;
        atomic { looks = 0; thinning++ }
    :: true
    fi;
#endif
    if
    :: closed && !settled ->
        settled = true; second = false;
        if :: goto poll :: true fi              /* is_fully_drained goes on at once */
    :: else
    fi;
    if
    :: settled ->
        /* divide.end2, in each of them. */
        ended = true;
        do
        :: looks < LANES && ended ->
            if
            :: there[looks] ->
                h = head[looks];
                if
                :: h >= OVER
                :: else ->
                    if
#ifndef SEALS_BLINDLY
                    :: stamp[AT(looks, h)] == FULL(h) -> ended = false
#endif
                    :: else ->
#ifndef CLOSED_UNSEALED
                        atomic { if :: head[looks] == h -> head[looks] = h + OVER :: else -> ended = false fi }
#endif
                    fi
                fi;
                h = 0
            :: else
            fi;
            looks++
        :: else -> break
        od;
        looks = 0;
        if :: ended -> ended = false; declared = true; goto done :: else -> goto poll fi
    :: else
    fi;
#ifdef SLEEP
    if
    :: !second ->
        atomic { registered = true; ticket = wakes };                       /* event.sleep1 */
#ifndef NO_SECOND_LOOK
        second = true;
        goto poll                                                           /* event.sleep3 */
#endif
    :: else
    fi;
    atomic { if :: registered && wakes == ticket -> asleep[me] = true :: else fi };     /* event.sleep4 */
end_asleep:
    !asleep[me];
    second = false; ticket = 0;
#else
end_waiting:
    (closed || SOMETHING);
#endif
    goto poll;
done:
    skip
}

init {
    byte i;
    atomic {
        there[0] = true; is_active[0] = true; bit_of[0] = true;
        do :: i < LANES * SLOTS -> stamp[i] = FREE(i % SLOTS); i++ :: else -> break od;
        i = 0;
#ifndef JOINS
        producers++; run producer(false);
#endif
#if LANES == 2
        producers++; run producer(true);
#endif
#if LANES == 1
        if :: stays = true :: run closer() fi;
#endif
#ifdef FAIR
        stays = true;
#endif
#ifdef JOINS
        run closer();
#endif
        run consumer(0);
        run consumer(1)
    };
    /* Nothing goes on any more: everybody is gone, or nobody closes and all is done. */
    if
    :: _nr_pr == 1
    :: timeout -> assert(stays && !owned[0])                                /* NoLostWake */
    fi;
    assert(received[0] == acked[0] && received[LANES - 1] == acked[LANES - 1])          /* AckedIsReceived */
}
