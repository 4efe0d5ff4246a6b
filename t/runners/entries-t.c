/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* What a transaction costs that goes to many lists; t/runners/lmtp-t looks at what is stored. */
#include "runners/lmtp/entries.h"

#include <dlfcn.h>
#include <openssl/evp.h>
#include <string.h>

#include "mail/list_address.h"
#include "switchboard/draft.h"

#define RECIPIENTS 50

static size_t hashed; /* octets */

int EVP_DigestUpdate(EVP_MD_CTX *sum, const void *octets, size_t length)
{
    static int (*real)(EVP_MD_CTX *, const void *, size_t);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "EVP_DigestUpdate");
    hashed += length;
    return real(sum, octets, length);
}

/* Of parts of messages alone. */
bool fragments_decide(Fragments *fragments, const FragmentOffer *offer, FragmentAnswer *answer, GError **error)
{
    g_assert_not_reached();
}

/* A message for many lists; head: with or without a Message-ID. */
static void fill(LmtpTransaction *transaction, const char *head, size_t size)
{
    g_autoptr(GString) text = g_string_new(head);
    while (text->len < size)
        g_string_append(text, "0123456789012345678901234567890123456789\r\n");
    *transaction = (LmtpTransaction){.sender = (char *)"a@example.org",
                                     .message = g_string_free_to_bytes(g_steal_pointer(&text)),
                                     .recipients = g_array_new(FALSE, TRUE, sizeof(LmtpRecipient))};
    for (unsigned i = 0; i < RECIPIENTS; i++) {
        ListAddress *address = g_new0(ListAddress, 1);
        address->list_id = g_strdup_printf("list%u.example.com", i);
        address->to = LIST_ADDRESS_POSTING;
        LmtpRecipient recipient = {.address = g_strdup_printf("list%u@example.com", i), .data = address};
        g_array_append_val(transaction->recipients, recipient);
    }
}

static void clear(LmtpTransaction *transaction)
{
    for (unsigned i = 0; i < RECIPIENTS; i++) {
        g_free(lmtp_recipient(transaction, i)->address);
        list_address_free(lmtp_recipient(transaction, i)->data);
    }
    g_array_unref(transaction->recipients);
    g_bytes_unref(transaction->message);
}

/* Has the draft the name that it would have alone? */
static void assert_hash(Draft *draft, GBytes *message)
{
    g_autoptr(Draft) alone = draft_new("in", json_deep_copy(draft_meta(draft)));
    draft_add_message(alone, message);
    g_assert_cmpmem(draft_name(alone)->hash, HASH_SIZE, draft_name(draft)->hash, HASH_SIZE);
}

static void test_hashes_once(const void *data)
{
    const char *head = data;
    const size_t size = 1000 * 1000;
    LmtpTransaction transaction;
    fill(&transaction, head, size);
    hashed = 0;
    g_autoptr(Entries) entries = entries_new(&transaction, "peer", "host.example.org", "root@example.org", NULL);
    g_test_message("%zu octets hashed for a message of %zu to %d lists", hashed, size, RECIPIENTS);
    g_assert_cmpuint(hashed, <, size + RECIPIENTS * 1000);
    g_assert_cmpuint(entries->count, ==, RECIPIENTS);
    for (unsigned i = 0; i < RECIPIENTS; i++) {
        if (draft_message_length(entries->group[i].draft) == g_bytes_get_size(transaction.message))
            assert_hash(entries->group[i].draft, transaction.message);
        for (unsigned k = 0; k < i; k++)
            g_assert_cmpint(memcmp(draft_name(entries->group[i].draft)->hash, draft_name(entries->group[k].draft)->hash,
                                   HASH_SIZE), !=, 0);
    }
    clear(&transaction);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/entries/hashes once", "Message-ID: <1@x>\r\n\r\n", test_hashes_once);
    g_test_add_data_func("/entries/hashes once, given a Message-ID", "Subject: x\r\n\r\n", test_hashes_once);
    return g_test_run();
}
