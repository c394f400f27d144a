/* Many producers, one consumer: join, leave, the consumer's list, sleep, close (queue/hub.rs, write.rs, fan_in.rs, ring/lane.rs).
 *
 * Two lanes, two producers, one consumer, and somebody who may close the queue at any moment. One producer sends two messages and leaves, the other one; or (AGAIN)
 * each sends one, one more comes for the first one's lane, and nobody else closes. Lanes have room for all messages. Properties:
 *
 *   NothingHidden    a poll that finds nothing has received all messages whose sends had returned before it began
 *   AckedIsReceived  at the end, what was acknowledged was received, and what was not was not
 *   OneOwner         a lane that joins has no producer, and is empty
 *   OnceOnTheStack   who calls is not on the stack of those that call
 *   NoLostWake       nobody sleeps for ever (no invalid end state)
 *
 * Twins: UNLIST_NO_SECOND_LOOK, CALL_NOBODY, CLOSE_UNSETTLED, SEAL_AT_THE_KNOWN, LEFT_NO_SECOND_LOOK, LEFT_EARLY, CALL_HIDES_THE_LANE, UNLIST_BESIDE_A_CALL, NO_FENCE (the producer looks at the three words
 * before its tail is seen), NO_SECOND_LOOK (before sleeping), CLOSE_WAKES_NOBODY.
 */
#define LANES 2
/* Messages of each producer. */
#ifdef AGAIN
#define MESSAGES(i) 1
#else
#define MESSAGES(i) (2 - i)
#endif

/* Not where a call of it is yet to come. */
#ifdef UNLIST_BESIDE_A_CALL
#define IS_IDLE(i) true
#else
#define IS_IDLE(i) (!calls[i])
#endif

byte tail[LANES];
byte head[LANES];
bool listed[LANES];
bool calling[LANES];
bool leaving[LANES];
bool left[LANES];
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
bool owned[LANES];
bool over;

/* One is first to list the lane, and pushes it on the stack after that. */
inline call(i) {
    if
    :: atomic { !listed[i] -> listed[i] = true };
        atomic { assert(!calling[i]); calling[i] = true }       /* OnceOnTheStack */
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
    bool ends, called, sent;
    if
    :: newcomer -> if :: atomic { free[i] && !closed -> free[i] = false } :: goto gone fi
    :: else -> if :: closed -> goto gone :: else fi
    fi;
    /* Joins: take_over. */
    d_step {
        assert(!owned[i] && head[i] == tail[i]);            /* OneOwner */
        owned[i] = true; left[i] = false; leaving[i] = false; listed[i] = false; count = 0
    };
    call(i);
    do
    :: count < MESSAGES(i) ->
        if :: closed -> break :: else fi;
#ifdef NO_FENCE
        called = listed[i]; ends = closed;
        tail[i] = tail[i] + 1;
#else
        tail[i] = tail[i] + 1;                              /* L3 */
        ends = closed;                                      /* L4; that somebody sleeps is seen in `notify` */
        called = listed[i];
#endif
        sent = true;
        if
        :: ends ->
            ends = false;
#ifndef CLOSE_UNSETTLED
            atomic {                                        /* E2 */
                if :: end[i] == 0 -> end[i] = tail[i] + 1 :: else fi
            };
            sent = (end[i] > tail[i])
#endif
        :: else
        fi;
        if
        :: !called ->
#ifndef CALL_NOBODY
            call(i)
#endif
        :: else
        fi;
        called = false;
        notify();
        if
        :: sent -> acked[i] = acked[i] + 1
        :: else -> tail[i] = tail[i] - 1; break
        fi;
        count++
    :: else -> break
    od;
    leaving[i] = true;                                          /* leaves */
#ifdef LEFT_EARLY
    d_step { owned[i] = false; left[i] = true };
#endif
    call(i);
#ifndef LEFT_EARLY
    d_step { owned[i] = false; left[i] = true };
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
    byte i, t;
    byte before[LANES];
    bool on_list[LANES];
    bool calls[LANES];           /* on the list, with a call that is yet to come */
    bool settled, second, found;
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
    d_step { found = false; i = 0; before[0] = acked[0]; before[1] = acked[1] };
callers:
    skip;
    /* The callers. */
    if
    :: !settled ->
        atomic {
            i = 0;
            do
            :: i < LANES ->
                if
                :: calling[i] -> calling[i] = false; calls[i] = false; on_list[i] = true
                :: else
                fi;
                i++
            :: else -> break
            od;
            i = 0
        }
    :: else -> i = 0
    fi;
    do
    :: i < LANES && on_list[i] ->
        t = (settled -> end[i] - 1 : tail[i]);                  /* L5 */
        if
        :: head[i] < t -> d_step { head[i] = head[i] + 1; found = true; t = 0 }; break
        :: else ->
            if
            :: left[i] && !settled && !calls[i] ->
#ifndef LEFT_NO_SECOND_LOOK
                t = tail[i];
#endif
                if
                :: head[i] == t -> on_list[i] = false; free[i] = true   /* give_up */
                :: else
                fi
            :: else
            fi;
            d_step { t = 0; i++ }
        fi
    :: i < LANES && !on_list[i] -> i++
    :: else -> break
    od;
    i = 0;
    if :: found -> second = false; goto poll :: else fi;
    if :: !settled && (calling[0] || calling[1]) -> goto callers :: else fi;

    /* A quiet lane leaves the list, or not. */
    i = 0;
    do
    :: i < LANES && on_list[i] && !settled && IS_IDLE(i) ->
        if
        :: true ->
            listed[i] = false;                                  /* M1 */
#ifdef UNLIST_NO_SECOND_LOOK
            on_list[i] = false
#else
            if                                                  /* M3 */
            :: tail[i] > head[i] || leaving[i] ->
                found = true;
#ifdef CALL_HIDES_THE_LANE
                atomic { if :: listed[i] -> on_list[i] = false :: else -> listed[i] = true fi }
#else
                atomic { if :: listed[i] -> calls[i] = true :: else -> listed[i] = true fi }
#endif
            :: else -> on_list[i] = false
            fi
#endif
        :: true
        fi;
        i++
    :: i < LANES && (!on_list[i] || settled || !IS_IDLE(i)) -> i++
    :: else -> break
    od;
    i = 0;
    if :: found -> goto poll :: else fi;

    assert(head[0] >= before[0] && head[1] >= before[1]);       /* NothingHidden */
    if
    :: settled -> goto done
    :: !settled && closed ->
        /* E1, for every lane there ever was. */
        do
        :: i < LANES ->
#ifdef SEAL_AT_THE_KNOWN
            t = head[i];
#else
            t = tail[i];
#endif
            atomic { if :: end[i] == 0 -> end[i] = t + 1 :: else fi };
            d_step { on_list[i] = true; t = 0; i++ }
        :: else -> break
        od;
        settled = true; second = false;
        goto poll
    :: else
    fi;
    if
    :: !second ->
        registered = true;                                      /* S1 */
#ifndef NO_SECOND_LOOK
        second = true;
        goto poll                                               /* S3 */
#endif
    :: else
    fi;
    atomic { if :: registered -> asleep = true :: else fi };    /* S4 */
    !asleep;
    second = false;
    goto poll;
done:
    /* Everybody is gone. */
    producers == 0;
    assert(head[0] == acked[0] && head[1] == acked[1])          /* AckedIsReceived */
}
