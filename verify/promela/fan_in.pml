/* Many producers, one consumer: join, leave, the list, turns, sleep, close (queue/roster.rs, state.rs, write.rs, fan_in.rs, lane/one_to_one.rs).
 *
 * Two lanes, two producers, one consumer, and a thread that may close the queue at any moment. One producer sends two messages and leaves, the other one; or (AGAIN)
 * each sends one, one more comes for the first one's lane, with whatever lies in it, and nobody else closes. Lanes have room for all messages. Properties:
 *
 *   NothingHidden    a poll that finds nothing has received all messages whose sends had returned before it began
 *   FairTurns        between a send's return and the receive of a message of that lane there is at most one turn of the other lane
 *   AckedIsReceived  at the end, what was acknowledged was received, and what was not was not
 *   OneOwner         a lane that joins has no producer
 *   NoLostWake       nobody sleeps for ever (no invalid end state)
 *
 * Seeded bugs: DEACTIVATE_NO_SECOND_LOOK (no roster.quiet3), NO_THIRD_LOOK (no roster.quiet4), CALL_NOBODY, STARTS_ANEW (each search begins with the first lane), IN_PLACE_FOR_EVER (with the lane that had
 * its turn), CLOSE_UNSETTLED, SEAL_AT_THE_KNOWN, LEFT_EARLY, NO_FENCE (the producer looks at the three words before its tail is seen), NO_SECOND_LOOK (before sleeping), CLOSE_WAKES_NOBODY.
 */
#define LANES 2
/* Messages of each producer. */
#ifdef AGAIN
#define MESSAGES(i) 1
#else
#define MESSAGES(i) (2 - i)
#endif

byte tail[LANES];
byte head[LANES];
bool is_active[LANES];
bool bit_of[LANES];  /* whether the consumer looks there */
bool free[LANES];
byte end[LANES];     /* 0: open; else how many messages it will have had, and one */
bool closed;
bool registered;     /* somebody sleeps, or is about to */
bool asleep;
#ifdef AGAIN
byte producers = 3;
#else
byte producers = LANES;
#endif

/* For the properties. */
byte acked[LANES];
byte waited[LANES];  /* turns of the other lane while something that was acknowledged lies in this one */
bool owned[LANES];

inline activate(i) {
    if
    :: atomic { !is_active[i] -> is_active[i] = true };
        bit_of[i] = true
    :: else
    fi
}

inline notify() {
    atomic { if :: registered -> registered = false; asleep = false :: else fi }
}

inline close() {
    closed = true;
#ifndef CLOSE_WAKES_NOBODY
    notify()
#endif
}

/* A newcomer takes the lane of one that has left, or does not come. */
proctype producer(byte i; bool newcomer) {
    byte count;
    bool ends, was_active, sent;
    if
    :: newcomer -> if :: atomic { free[i] && !closed -> free[i] = false } :: goto gone fi
    :: else -> if :: closed -> goto gone :: else fi
    fi;
    d_step { assert(!owned[i]); owned[i] = true };              /* OneOwner */
    do
    :: count < MESSAGES(i) ->
        if :: closed -> break :: else fi;
#ifdef NO_FENCE
        was_active = is_active[i]; ends = closed;
        tail[i] = tail[i] + 1;
#else
        tail[i] = tail[i] + 1;                              /* lane.send3 */
        ends = closed;                                      /* lane.send4; that somebody sleeps is seen in `notify` */
        was_active = is_active[i];
#endif
        sent = true;
        if
        :: ends ->
            ends = false;
#ifndef CLOSE_UNSETTLED
            atomic {                                        /* lane.end2 */
                if :: end[i] == 0 -> end[i] = tail[i] + 1 :: else fi
            };
            sent = (end[i] > tail[i])
#endif
        :: else
        fi;
        if
        :: !was_active ->
#ifndef CALL_NOBODY
            activate(i)
#endif
        :: else
        fi;
        was_active = false;
        notify();
        if
        :: sent -> acked[i] = acked[i] + 1
        :: else -> tail[i] = tail[i] - 1; break
        fi;
        count++
    :: else -> break
    od;
    /* Leaves. */
#ifdef LEFT_EARLY
    free[i] = true; owned[i] = false;
#else
    owned[i] = false; free[i] = true;
#endif
gone:
    skip;
    atomic { producers--; if :: producers == 0 -> closed = true :: else fi };
#ifndef CLOSE_WAKES_NOBODY
    notify()
#endif
}

