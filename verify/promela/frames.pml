/* The frames of a ring between processes: readers hold them in place, in tables of their own, and die at any step (decision 0161).
 *
 * The ring itself is one step here: `seats` and `ranges` have it. It carries the numbers of frames. One publisher, MESSAGES messages, a ring of SLOTS, of which KEPT
 * messages stay; a table of one entry for each of TABLES readers; as many frames as messages that stay and as entries, and one. Each reader may be killed
 * between any two steps; then the kernel takes down its lock, its table stays, and another reader takes it. Properties:
 *
 *   HeldStays         what a reader holds is the message that it received, until it lets it go
 *   NeverWaits        the publisher finds a free frame for each message, whatever readers do
 *   FramesComeBack    when all readers are gone or dead, one scan frees all that was given up
 *   NothingMissed     LOSSLESS: a reader holds each message (the publisher waits until it has passed a message, or is dead; one message more stays than the
 *                     ring has slots, because a reader passes a message before it holds its frame)
 *
 * Seeded bugs: NO_FENCE (the publisher looks at the tables before it takes the frame back: frames_no_publisher_fence), NO_SECOND_LOOK (a reader does not look at the
 * frame's stamp again: frames_no_second_look), LETS_GO_FIRST (a reader reads once more after it has let go), DEATH_UNSEEN (nobody asks for the lock of a table),
 * SWEPT_UNLOCKED (the publisher only asks whether somebody has the lock, and does not take it),
 * ONE_FRAME_LESS, ONE_KEPT_LESS (LOSSLESS).
 */
#ifndef TABLES
#define TABLES 1
#endif
#ifndef MESSAGES
#define MESSAGES 5
#endif
#define SLOTS 2
#ifdef LOSSLESS
#define READERS TABLES
#else
#define READERS (TABLES + 1)     /* so one of the tables has a second one */
#endif
#ifdef LOSSLESS
#ifdef ONE_KEPT_LESS
#define KEPT SLOTS
#else
#define KEPT (SLOTS + 1)
#endif
#else
#define KEPT 1
#endif
#ifdef ONE_FRAME_LESS
#define FRAMES (KEPT + TABLES)
#else
#define FRAMES (KEPT + TABLES + 1)
#endif

#define FREE 0
#define OUT 1           /* readers may hold it */
#define GIVEN_UP 2      /* its stamp is gone; a reader may hold it still */
#define TORN 255

byte stamp[FRAMES];     /* the number of the message that readers may hold, and one; else 0 */
byte content[FRAMES];
byte number[SLOTS];     /* of the ring: a message's number, and one */
byte frame[SLOTS];
byte held[TABLES];      /* of a table: the number of a frame, and one; else 0 */
byte passed[TABLES];    /* LOSSLESS: how many messages its reader has passed */
bool lock[TABLES];
byte state[FRAMES];
bool is_held[FRAMES];
bool kill[READERS];
byte gone;              /* readers */
bool is_gone[TABLES];   /* LOSSLESS: the reader of the table */
bool is_closed;

active proctype killer() {
    if :: kill[0] = true :: skip fi;
#if READERS > 1
    if :: kill[1] = true :: skip fi;
#endif
#if READERS > 2
    if :: kill[2] = true :: skip fi
#endif
}

/* Which frames the tables hold, and the others that were given up are free. */
inline scan() {
    r = 0;
    do
    :: r < TABLES ->
        mine = held[r];
        if
        :: mine != 0 ->
            is_held[mine - 1] = true
        :: else
        fi;
        r++
    :: else -> break
    od
}

inline sort() {
    skip;
    d_step {
        f = 0;
        do
        :: f < FRAMES ->
            if
            :: state[f] == GIVEN_UP && !is_held[f] -> state[f] = FREE; content[f] = 0
            :: else
            fi;
            is_held[f] = false;
            f++
        :: else -> break
        od;
        f = 0; r = 0; mine = 0
    }
}

/* The tables of the dead. */
inline sweep() {
    r = 0;
    do
    :: r < TABLES ->
#ifndef DEATH_UNSEEN
        if
        :: held[r] == 0
        :: else ->
#ifdef SWEPT_UNLOCKED
            if :: !lock[r] -> held[r] = 0 :: else fi
#else
            if
            :: atomic { !lock[r] -> lock[r] = true };
                held[r] = 0;
                lock[r] = false
            :: lock[r]
            fi
#endif
        fi;
#endif
        r++
    :: else -> break
    od
}

