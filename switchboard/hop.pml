/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The hop as a model for Spin: INTERNALS.md, T3 to T8 and R1 to R6, R8.
 *
 * Two parents (or one) in one queue, one in each half of it; the first one's name reached the
 * disk only as .tmp, as intake or another hop leaves it. Each run of a hop makes
 * one child or two, in two other queues, as it likes (the rules may have changed since the
 * run before). Two owners, or after a crash perhaps one for both halves (a rescale). Somebody works the other
 * queues and takes each child away as soon as it can be seen.
 *
 * A disk: each directory has a state that processes see, a state that is
 * durable, and the changes between them, in order. A crash is either a kill, which leaves what
 * processes saw, or a power cut, which leaves of each directory
 * the durable state and any number of the changes, and of the octets of a child that were
 * not synced, who knows what. It comes between any two steps.
 *
 * Checked: each child of the run that counts is taken exactly once, whole; no other
 * child is; no stray is found; recovery and work come to an end.
 *
 * BROKEN=1 commits before the children are synced; 2 publishes also when the
 * parent is only claimed; 3 unlinks the parent before the publications are synced;
 * 4 leaves the children of a ready parent where they are (no R5);
 * 5 publishes before the commit is synced; 6 syncs the children's names but not their octets;
 * 7 forgets the children of a parent that is .tmp;
 * 8 syncs only the directories in which it found children to take back (who took others back may have been killed).
 */
#ifndef BROKEN
#define BROKEN 0
#endif
#ifndef PARENTS
#define PARENTS 2
#endif
#ifndef CRASHES
#define CRASHES 2
#endif

#ifndef COARSE
#define COARSE 0 /* so that more crashes can be looked at, each parent has always as many children: 1: two and one; 2: one */
#endif

#define NONE 0
#define READY 1   /* .msg */
#define CLAIMED 2 /* .bak */
#define DECIDED 3 /* .done */
#define HIDDEN 4  /* .tmp */
#define TAGGED 2  /* of a child: .tmp */

#define IN 0      /* directories; the children are in 1 and 2 */
#define QUEUE 16

byte seen[6];            /* directory * 2 + parent */
byte durable[6];
byte change[48];         /* directory * QUEUE + place: parent * 8 + state */
byte changes[3];
bool whole[4];           /* octets of a child: (directory - 1) * 2 + parent */
bool synced[4];
byte taken[4];
byte kids[2];            /* of the run that counts */
byte owners = 2;
byte crashed;
bool down[2];
bool idle[2];

inline set(d, f, s)
{
    seen[(d) * 2 + (f)] = s;
    assert(changes[d] < QUEUE);
    change[(d) * QUEUE + changes[d]] = (f) * 8 + s;
    changes[d]++
}

inline sync(d)
{
    durable[(d) * 2] = seen[(d) * 2];
    durable[(d) * 2 + 1] = seen[(d) * 2 + 1];
    do
    :: changes[d] > 0 -> changes[d]--; change[(d) * QUEUE + changes[d]] = 0
    :: else -> break
    od
}

/* The state that a power cut leaves of a directory. */
inline cut(d)
{
    n = 0;
    do
    :: n < changes[d] ->
        durable[(d) * 2 + change[(d) * QUEUE + n] / 8] = change[(d) * QUEUE + n] % 8;
        n++
    :: break
    od;
    seen[(d) * 2] = durable[(d) * 2];
    seen[(d) * 2 + 1] = durable[(d) * 2 + 1];
    sync(d)
}

inline cut_octets(c)
{
    if
    :: !synced[c] -> whole[c] = false
    :: true
    fi;
    synced[c] = true
}

inline write_child(d)
{
    atomic {
        set(d, p, TAGGED);
        whole[(d - 1) * 2 + p] = true;
        synced[(d - 1) * 2 + p] = false
    }
}

inline publish(d)
{
    atomic {
        if
        :: seen[d * 2 + p] == TAGGED -> set(d, p, READY)
        :: else
        fi
    }
}

inline take_back(d)
{
    atomic {
        if
        :: seen[d * 2 + p] == TAGGED -> set(d, p, NONE)
        :: else
        fi
    }
}

#if BROKEN == 8
byte found[2]; /* by parent: one for a child in directory 1, two for one in 2 */
#define NOTE_CHILDREN found[p] = (seen[2 + p] == TAGGED) + 2 * (seen[4 + p] == TAGGED);
#define SYNC_TAKEN(d) if :: found[p] & d -> sync(d) :: else fi
#else
#define NOTE_CHILDREN
#define SYNC_TAKEN(d) sync(d)
#endif

