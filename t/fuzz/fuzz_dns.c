/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Answers of name servers: what is taken from one is whole, whatever it was. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/dns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (DnsType type = DNS_A; type <= DNS_PTR; type++) {
        DnsAnswer answer;
        dns_answer_read(&answer, data, size, type);
        if ((answer.status == DNS_FOUND) != (answer.records->len > 0) || answer.lifetime_us < 0)
            abort();
        for (guint i = 0; i < answer.records->len; i++) {
            const DnsRecord *record = &g_array_index(answer.records, DnsRecord, i);
            bool named = type == DNS_MX || type == DNS_CNAME || type == DNS_PTR;
            if (named != (record->host != NULL) || (record->host && strlen(record->host) > 1025))
                abort();
            if ((type == DNS_TXT) != (record->text != NULL))
                abort();
        }
        dns_answer_clear(&answer);
    }
    return 0;
}