/* LOSSLESS: all that may still receive it have passed message n. */
#define table_passed(r, n) (passed[r] > n || (!lock[r] && is_gone[r]))
#if TABLES == 1
#define all_passed(n) table_passed(0, n)
#else
#define all_passed(n) (table_passed(0, n) && table_passed(1, n))
#endif

active proctype publisher() {
    byte next, f, r, mine, taken;
    do
    :: next < MESSAGES ->
#ifdef LOSSLESS
        /* The ring has room. */
        if
        :: next < SLOTS
        :: next >= SLOTS -> all_passed(next - SLOTS)
        fi;
#endif
        d_step {
            taken = 0;
            do
            :: taken < FRAMES && state[taken] != FREE -> taken++
            :: else -> break
            od;
            assert(taken < FRAMES)                              /* NeverWaits */
        };
        content[taken] = TORN;
        content[taken] = next + 1;
        stamp[taken] = next + 1;                                /* frames.send4 */
        d_step {
            state[taken] = OUT;
            number[next % SLOTS] = next + 1; frame[next % SLOTS] = taken; next++; taken = FRAMES;
            /* The frame of the message that does not stay. */
            f = 0;
            do
            :: f < FRAMES ->
                if
                :: state[f] == OUT && stamp[f] + KEPT <= next -> taken = f
                :: else
                fi;
                f++
            :: else -> break
            od;
            f = 0
        };
        if
        :: taken < FRAMES ->
#ifdef NO_FENCE
            scan();
            stamp[taken] = 0;
#else
            stamp[taken] = 0;                                   /* frames.take1 */
            scan();                                             /* frames.take3 */
#endif
            state[taken] = GIVEN_UP;
            sort();
            /* Now and then. */
            if :: sweep() :: skip fi
        :: else
        fi;
        taken = 0
    :: else -> break
    od;
    skip;
    is_closed = true;
    /* All readers are gone or dead. */
    (gone == READERS);
    f = 0;
    do
    :: f < FRAMES -> stamp[f] = 0; state[f] = GIVEN_UP; f++
    :: else -> break
    od;
    sweep();
    scan();
    sort();
    skip;
    d_step {
        do
        :: f < FRAMES -> assert(state[f] == FREE); f++          /* FramesComeBack */
        :: else -> break
        od
    }
}

proctype reader(byte who; byte table) {
    byte n, f;
    bool has;
    {
        atomic { !lock[table] -> lock[table] = true; has = true };
        held[table] = 0;
        do
        :: atomic { number[n % SLOTS] > n ->
                /* It may have lost some. */
                n = number[n % SLOTS] - 1; f = frame[n % SLOTS] };
            passed[table] = n + 1;                              /* the ring's receive */
            held[table] = f + 1;                                /* frames.hold1 */
#ifndef NO_SECOND_LOOK
            if
            :: stamp[f] == n + 1 ->                             /* frames.hold3 */
#else
            if
            :: true ->
#endif
                assert(content[f] == n + 1);                    /* HeldStays */
#ifdef LETS_GO_FIRST
                held[table] = 0;
                assert(content[f] == n + 1)
#else
                assert(content[f] == n + 1);
                held[table] = 0                                 /* frames.leave4 */
#endif
#ifndef NO_SECOND_LOOK
            :: else ->
#ifdef LOSSLESS
                assert(false);                                  /* NothingMissed */
#endif
                held[table] = 0
#endif
            fi;
            n++
        :: is_closed && number[n % SLOTS] <= n -> break
        :: break                                                /* it leaves */
        od;
        skip
    } unless { kill[who] };
    /* What the kernel does for the dead, and a reader that leaves. */
    d_step { if :: has -> lock[table] = false :: else fi; is_gone[table] = true; has = false; n = 0; f = 0; gone++ }
}

init {
    atomic {
        run reader(0, 0);
#if TABLES > 1
        run reader(1, 1);
#endif
#ifndef LOSSLESS
        run reader(READERS - 1, 0)
#endif
    }
}