inline recover()
{
    if
    :: seen[p] == DECIDED || (seen[p] == CLAIMED && BROKEN == 2) ->
        atomic { sync(IN) };
        publish(1);
        publish(2);
        atomic { sync(1) };
        atomic { sync(2) };
        atomic { set(IN, p, NONE) }
    :: else ->
        if
        :: seen[p] == CLAIMED || (seen[p] == READY && BROKEN != 4) || (seen[p] == HIDDEN && BROKEN != 7) ->
            NOTE_CHILDREN
            take_back(1);
            take_back(2);
            atomic { SYNC_TAKEN(1) };
            atomic { SYNC_TAKEN(2) }
        :: else -> assert(seen[p] == READY || seen[p] == HIDDEN || (seen[2 + p] != TAGGED && seen[4 + p] != TAGGED))
        fi;
        atomic {
            if
            :: seen[p] == CLAIMED || seen[p] == HIDDEN -> set(IN, p, READY)
            :: else
            fi
        }
    fi
}

inline commit()
{
    atomic { set(IN, p, DECIDED); kids[p] = k };
    if
    :: BROKEN != 5 -> atomic { sync(IN) }
    :: else
    fi
}

inline sync_octets(c)
{
    if
    :: BROKEN != 6 -> atomic { synced[c] = true }
    :: else
    fi
}

inline sync_children()
{
    sync_octets(p);
    atomic { sync(1) };
    if
    :: k == 2 ->
        sync_octets(2 + p);
        atomic { sync(2) }
    :: else
    fi
}

inline hop()
{
    atomic {
        set(IN, p, CLAIMED);
        if
        :: COARSE != 1 || p == 1 -> k = 1
        :: COARSE == 0 || (COARSE == 1 && p == 0) -> k = 2
        fi
    };
    write_child(1);
    if
    :: k == 2 -> write_child(2)
    :: else
    fi;
    if
    :: BROKEN == 1 -> commit(); sync_children()
    :: else -> sync_children(); commit()
    fi;
    publish(1);
    publish(2);
    if
    :: BROKEN != 3 ->
        atomic { sync(1) };
        atomic { sync(2) }
    :: else
    fi;
    atomic { set(IN, p, NONE) }
}

#define MINE (owners == 1 -> i == 0 : p == i)

proctype owner(byte i)
{
    byte p, k;
start:
    {
        p = 0;
        do
        :: p < 2 && MINE -> recover(); p++
        :: p < 2 && !MINE -> p++
        :: p == 2 -> break
        od;
        p = 0;
        do
        :: p < 2 && MINE && seen[p] == READY -> hop(); p++
        :: p < 2 && !(MINE && seen[p] == READY) -> p++
        :: p == 2 -> break
        od;
        idle[i] = true;
        (false)
    } unless {
        atomic { down[i] -> down[i] = false; p = 0; k = 0 }
    };
    if
    :: owners == 0 -> skip /* the end */
    :: else -> goto start
    fi
}

/* Whoever works the other queues: a child that it takes is gone for good,
 * with what it became (its own hop's commit, which syncs the directory). */
active proctype worker()
{
    byte c;
end:
    do
    :: atomic {
        seen[2] == READY || seen[3] == READY || seen[4] == READY || seen[5] == READY ->
        if
        :: seen[2] == READY -> c = 0
        :: seen[3] == READY -> c = 1
        :: seen[4] == READY -> c = 2
        :: seen[5] == READY -> c = 3
        fi;
        assert(whole[c]);
        set(1 + c / 2, c % 2, NONE);
        sync(1 + c / 2);
        taken[c]++;
        assert(taken[c] == 1);
        c = 0
    }
    od
}

#define QUIET (idle[0] && idle[1] && seen[2] != READY && seen[3] != READY && seen[4] != READY && seen[5] != READY)

init
{
    byte n;
    atomic {
        durable[0] = HIDDEN; set(IN, 0, READY);
        if
        :: PARENTS == 2 -> seen[1] = READY; durable[1] = READY
        :: else
        fi;
        synced[0] = true; synced[1] = true; synced[2] = true; synced[3] = true;
        run owner(0);
        run owner(1)
    };
    do
    :: atomic {
        crashed < CRASHES ->
        crashed++;
        if
        :: true /* kill */
        :: cut(0); cut(1); cut(2); cut_octets(0); cut_octets(1); cut_octets(2); cut_octets(3)
        fi;
        if
        :: owners = 1
        :: owners = 2
        fi;
        n = 0;
        idle[0] = false; idle[1] = false;
        down[0] = true; down[1] = true
    }
    :: atomic {
        QUIET && !down[0] && !down[1] ->
        assert(seen[0] == NONE && seen[1] == NONE);
        assert(taken[0] == 1 && taken[1] == PARENTS - 1);
        assert(taken[2] == (kids[0] == 2) && taken[3] == (kids[1] == 2)); /* kids: 0 without a parent */
        assert(seen[2] == NONE && seen[3] == NONE && seen[4] == NONE && seen[5] == NONE);
        owners = 0;
        down[0] = true; down[1] = true
    };
        break
    od
}
