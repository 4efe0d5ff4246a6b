/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * What crash_states-t need not catch, for that file alone.
 */
#include <stddef.h>

/* Changes that break no promise, each with the reason why the step is there
 * all the same, or why its order is free. Patterns; no script: any. */
typedef struct Harmless {
    const char *script, *change, *why;
} Harmless;

static const Harmless harmless[] = {
    {NULL, "*sync file * of another file", "a file is synced before its own publication; among files order is free"},
    {NULL, "sync dir *, write *", "octets and names are synced apart, in no order"},
    {NULL, "sync dir archive, rename out child.tmp .msg", "each directory's own sync comes later"},
    {NULL, "sync dir archive, unlink retry child.tmp", "each directory's own sync comes later"},
    {NULL, "count *", "the crash count is not for power cuts"},
    {NULL, "*, count *", "the crash count is not for power cuts"},
    {NULL, "rename * .tmp .msg, sync dir *", "T1 is what must be durable; R8 makes T2 again"},
    {NULL, "said 250, rename * .tmp .msg", "T2 comes first for those who are alive: no cut, no R8"},
    {"intake", "create in .tmp, said 250", "the next message"},
    {"hops", "rename in .msg .bak, said 250", "what is durable may be worked on before the sender is told"},
    {"chain", "rename in .msg .bak, said 250", "what is durable may be worked on before the sender is told"},
    {"together", "unlink in .done, sync dir archive", "the first to go is a parent that has no child there"},
    {"takes", "unlink in .bak, sync dir archive", "first goes the one taken: once decided, its taker needs it no more"},
    {NULL, "rename * .msg .bak, rename * child.tmp .msg", "cannot be: the first finds nothing"},
    {"chain", "sync dir *, unlink * .bak", "the ends of two hops that have nothing to do with each other"},
    {"deliver", "rename retry .msg .bak, rename retry .bak .msg", "cannot be: the first finds nothing"},
    /* T3 durable: an entry that is .msg again is handed out again, and so is one
     * in .bak. What was done is told by its marks. The disk shall tell
     * what was in hand when the power went; no promise hangs on it. */
    {"deliver", "no sync dir retry", "the claim"},
    {"deliver", "sync dir retry, rename retry .msg .bak", "the claim"},
    {"deliver", "rename retry .bak .msg, sync dir retry", "the claim"},
    {"killed intake", "sync dir in, rename in .tmp .msg", "what R8 did not rename durably, it renames again"},
    {"killed intake", "rename in .tmp .msg, sync file in .tmp", "nobody was promised it yet; with holes, T11 takes it"},
    {"killed intake", "rename in .msg .bak, said 250", "what is durable may be worked on before anybody relies on it"},
    /* R4: a put back that did not reach the disk is put back again. The
     * sync is for those that become .psv. */
    {"killed before", "sync dir in, rename in .bak .msg", "put back"},
    {"killed before", "rename in .msg .bak, sync dir in", "put back"},
    {"takes and dies", "sync dir in, rename in .bak .msg", "put back, as above"},
    {"takes and dies", "rename in .msg .bak, sync dir in", "put back, as above"},
    {"takes and dies", "no sync dir in", "put back, as above"},
    {"failed", "rename in .bak .msg, sync dir retry", "R5: until that sync children and a ready parent may be there"},
    {"killed before", "no sync dir in", "put back; and R3 syncs every directory, here one without children"},
    /* A parent in .opd that comes back is rolled forward again; here the next command does it, whatever the
     * lock file says. */
    {"operator holds", "no sync dir out", "the command that releases settles"},
    {"operator holds", "sync dir out, unlink out .opd", "the command that releases settles"},
    {"operator holds", "truncate spool .operator, sync dir out", "the command that releases settles"},
    {"operator killed", "no sync dir out", "the command that releases settles"},
    {"operator killed", "no sync dir hold", "what was published before is synced with the rest"},
    {"operator requeues", "no sync dir out", "parent and child are in one directory, whose changes come in order"},
    {"operator requeues", "sync dir out, rename out *", "parent and child are in one directory"},
    {"operator requeues", "rename out child.tmp .msg, sync dir out", "parent and child are in one directory"},
    {"operator requeues", "unlink out .opd, sync dir out", "parent and child are in one directory"},
    {"operator deletes", "*to be deleted*", "until it is deleted everything may become of it"},
    {"operator deletes", "*deleted*", "nothing more is needed then; the lock says only that something may be left"},
};
