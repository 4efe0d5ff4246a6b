/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/web/web.h"

int main(int argc, char **argv)
{
    return http_main(&web_spec, argc, argv);
}
