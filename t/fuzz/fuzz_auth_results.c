/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* A value of Authentication-Results of any bytes: what is read from it and written again reads the same, stands on
 * lines of its own, and is one field. */
#include <string.h>

#include "mail/auth/auth_results.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree char *value = g_strndup((const char *)data, size);
    g_autoptr(AuthResults) found = auth_results_read(value);
    if (!found)
        return 0;
    require(auth_results_claims(value, found->server));
    g_autoptr(GPtrArray) texts = g_ptr_array_new();
    for (guint at = 0; at < found->results->len; at++) {
        char *text = ((AuthResult *)found->results->pdata[at])->text;
        g_autofree char *property = auth_result_property(text, "smtp.mailfrom");
        require(!property || strlen(property) < strlen(text));
        g_ptr_array_add(texts, text);
    }
    g_ptr_array_add(texts, NULL);
    g_autofree char *written = auth_results_write(found->server, (char **)texts->pdata);
    for (const char *at = strchr(written, '\n'); at; at = strchr(at + 1, '\n')) {
        size_t blanks = strspn(at + 1, " \t");
        require(blanks > 0 && at[1 + blanks] > ' '); /* it goes on, and no line is empty */
    }
    g_autoptr(AuthResults) again = auth_results_read(written);
    require(again && strcmp(again->server, found->server) == 0 && again->results->len == found->results->len);
    for (guint at = 0; at < again->results->len; at++)
        require(strcmp(((AuthResult *)again->results->pdata[at])->text, texts->pdata[at]) == 0);
    return 0;
}
