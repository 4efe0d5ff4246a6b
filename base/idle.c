/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/idle.h"

#include <sched.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ioprio_set(2), for which there is no header. */
#define IOPRIO_WHO_PROCESS 1
#define IOPRIO_CLASS_IDLE (3 << 13)

void idle_become(void)
{
    sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
    setpriority(PRIO_PROCESS, 0, 19); /* where there is no such class */
    syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_CLASS_IDLE);
}