proctype closer() {
    close()
}

active proctype consumer() {
    byte i, t, looks, turn;
    byte before[LANES];
    bool settled, second;
    atomic {
        i = 0;
        do :: i < LANES -> run producer(i, false); i++ :: else -> break od;
#ifdef AGAIN
        run producer(0, true);
#endif
#ifndef AGAIN
        run closer()
#endif
    };
poll:
    skip;
    d_step { before[0] = acked[0]; before[1] = acked[1]; looks = 0; i = 0 };
    /* From the lane after the one that had its turn; that one last. */
    do
    :: looks < LANES ->
#ifdef STARTS_ANEW
        i = looks;
#elif defined(IN_PLACE_FOR_EVER)
        i = (turn + looks) % LANES;
#else
        i = (turn + 1 + looks) % LANES;
#endif
        if
        :: bit_of[i] || settled ->
            t = (settled -> end[i] - 1 : tail[i]);              /* lane.take5 */
            if
            :: head[i] < t ->
                d_step {
                    if :: acked[1 - i] > head[1 - i] -> waited[1 - i] = waited[1 - i] + 1 :: else fi;
                    waited[i] = 0; head[i] = head[i] + 1; turn = i; t = 0; i = 0; looks = 0; second = false;
                    assert(waited[0] <= 1 && waited[1] <= 1)    /* FairTurns */
                };
                goto poll
            :: else
            fi
        :: else
        fi;
        d_step { t = 0; looks++ }
    :: else -> break
    od;
    skip;
    d_step {
        assert(head[0] >= before[0] && head[1] >= before[1]);   /* NothingHidden */
        looks = 0; before[0] = 0; before[1] = 0; i = 0
    };

    /* Quiet lanes leave the list, or not. */
    do
    :: i < LANES && bit_of[i] && !settled ->
        if
        :: true ->
            is_active[i] = false;                                  /* roster.quiet1 */
            if                                                  /* roster.quiet3 */
#ifndef DEACTIVATE_NO_SECOND_LOOK
            :: tail[i] > head[i] -> is_active[i] = true
#endif
            :: else ->
                bit_of[i] = false;
#ifndef NO_THIRD_LOOK
                if :: is_active[i] -> bit_of[i] = true :: else fi  /* roster.quiet4 */
#endif
            fi
        :: true
        fi;
        i++
    :: i < LANES && !(bit_of[i] && !settled) -> i++
    :: else -> break
    od;
    i = 0;

    if
    :: settled -> goto done
    :: !settled && closed ->
        /* lane.end1, for every lane there ever was. */
        do
        :: i < LANES ->
#ifdef SEAL_AT_THE_KNOWN
            t = head[i];
#else
            t = tail[i];
#endif
            atomic { if :: end[i] == 0 -> end[i] = t + 1 :: else fi };
            d_step { t = 0; i++ }
        :: else -> break
        od;
        settled = true; second = false; i = 0;
        goto poll
    :: else
    fi;
    if
    :: !second ->
        registered = true;                                      /* event.sleep1 */
#ifndef NO_SECOND_LOOK
        second = true;
        goto poll                                               /* event.sleep3 */
#endif
    :: else
    fi;
    atomic { if :: registered -> asleep = true :: else fi };    /* event.sleep4 */
    !asleep;
    second = false;
    goto poll;
done:
    /* Everybody is gone. */
    producers == 0;
    assert(head[0] == acked[0] && head[1] == acked[1])          /* AckedIsReceived */
}
