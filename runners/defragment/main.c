/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/defragment/defragment.h"

int main(int argc, char **argv)
{
    return runner_main(&defragment_spec, argc, argv);
}
