/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/moving/keep_read.h"

#include <linux/capability.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool kept;

void keep_read_begin(void)
{
    kept = geteuid() == 0 && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0;
}

/* A call that fails here leaves fewer rights; then the files that cannot be read are named later. */
void keep_read_end(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct had[_LINUX_CAPABILITY_U32S_3] = {0}, wanted[_LINUX_CAPABILITY_U32S_3] = {0};
    if (!kept || geteuid() == 0)
        return;
    kept = false;
    syscall(SYS_capget, &header, had);
    int right = had[0].permitted & 1u << CAP_DAC_READ_SEARCH ? CAP_DAC_READ_SEARCH : CAP_DAC_OVERRIDE;
    wanted[0].permitted = wanted[0].effective = had[0].permitted & 1u << right;
    syscall(SYS_capset, &header, wanted);
    prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
}
