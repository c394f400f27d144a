/* The many-to-many lane: one ring, in which senders claim slots and receivers claim messages (lane/many_to_many.rs, queue/ordered/state.rs).
 *
 * SENDERS with MESSAGES messages each, RECEIVERS receivers, SLOTS slots, of which READY are full at the beginning. A thread that finds nothing to do sleeps. A receiver may stop after any message, and keep its handle: so a wake-up that
 * somebody else needs is not made up for by one that would have looked anyway. The eventcounts are one step each (event.pml has their steps): a wake-up of `count` wakes so many of those that
 * sleep, any of them, or all where fewer do. GIVES_UP: a receiver that waits may also stop without a message, because its time is over. POLLS: each receiver
 * looks once, and stops. CLOSE: somebody closes the queue at any moment. DROPS: receivers
 * that stop are dropped, the last of which closes. BATCH: the first sender sends two messages at once, the first receiver takes two at once. Properties:
 *
 *   OneUser        a thread that writes a slot finds it empty, one that takes a message finds it, and nobody else's
 *   OneBound       never more messages than slots
 *   AckedIsReceived at the end, what was acknowledged was received; or dropped, where no receiver is left
 *   OneEnd         after a receiver says that everything was received, nothing is
 *   NoLostWake     where nothing goes on, no receiver sleeps while the next message is there, no sender while the next slot is free, and nobody once the queue is closed
 *
 * Seeded bugs: OVERWRITES (no stamped.send1), FULL_EARLY, LEFT_EARLY (the stamp before the message is moved), CLAIM_NOT_ATOMIC, COUNTS_EARLY (the senders' and receivers' fences: a thread that stands behind is counted before the
 * own stamp is seen), WAKES_ONE_ONLY, FORGETS_WHAT_IS_TAKEN (counts what is full, not what was), NO_SECOND_LOOK, SEND_WAKES_NOBODY, TAKE_WAKES_NOBODY, CLOSE_WAKES_NOBODY, CLOSE_UNSEEN (a sender that
 * finds the queue closed wakes one), KEEPS_WHAT_IS_LEFT (nobody drops what no receiver will take), NO_FENCE (a sender looks whether the queue is closed before its message is seen).
 */
#ifndef MESSAGES
#define MESSAGES 1
#endif
/* So many messages lie there at the beginning. */
#ifndef READY
#define READY 0
#endif
#ifndef RECEIVERS
#define RECEIVERS 2
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef SENDERS
#define SENDERS 2
#endif
#define OVER 64

#define AT(number) ((number) % SLOTS)
#define FREE(number) (2 * (number))
#define FULL(number) (2 * (number) + 1)

byte stamp[SLOTS];
bool there[SLOTS];              /* the message itself */
byte head, tail;
bool closed;                    /* the mark of `sent` */
byte receivers = RECEIVERS;

/* The eventcounts, `sent` (0) and `taken` (1): whether somebody is registered, how many wake-ups there were, which threads sleep. */
#define SENT 0
#define TAKEN 1
bool registered[2];
byte wakes[2];
bool asleep[SENDERS + RECEIVERS];

/* For the properties. */
byte acked, received;           /* how many */
bool declared;

#define SLEEPS(event, who) (asleep[who] && ((who) < SENDERS) == (event))

inline wake_all(event) {
    registered[event] = false;
    k = 0;
    do
    :: k < SENDERS + RECEIVERS -> if :: SLEEPS(event, k) -> asleep[k] = false :: else fi; k++
    :: else -> break
    od;
    k = 0
}

inline notify(event) {
    atomic { if :: registered[event] -> wakes[event]++; wake_all(event) :: else fi }
}

/* Any `count` of those that sleep. */
inline notify_some(event) {
    atomic {
        if
        :: registered[event] && count > 0 ->
            wakes[event]++;
            do
            :: count == 0 -> break
            :: count > 0 ->
                if
                :: SLEEPS(event, 0) -> asleep[0] = false; count--
                :: SLEEPS(event, 1) -> asleep[1] = false; count--
                :: SLEEPS(event, 2) -> asleep[2] = false; count--
#if SENDERS + RECEIVERS > 3
                :: SLEEPS(event, 3) -> asleep[3] = false; count--
#endif
#if SENDERS + RECEIVERS > 4
                :: SLEEPS(event, 4) -> asleep[4] = false; count--
#endif
                :: else -> wake_all(event); count = 0
                fi
            od
        :: else -> count = 0
        fi
    }
}

