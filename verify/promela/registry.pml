/* The registry of a gate (ring/registry.rs): cells in a tree that counts which are in use.
 *
 * Three subscribers that come and go, families of two, a publisher that looks. Node n has the family 2n + 1, 2n + 2. Properties:
 *
 *   LookMissesNobody   a subscriber that has come when the look begins, and has not begun to leave when it ends, was seen
 *   FindsACell         at each moment there is room for all that are counted at a node and have not gone on
 *   OneOwner           a cell is taken when it is free
 *   BoundedCells       no more cells than subscribers at one time, but for the rest of the last family, and of one for each that grew at that moment
 *
 * Seeded bugs: COUNTED_LATE (tree.join1 after tree.join3), COUNTED_TWICE (tree.join1 is no read-modify-write: gate_count_not_atomic), UNCOUNTED_EARLY (tree.leave6 before tree.leave5),
 * REST_EARLY (tree.join4 before the link), ALWAYS_GROWS (gate_always_grows).
 */
#ifndef TIMES
#define TIMES (_pid == 0 -> 2 : 1)
#endif
#ifndef WHO
#define WHO 3
#endif
#define NODES 15

byte cell[NODES];      /* whose: a subscriber's number, and one; 0 is free */
byte used[NODES];
byte nodes[NODES];
bool linked[NODES];    /* a node's family */

/* What the code does not have. */
byte waiting[NODES];   /* counted here for a free cell, and not gone on */
bool in[3];            /* has come, and does not leave */
bool must[3];          /* to be seen by the look that is under way */
byte cells = 1;
byte most;             /* used at the top */
byte growing, growing_most;

inline check() {
#ifndef COUNTED_LATE
    i = 0;
    do
    :: i < NODES / 2 ->
        assert(used[i] <= nodes[i]);
        assert((cell[i] == 0) + (linked[i] -> nodes[2 * i + 1] - used[2 * i + 1] + nodes[2 * i + 2] - used[2 * i + 2] : 0) >= waiting[i]);   /* FindsACell */
        i++
    :: else -> break
    od;
    i = 0
#else
    skip
#endif
}

inline count_here() {
#ifndef COUNTED_LATE
    used[at]++
#else
    skip
#endif
}

active [WHO] proctype subscriber() {
    byte at, mine, times, child, i;
    bool grows, seems_full;
    d_step { nodes[0] = (nodes[0] == 0 -> 1 : nodes[0]) };          /* the first node, made by the first subscriber */
again:
    skip;
    d_step { at = 0; child = 0; mine = 0; grows = false };
#ifdef COUNTED_TWICE
    seems_full = (used[0] >= nodes[0]);
    d_step {
        grows = seems_full; seems_full = 0;
#else
    d_step {
        grows = (used[0] >= nodes[0]);                              /* tree.join1 */
#endif
#ifdef ALWAYS_GROWS
        grows = true;
#endif
        count_here();
        nodes[0] = nodes[0] + grows;
        waiting[0] = waiting[0] + !grows;
        most = (used[0] > most -> used[0] : most);
        growing = growing + grows;
        growing_most = (growing > growing_most -> growing : growing_most);
        check()
    };
    if :: grows -> goto add :: else fi;

take:
    if
    :: d_step { cell[at] == 0 -> cell[at] = _pid + 1; waiting[at]--; mine = at; check() }; goto taken   /* tree.join3 */
    :: cell[at] != 0
    fi;
    if :: !linked[at] -> goto take :: else fi;
    child = 2 * at + 1;
    do
    :: child <= 2 * at + 2 ->
        if
        :: d_step { used[child] < nodes[child] ->                   /* tree.join2 */
            waiting[at]--; at = child; count_here(); waiting[at]++; check() }; goto take
        :: used[child] >= nodes[child]
        fi;
        child++
    :: else -> goto take
    od;

add:
    if
    :: !linked[at] ->
#ifdef REST_EARLY
        mine = at;
rest_early:
    skip;
        d_step { nodes[mine]++; check() };
        if :: mine > 0 -> mine = (mine - 1) / 2; goto rest_early :: else fi;
#endif
        if
        :: d_step { !linked[at] ->
            mine = 2 * at + 1;
            linked[at] = true;                                      /* tree.join3 */
            cell[mine] = _pid + 1; nodes[mine] = 1; nodes[mine + 1] = 1;
#ifndef COUNTED_LATE
            used[mine] = 1;
#endif
            cells = cells + 2;
#ifndef COUNTED_LATE
            assert(cells <= most + growing_most);                   /* BoundedCells */
#endif
            check()
          }
        :: linked[at] -> goto add
        fi;
#ifndef REST_EARLY
rest:
    skip;
        d_step { nodes[at]++; check() };                            /* tree.join4 */
        if :: at > 0 -> at = (at - 1) / 2; goto rest :: else fi;
#endif
        d_step { growing--; at = 0 };
        goto taken
    :: linked[at] ->
        child = (nodes[2 * at + 1] <= nodes[2 * at + 2] -> 2 * at + 1 : 2 * at + 2);
        d_step { at = child; count_here(); nodes[at]++; check() };  /* tree.join2 */
        assert(at < NODES / 2);
        goto add
    fi;

taken:
    skip;
    d_step { assert(cell[mine] == _pid + 1); in[_pid] = true; at = mine; child = 0 };   /* OneOwner */
#ifdef COUNTED_LATE
late:
    skip;
    used[at]++;
    if :: at > 0 -> at = (at - 1) / 2; goto late :: else fi;
    at = mine;
#endif
    d_step { in[_pid] = false; must[_pid] = false };
#ifndef UNCOUNTED_EARLY
    d_step { cell[mine] = 0; check() };                             /* tree.leave5 */
#endif
leave:
    skip;
    d_step { used[at]--; check() };                                 /* tree.leave6 */
    if :: at > 0 -> at = (at - 1) / 2; goto leave :: else fi;
#ifdef UNCOUNTED_EARLY
    d_step { cell[mine] = 0; check() };
#endif
    d_step { at = 0; mine = 0; times++ };
    if :: times < TIMES -> goto again :: else fi
}

/* One look, at any time. */
active proctype publisher() {
    byte n, owner;
    short open, seen;
    d_step { must[0] = in[0]; must[1] = in[1]; must[2] = in[2] };
    do
    :: n < NODES ->
        if
        :: n == 0 || (((open >> ((n - 1) / 2)) & 1) && linked[(n - 1) / 2]) ->
            if
            :: used[n] > 0 -> open = open | (1 << n);               /* tree.scan7 */
                owner = cell[n];
                d_step { seen = seen | (1 << owner); owner = 0 }
            :: used[n] == 0
            fi
        :: else
        fi;
        n++
    :: else -> break
    od;
    skip;
    d_step {                                                        /* LookMissesNobody */
        assert(!must[0] || (seen & 2));
        assert(!must[1] || (seen & 4));
        assert(!must[2] || (seen & 8));
        open = 0; seen = 0; n = 0
    }
}
