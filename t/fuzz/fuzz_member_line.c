/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Any bytes as a file of people: each line gives an address or a reason, their numbers grow, and at the end all bytes
 * were read.
 */
#include "lists/people/member_line.h"

#include "base/fail.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    FILE *file = fmemopen((void *)data, size, "r");
    require(file != NULL);
    MemberLines *lines = member_lines_new(file);
    uint64_t before = 0;
    bool good = true;
    while (good) {
        g_auto(MemberLine) line = {0};
        g_autoptr(GError) error = NULL;
        good = member_lines_next(lines, &line, &error) || g_error_matches(error, FAIL, FAIL_NEVER);
        require(good || g_error_matches(error, FAIL, FAIL_CONFIG));
        if (!good || line.last)
            break;
        require(line.number > before);
        require(error ? *error->message && g_utf8_validate(error->message, -1, NULL)
                      : line.address && g_utf8_validate(line.address, -1, NULL));
        before = line.number;
    }
    require(!good || member_lines_bytes(lines) == size);
    member_lines_free(lines);
    fclose(file);
    return 0;
}
