/* The eventcount: no wake-up is lost (wait/event_count.rs, wait/park.rs).
 *
 * Two sleepers, two wakers with two stores each. The futex is the kernel's: it puts to sleep only while the word is the ticket's, and wakes all.
 * Properties:
 *
 *   NoLostWake    every sleeper comes to see all stores (no invalid end state)
 *   Coalescing    one wake-up a registration at most: wakes never exceed registrations
 *
 * Seeded bugs: NO_SECOND_LOOK, NO_WAKE, WORD_UNCHANGED (event_*), NO_LIGHT_FENCE (the waker looks for sleepers before its store is seen),
 * NO_HEAVY_FENCE (the sleeper looks for the store before its registration is seen).
 *
 * ONE: each store is a message that one sleeper takes, and a waker wakes one (event.wake5), or, where it thinks that it is all the same, all. Two sleepers, each of which takes half of
 * the messages, so both are needed. Seeded bugs: FORGETS_THE_OTHERS (one is woken, and the bit cleared), CLEARS_UNSEEN (no event.wake7).
 */
#define STORES 4
#define SLEEPER 1
#define WAKE_UP 2

byte stored;
byte word;
bool asleep[2];
byte wakes, registrations;

inline notify(seen) {
    do
    :: (seen % 2) == SLEEPER ->                                 /* event.wake3 */
        atomic {
            if
            :: word == seen ->                                  /* event.wake4 */
#ifndef WORD_UNCHANGED
                word = (seen - SLEEPER + WAKE_UP) % 64;
#endif
                wakes++;
#ifndef NO_WAKE
                asleep[0] = false; asleep[1] = false;           /* event.wake5, which the kernel does at once */
#endif
                break
            :: else -> seen = word
            fi
        }
    :: else -> break
    od;
    seen = 0
}

#ifdef ONE
byte taken;
/* event.wake5 for one: whichever the kernel has. */
inline wake_one(k) {
    atomic {
        if
        :: asleep[0] -> asleep[0] = false; k = 1
        :: asleep[1] -> asleep[1] = false; k = 1
        :: else -> k = 0
        fi
    }
}

inline notify_one(seen) {
    if
    :: true -> notify(seen)                                     /* the hint says that all are one */
    :: true ->
       do
       :: (seen % 2) == SLEEPER ->                              /* event.wake3 */
            atomic {
                if
                :: word == seen ->                              /* event.wake4 */
#ifdef FORGETS_THE_OTHERS
                    word = (seen - SLEEPER + WAKE_UP) % 64;
#else
                    word = (seen + WAKE_UP) % 64;
#endif
                    break
                :: else -> seen = word
                fi
            }
       :: else -> goto calm
       od;
       wake_one(seen);                                          /* event.wake5 */
       if
       :: seen == 0 ->
            seen = word;
            do
            :: (seen % 2) == SLEEPER ->
                atomic {
                    if
                    :: word == seen -> word = (seen - SLEEPER + WAKE_UP) % 64; break    /* event.wake6 */
                    :: else -> seen = word
                    fi
                }
            :: else -> goto calm
            od;
#ifndef CLEARS_UNSEEN
            atomic { asleep[0] = false; asleep[1] = false }     /* event.wake7 */
#endif
       :: else
       fi;
calm:
       seen = 0
    fi
}

active [2] proctype waker() {
    byte seen, count;
    do
    :: count < STORES / 2 ->
        stored++;                                               /* event.wake1 */
        seen = word;                                            /* event.wake3 */
        notify_one(seen);
        count++
    :: else -> break
    od
}

active [2] proctype sleeper() {
    byte ticket, had;
    byte me = _pid - 2;
    do
    :: had == STORES / 2 -> break
    :: else ->
        if
        :: atomic { stored > taken -> taken++ }; had++
        :: else ->
            atomic { word = word | SLEEPER; ticket = word };    /* event.sleep1 */
            if
            :: atomic { stored > taken -> taken++ }; had++      /* event.sleep3 */
            :: else ->
                atomic { if :: word == ticket -> asleep[me] = true :: else fi };    /* event.sleep4 */
                !asleep[me]
            fi
        fi;
        ticket = 0
    od
}
#else
active [2] proctype waker() {
    byte seen, count;
    do
    :: count < STORES / 2 ->
#ifdef NO_LIGHT_FENCE
        seen = word;
        stored++;
#else
        stored++;                                               /* event.wake1 */
        seen = word;                                            /* event.wake3 */
#endif
        notify(seen);
        count++
    :: else -> break
    od
}

active [2] proctype sleeper() {
    byte ticket, known;
    byte me = _pid - 2;
    do
    :: known == STORES -> break
    :: else ->
        if
        :: stored > known -> known = stored
        :: else ->
#ifdef NO_HEAVY_FENCE
            if :: stored > known -> known = stored :: else ->
            atomic { word = word | SLEEPER; ticket = word; registrations++ };
#else
            atomic { word = word | SLEEPER; ticket = word; registrations++ };   /* event.sleep1 */
#ifndef NO_SECOND_LOOK
            if :: stored > known -> known = stored :: else ->                   /* event.sleep3 */
#endif
#endif
            atomic { if :: word == ticket -> asleep[me] = true :: else fi };    /* event.sleep4 */
            !asleep[me]
#if defined(NO_HEAVY_FENCE) || !defined(NO_SECOND_LOOK)
            fi
#endif
        fi;
        ticket = 0;
        assert(wakes <= registrations)                          /* Coalescing */
    od
}
#endif
