/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "t/switchboard/crashworld.h"

#define RECORD 16 /* "message 00 done\n" */
#define HEAD "ledger of posts\n"
#define FILE_NAME "log"

int crashledger_open(CrashWorld *world)
{
    int dir = queue_fd(spool_queue(world->spool, CRASH_LEDGER, NULL));
    int fd = fs_open(dir, FILE_NAME, true, NULL);
    if (fd >= 0)
        return fd;
    fd = fs_create(dir, FILE_NAME, NULL);
    g_assert_true(fs_write(fd, HEAD, RECORD, NULL) && fs_sync_file(fd, NULL) && fs_sync_dir(dir, NULL));
    return fd;
}

/* The message of record number at; -1: there is none, or a part of one. */
static int read_record(int fd, int at)
{
    char text[RECORD + 1] = "";
    int number;
    char end;
    bool whole = pread(fd, text, RECORD, (off_t)at * RECORD) == RECORD;
    return whole && sscanf(text, "message %2d don%c", &number, &end) == 2 && text[RECORD - 1] == '\n' ? number : -1;
}

/* *at is its place, or that of the next record. */
static bool find(int fd, int number, int *at)
{
    *at = 1;
    for (int found; (found = read_record(fd, *at)) >= 0; ++*at)
        if (found == number)
            return true;
    return false;
}

bool crashledger_knows(int fd, int number)
{
    int at;
    return find(fd, number, &at);
}

bool crashledger_note(int fd, int number)
{
    char text[RECORD + 1];
    int at;
    if (find(fd, number, &at))
        return true;
    g_snprintf(text, sizeof text, "message %02d done\n", number);
    return fs_pwrite(fd, text, RECORD, (off_t)at * RECORD, NULL);
}

void crashledger_script(CrashWorld *world)
{
    world->ledger = true;
    close(crashledger_open(world));
    crashworld_store(world, (const int[]){0, 1}, 2);
    crashlog_begin(world->log);
    g_autoptr(Inbox) inbox = crashworld_inbox(world, "in", (Slice){0, 2});
    g_autoptr(Hop) hop = hop_new(world->spool);
    unsigned worked = 0;
    g_assert_true(crashworld_work(world, inbox, hop, &worked) && hop_settle(hop, NULL));
    g_assert_cmpuint(worked, ==, 2);
}

void crashledger_count(CrashWorld *world, uint8_t counts[CRASH_MESSAGES])
{
    auto_fd fd = crashledger_open(world);
    for (int at = 1, number; (number = read_record(fd, at)) >= 0 && number < CRASH_MESSAGES; at++)
        counts[number]++;
}
