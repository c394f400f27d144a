/* A queue of several producer processes: places (shm/places.rs, lane/across.rs).
 *
 * Two producers, or three, and two places. Each producer takes the first place that is free, sends one message, and leaves. One of them may be
 * killed between any two steps, which frees its lock and nothing else. The queue ends when all producers are gone: the last one that leaves closes
 * it, or the consumer does. NO_KILL: nobody is killed. BLIND: the consumer does not look for the end by itself.
 *
 *   OneWriter        a lane has one producer at a time
 *   Once             each message is received once at most, those of a lane in order
 *   NothingLost      what was acknowledged is received
 *   NotEarly         nobody closes the queue beside a producer that is there all the time
 *   EveryoneEnds     the consumer finds the end (spin: no invalid end state)
 *
 * Spin is sequentially consistent: this checks interleavings, not orderings.
 *
 * Seeded bugs: NO_LOCK (shm_place_of_another), WHO_LEAVES_CLOSES (shm_who_leaves_closes), BLIND (shm_dead_producers_stay, where somebody is
 * killed), LOOKS_FIRST (the look comes before the note that one has left), BEGINS_AT_HEAD (a producer goes on at the head).
 */
#define PLACES 2
#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#define SLOTS 4
#define CLOSED 1
#define DIED 2

typedef Lane {
    byte slot[SLOTS];
    byte tail, head, end;
    byte came, left;
    byte owners, owner
};
Lane lane[PLACES];
bool locked[PLACES];
byte closed;
bool kill[PRODUCERS];

/* Of the properties. */
bool acknowledged[PRODUCERS], received[PRODUCERS];
bool is_over;
byte gone;

inline close_as(reason) {
    d_step { if :: closed == 0 -> closed = reason :: else fi }
}

/* Whether the place has a producer: in three steps. */
inline look(place, answer) {
    seen = lane[place].left;
    answer = lane[place].came != seen;
    if
    :: answer -> answer = locked[place]
    :: else
    fi
}

active proctype killer() {
#ifndef NO_KILL
    atomic {
        if
        :: kill[0] = true
        :: kill[1] = true
#if PRODUCERS > 2
        :: kill[2] = true
#endif
        fi
    }
#else
    skip
#endif
}

proctype producer(byte me) {
    byte place = PLACES, other, at, seen, neighbour;
    bool has;
    {
        atomic {                                                /* places.join1 */
            if
#ifdef NO_LOCK
            :: place = 0
#else
            :: !locked[0] -> place = 0
            :: locked[0] && !locked[1] -> place = 1
#endif
            fi;
            locked[place] = true; lane[place].owners++; lane[place].owner = me + 1;
            assert(lane[place].owners == 1)                     /* OneWriter */
        };
        other = 1 - place;
        if :: closed != 0 -> goto gives_up :: else fi;
        d_step {
            lane[place].came++;                                 /* places.join2 */
#ifdef BEGINS_AT_HEAD
            at = lane[place].head
#else
            at = lane[place].tail                               /* places.join3 */
#endif
        };
        if :: closed != 0 -> goto leaves :: else fi;
        d_step { lane[place].slot[at] = me + 1; lane[place].tail = at + 1 };  /* lane.send2, lane.send3 */
        if                                                      /* lane.send4 */
        :: closed == 0 -> skip
        :: else ->
            d_step { if :: lane[place].end == 0 -> lane[place].end = at + 2 :: else fi };  /* lane.end2 */
            if
            :: lane[place].end < at + 2 -> lane[place].tail = at; goto leaves
            :: else
            fi
        fi;
        d_step { acknowledged[me] = true; assert(!is_over || received[me]) };  /* NothingLost */
    leaves:
        skip;
        d_step { if :: lane[other].came != lane[other].left && locked[other] -> neighbour = lane[other].owner :: else fi };
#ifdef LOOKS_FIRST
        look(other, has);
#endif
        d_step { lane[place].left++; lane[place].owner = 0 };   /* places.leave4 */
#ifndef LOOKS_FIRST
        look(other, has);                                       /* places.count5 */
#endif
#ifdef WHO_LEAVES_CLOSES
        has = false;
#endif
        if
        :: !has ->
            d_step {                                            /* NotEarly */
                assert(neighbour == 0 || lane[other].owner != neighbour);
                if :: closed == 0 -> closed = CLOSED :: else fi
            }
        :: else
        fi;
    gives_up:
        skip
    } unless { kill[me] };
    d_step {                                                    /* places.leave6 */
        if :: place < PLACES -> locked[place] = false; lane[place].owners--; lane[place].owner = 0 :: else fi;
        gone++; has = false; neighbour = 0; seen = 0; at = 0
    }
}

/* One message of the lane, or none. */
inline take(place) {
    d_step {
        if                                                      /* lane.take5, lane.end3 */
        :: lane[place].end != 0 -> limit = lane[place].end - 1
        :: else -> limit = lane[place].tail
        fi;
        took = lane[place].head < limit;
        if
        :: took ->                                              /* lane.take6, lane.take7 */
            message = lane[place].slot[lane[place].head];
            assert(message != 0 && !received[message - 1]);     /* Once */
            received[message - 1] = true;
            lane[place].head++
        :: else
        fi;
        limit = 0; message = 0
    }
}

active proctype consumer() {
    byte turn, limit, seen, message;
    bool settled, first, second, took;
    do
    :: true ->
        take(0);
        if :: took -> goto found :: else fi;
        take(1);
        if :: took -> goto found :: else fi;
        /* Nothing was found. */
        if
        :: settled -> break
        :: !settled && closed != 0 ->                           /* lane.end1 */
            d_step { if :: lane[0].end == 0 -> lane[0].end = lane[0].tail + 1 :: else fi };
            d_step { if :: lane[1].end == 0 -> lane[1].end = lane[1].tail + 1 :: else fi };
            settled = true
#ifndef BLIND
        :: closed == 0 && lane[0].came + lane[1].came != 0 ->
            look(0, first);
            look(1, second);
            if :: !first && !second -> close_as(DIED) :: else fi;
            d_step { first = false; second = false; seen = 0 }
#endif
        :: closed == 0 && (lane[0].head < lane[0].tail || lane[1].head < lane[1].tail) -> skip
        :: closed == 0 && gone == PRODUCERS && lane[0].came + lane[1].came == 0 -> goto done  /* nobody came */
        fi;
    found:
        took = false
    od;
    skip;
    d_step {
        is_over = true;
        turn = 0;
        do
        :: turn < PRODUCERS -> assert(!acknowledged[turn] || received[turn]); turn++
        :: else -> break
        od
    };
done:
    skip
}

init {
    atomic {
        run producer(0);
        run producer(1);
#if PRODUCERS > 2
        run producer(2)
#endif
    }
}
