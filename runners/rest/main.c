/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/rest/rest.h"

int main(int argc, char **argv)
{
    return http_main(&rest_spec, argc, argv);
}