/* How many stand in a row from message `first` on, each a look of its own. */
inline count_written(first) {
    do
#ifdef FORGETS_WHAT_IS_TAKEN
    :: count < SLOTS && stamp[AT(first + count)] == FULL(first + count) -> count++
#else
    :: count < SLOTS && stamp[AT(first + count)] >= FULL(first + count) -> count++
#endif
    :: else -> break
    od
}

/* How many slots are free in a row, from that of message `first` on. */
inline count_left(first) {
    do
    :: count < SLOTS && stamp[AT(first + count)] >= FREE(first + count) -> count++
    :: else -> break
    od
}

/* stamped.take4 and stamped.take5: claims up to `most` messages, `got` of them from `n` on. */
inline claim(most) {
    n = head;
    do
    :: true ->
        do
        :: got < most && got < SLOTS && stamp[AT(n + got)] == FULL(n + got) -> got++
        :: else -> break
        od;
#ifdef CLAIM_NOT_ATOMIC
        if :: got > 0 -> head = n + got :: else fi;
        break
#else
        atomic {
            if
            :: head == n -> assert(!(declared && got > 0)); head = n + got; break       /* OneEnd */
            :: else -> n = head; got = 0
            fi
        }
#endif
    od
}

/* stamped.take6 of message `number`. */
inline take(number) {
#ifdef LEFT_EARLY
    stamp[AT(number)] = FREE((number) + SLOTS);
#endif
    atomic { assert(there[AT(number)]); there[AT(number)] = false; received++ };        /* OneUser */
#ifndef LEFT_EARLY
    stamp[AT(number)] = FREE((number) + SLOTS)
#endif
}

/* stamped.take6 of those that are claimed, and the look at the threads that wait for their slots. Ends with got and n at 0. */
inline take_claimed() {
    i = 0;
#ifdef COUNTS_EARLY
    count_left(n + SLOTS);
    if :: count == 0 -> count = 1 :: else fi;
#endif
    do
    :: i < got -> take(n + i); i++
    :: else -> break
    od;
#ifndef TAKE_WAKES_NOBODY
    if
    :: registered[TAKEN] ->
#ifndef COUNTS_EARLY
        count_left(n + SLOTS);
#endif
#ifdef WAKES_ONE_ONLY
        atomic { if :: count > 1 -> count = 1 :: else fi };
#endif
        notify_some(TAKEN)
    :: else -> count = 0
    fi;
#endif
    atomic { count = 0; got = 0; n = 0; i = 0 }
}

/* What nobody receives is dropped. */
inline discard() {
#ifndef KEEPS_WHAT_IS_LEFT
    do
    :: true ->
        claim(1);
        if :: got > 0 -> take_claimed() :: else -> break fi
    od;
#endif
    n = 0
}

inline close() {
    closed = true;                                                          /* the mark */
    atomic { if :: tail < OVER -> tail = tail + OVER :: else fi };          /* ordered.close2 */
#ifndef CLOSE_WAKES_NOBODY
    notify(SENT);
    notify(TAKEN);
#endif
}

proctype sender(byte me) {
    byte sent, n, got, count, ticket, k, i, first, most;
    bool second, ends;
next:
    atomic {
        second = false; ticket = 0; most = 1;
#ifdef BATCH
        if :: me == 0 && sent + 2 <= MESSAGES -> most = 2 :: else fi;
#endif
        if :: sent == MESSAGES -> goto over :: else fi
    };
again:
    /* stamped.send1 and ordered.tail1 */
    first = tail;
    do
    :: true ->
#ifdef OVERWRITES
        if :: first < OVER -> got = most :: else fi;
#else
        do
        :: got < most && got < SLOTS && stamp[AT(first + got)] == FREE(first + got) -> got++
        :: else -> break
        od;
#endif
#ifdef CLAIM_NOT_ATOMIC
        if :: got > 0 -> tail = first + got :: else fi;
        break
#else
        atomic { if :: tail == first -> tail = first + got; break :: else -> first = tail; got = 0 fi }
#endif
    od;
    if
    :: got == 0 ->
        if :: first >= OVER -> goto over :: else fi;
        if
        :: !second ->
            atomic { registered[TAKEN] = true; ticket = wakes[TAKEN]; first = 0 };      /* event.sleep1 */
#ifndef NO_SECOND_LOOK
            second = true;
            goto again                                                                  /* event.sleep3 */
#endif
        :: else
        fi;
        atomic { first = 0; if :: registered[TAKEN] && wakes[TAKEN] == ticket -> asleep[me] = true :: else fi };  /* event.sleep4 */
end_asleep:
        atomic { !asleep[me]; second = false; ticket = 0 };
        goto again
    :: else
    fi;
    assert(first + got <= head + SLOTS);                                     /* OneBound; the head only grows */
#ifdef COUNTS_EARLY
    count_written(first);
    if :: count < got -> count = got :: else fi;
#endif
#ifdef NO_FENCE
    ends = closed;
#endif
    i = 0;
    do
    :: i < got ->
#ifdef FULL_EARLY
        stamp[AT(first + i)] = FULL(first + i);
#endif
        atomic { assert(!there[AT(first + i)]); there[AT(first + i)] = true };          /* stamped.send2, OneUser */
#ifndef FULL_EARLY
        stamp[AT(first + i)] = FULL(first + i);                             /* stamped.send3 */
#endif
        i++
    :: else -> break
    od;
    atomic { sent = sent + got; acked = acked + got; got = 0; i = 0; second = false; ticket = 0 };
#ifndef NO_FENCE
    ends = closed;
#endif
    if
#ifndef CLOSE_UNSEEN
    :: ends ->
        notify(SENT);
        if :: receivers == 0 -> n = 0; discard() :: else fi
#endif
#ifndef SEND_WAKES_NOBODY
    :: else ->
        if
        :: registered[SENT] ->
#ifndef COUNTS_EARLY
            count_written(first);
#endif
#ifdef WAKES_ONE_ONLY
            atomic { if :: count > 1 -> count = 1 :: else fi };
#endif
            notify_some(SENT)
        :: else
        fi
#else
    :: else
#endif
    fi;
    atomic { first = 0; count = 0; ends = false };
    goto next;
over:
    skip
}

