/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/lmtp/space.h"

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"

#define TRUST (CLOCK_SECOND / 100)
#define LOOK_INTERVAL (10 * CLOCK_SECOND)
#define LOW_INTERVAL CLOCK_SECOND /* while mail is refused */

struct Space {
    char *directory;
    int fd;
    uint64_t least, free; /* bytes */
    int64_t looked_at;    /* monotonic; 0: never */
    int64_t low_since;    /* wall clock; 0: it is not low */
    struct event *timer;
};

static void tell(Space *space)
{
    bool low = space->free <= space->least;
    if (low == (space->low_since != 0))
        return;
    if (!low) {
        space->low_since = 0;
        log_info("the spool has room again, and mail is taken");
        child_notice(CHILD_NOTICE_SPACE, NULL);
        return;
    }
    space->low_since = clock_now();
    g_autofree char *since = clock_text(space->low_since);
    g_autofree char *text = g_strdup_printf("mail is refused for now (452) since %s: the file system of %s has %" PRIu64
                                            " KiB left, and [spool] min_free is %" PRIu64 " KiB",
                                            since, space->directory, space->free / 1024, space->least / 1024);
    log_warn("%s", text);
    child_notice(CHILD_NOTICE_SPACE, text);
}

/* False: it cannot be found out. */
static bool look(Space *space)
{
    int64_t now = clock_monotonic();
    if (space->looked_at != 0 && now - space->looked_at <= TRUST)
        return true;
    g_autoptr(GError) error = NULL;
    if (!fs_free_space(space->fd, &space->free, &error)) {
        log_error("spool: %s", error->message);
        return false;
    }
    space->looked_at = now;
    tell(space);
    return true;
}

static void on_timer(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    Space *space = data;
    look(space);
    int64_t interval = space->low_since != 0 ? LOW_INTERVAL : LOOK_INTERVAL;
    event_add(space->timer, &(struct timeval){interval / CLOCK_SECOND, 0});
}

Space *space_new(struct event_base *base, const char *directory, uint64_t least, GError **error)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        fail_errno(error, FAIL_LATER, "open %s", directory);
        return NULL;
    }
    Space *space = g_new0(Space, 1);
    *space = (Space){.directory = g_strdup(directory), .fd = fd, .least = least};
    space->timer = evtimer_new(base, on_timer, space);
    event_add(space->timer, &(struct timeval){0, 0});
    return space;
}

void space_free(Space *space)
{
    event_free(space->timer);
    close(space->fd);
    g_free(space->directory);
    g_free(space);
}

bool space_has(Space *space, uint64_t wanted)
{
    return look(space) && space->free >= space->least + wanted;
}

int space_directory(const Space *space)
{
    return space->fd;
}
