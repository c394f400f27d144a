/* A queue between processes: deaths, and the next consumer (lane/one_to_one.rs, lane/across.rs, shm/queue.rs).
 *
 * A producer sends three messages through two slots. The first consumer takes the seat, and when it is gone, the second one does. The
 * producer and the first consumer may be killed between any two steps, which frees their locks and nothing else. Either consumer may close
 * the queue. NEXT: a producer whose consumer has died waits for the next one; otherwise it closes the queue.
 *
 *   Whole            a message that is received is the one of its number
 *   OneReader        no two consumers read
 *   NothingLost      each message before the head was read; when a consumer has found the end, that is all that was acknowledged
 *   NothingRefused   and nothing that was given back
 *   EveryoneEnds     nobody waits for ever (spin: no invalid end state)
 *
 * Nobody sleeps: a nap ends by itself. Spin is sequentially consistent: this checks interleavings, not orderings; those are loom's.
 *
 * Seeded bugs: HEAD_FIRST (the slot is given back before it is read), TWO_READERS (shm_two_consumers), DEATH_UNSEEN (gone_never_asked),
 * SEAL_AT_THE_KNOWN (seal_at_the_known), CLOSE_UNSETTLED (close_unsettled), BEGINS_ANEW (the next consumer begins at the tail), END_UNSEEN
 * (across_end_unseen).
 */
#define SLOTS 2
#define MESSAGES 3
#define CLOSED 1
#define DIED 2

byte slot[SLOTS];
byte tail, head, end, closed;
/* Locks, and whether a consumer was ever there. */
bool producer_lives = true, seat, had_consumer;
bool kill_producer, kill_consumer;

/* Of the properties. */
byte acknowledged, readers;
bool refused, was_read[MESSAGES];

inline close_as(reason) {
    d_step { if :: closed == 0 -> closed = reason :: else fi }
}

active proctype killer() {
    if :: kill_producer = true :: skip fi;
    if :: kill_consumer = true :: skip fi
}

active proctype producer() {
    byte sent;
    {
        do
        :: sent < MESSAGES ->
            do                                                  /* lane.send1 */
            :: closed != 0 -> goto done
            :: closed == 0 && tail - head < SLOTS -> break
#ifndef NEXT
            :: closed == 0 && tail - head == SLOTS && had_consumer && !seat -> close_as(DIED)
#endif
            od;
            slot[tail % SLOTS] = sent + 1;                      /* lane.send2 */
            tail = tail + 1;                                    /* lane.send3 */
            if                                                  /* lane.send4 */
            :: closed == 0 -> skip
            :: else ->
#ifndef CLOSE_UNSETTLED
                d_step { if :: end == 0 -> end = tail + 1 :: else fi };  /* lane.end2 */
                if
                :: end - 1 < tail -> refused = true; tail = tail - 1; goto done
                :: else
                fi
#else
                skip
#endif
            fi;
            d_step { sent++; acknowledged++ }
        :: else -> break
        od;
    done:
        close_as(CLOSED)
    } unless { kill_producer };
    d_step { producer_lives = false; sent = 0 }
}

proctype consumer(bool may_be_killed) {
    byte next, limit;
    bool sealed, reads, closes;
    {
        atomic {
#ifndef TWO_READERS
            !seat ->
#endif
            seat = true; had_consumer = true; reads = true; readers++;
            assert(readers == 1)                                /* OneReader */
        };
#ifdef BEGINS_ANEW
        next = tail;
#else
        next = head;
#endif
#ifndef END_UNSEEN
        if :: end != 0 -> d_step { limit = end - 1; sealed = true } :: else fi;  /* lane.end3 */
#endif
        if :: closes = true :: skip fi;
        do
        :: true ->
            if :: !sealed -> limit = tail :: else fi;           /* lane.take5 */
            if
            :: next < limit ->
#ifdef HEAD_FIRST
                head = next + 1;
#endif
                d_step { assert(slot[next % SLOTS] == next + 1); was_read[next] = true };  /* lane.take6, Whole */
#ifndef HEAD_FIRST
                head = next + 1;                                /* lane.take7 */
#endif
                next++
            :: next >= limit && sealed -> break
            :: next >= limit && !sealed ->
                if
                :: closed != 0 ->                               /* lane.end1 */
#ifndef SEAL_AT_THE_KNOWN
                    limit = tail;
#endif
                    d_step { if :: end == 0 -> end = limit + 1 :: else fi; limit = end - 1; sealed = true }
#ifndef DEATH_UNSEEN
                :: closed == 0 && !producer_lives -> close_as(DIED)
#endif
                :: closed == 0 && tail > next -> skip           /* something has come: look again */
                :: closed == 0 && closes -> close_as(CLOSED)
                fi
            fi
        od;
        skip;
        d_step {                                                /* NothingLost, NothingRefused */
            limit = 0;
            do
            :: limit < head -> assert(was_read[limit]); limit++
            :: else -> break
            od;
            limit = 0;
            assert(head >= acknowledged);
            assert(!refused || head <= acknowledged)
        };
        close_as(CLOSED)
    } unless { may_be_killed && kill_consumer };
    d_step { if :: reads -> readers--; seat = false :: else fi; reads = false; sealed = false; closes = false; next = 0; limit = 0 }
}

init { run consumer(true); run consumer(false) }