proctype receiver(byte me) {
    byte n, got, count, ticket, k, i, most;
    bool second, ends;
next:
    atomic {
        second = false; ticket = 0; most = 1;
#ifdef BATCH
        if :: me == SENDERS -> most = 2 :: else fi;
#endif
#ifndef POLLS
        if :: true :: true -> goto stop fi
#endif
    };
again:
    /* stamped.take4 to stamped.take6 */
    claim(most);
#ifdef POLLS
    if :: got > 0 -> take_claimed() :: else -> n = 0 fi;
    goto stop;
#endif
    if :: got > 0 -> take_claimed(); goto next :: else -> n = 0 fi;
    if
    :: closed ->
        /* The lane is ended, and all that was claimed by senders is claimed. */
        n = tail;
        if
        :: n >= OVER && head == n - OVER -> declared = true; goto done
        :: else -> n = 0
        fi
    :: else
    fi;
    if
    :: !second ->
        atomic { registered[SENT] = true; ticket = wakes[SENT] };           /* event.sleep1 */
#ifndef NO_SECOND_LOOK
        second = true;
        goto again                                                          /* event.sleep3 */
#endif
    :: else
    fi;
    atomic { if :: registered[SENT] && wakes[SENT] == ticket -> asleep[me] = true :: else fi };     /* event.sleep4 */
end_asleep:
    atomic { !asleep[me]; second = false; ticket = 0 };
#ifdef GIVES_UP
    /* A last look, and its time is over. */
    if
    :: true
    :: true ->
        claim(most);
        if :: got > 0 -> take_claimed(); goto next :: else -> n = 0; goto stop fi
    fi;
#endif
    goto again;
done:
    n = 0;
stop:
#ifdef DROPS
    atomic { receivers--; ends = (receivers == 0) };
    if :: ends -> close(); discard() :: else fi;
#endif
    skip
}

#ifdef CLOSE
proctype closer() {
    byte k;
    close()
}
#endif

init {
    byte i;
    atomic {
        do
        :: i < READY -> stamp[i] = FULL(i); there[i] = true; i++
        :: i >= READY && i < SLOTS -> stamp[i] = FREE(i); i++
        :: else -> break
        od;
        i = 0; tail = READY; acked = READY;
        run sender(0);
#if SENDERS > 1
        run sender(1);
#endif
        do :: i < RECEIVERS -> run receiver(SENDERS + i); i++ :: else -> break od;
        i = 0;
#ifdef CLOSE
        run closer()
#endif
    };
    /* Nothing goes on any more. */
    timeout;
    atomic {
        do
        :: i < SENDERS -> assert(!(asleep[i] && (closed || stamp[AT(tail)] == FREE(tail)))); i++        /* NoLostWake */
        :: i >= SENDERS && i < SENDERS + RECEIVERS -> assert(!(asleep[i] && (closed || stamp[AT(head)] == FULL(head)))); i++
        :: else -> break
        od;
        assert(!declared || acked == received);                                                         /* AckedIsReceived */
        assert(receivers > 0 || acked == received)
    }
}
