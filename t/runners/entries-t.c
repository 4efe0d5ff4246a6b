/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test the cost of a transaction that goes to many lists; t/runners/lmtp-t looks at what is stored. */
#include "runners/lmtp/entries.h"

#include <dlfcn.h>
#include <openssl/evp.h>
#include <string.h>

#include "mail/list_address.h"
#include "switchboard/draft.h"
#include "t/suite.h"

#define RECIPIENTS 50

static size_t hashed; /* bytes */
static bool judges_sizes;

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

static const EntriesSite site = {.hostname = "host.example.org", .site_owner = "root@example.org"};

/* The second list takes little, and the third list's settings cannot be read; owners and others get all. */
bool lists_size_limit(Lists *lists, const ListAddress *address, uint64_t *most, GError **error)
{
    bool limited = judges_sizes && address->to == LIST_ADDRESS_POSTING;
    *most = limited && g_str_equal(address->list_id, "list1.example.com") ? 1000 : 0;
    return !limited || !g_str_equal(address->list_id, "list2.example.com");
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
    g_autoptr(Entries) entries = entries_new(&transaction, "peer", &site);
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

/* A message that goes in circles is refused to everybody, one hop later than the last that is let pass. */
static void test_circles(void)
{
    for (int hops = 120; hops <= 121; hops++) {
        LmtpTransaction transaction;
        g_autoptr(GString) head = g_string_new("Message-ID: <1@x>\r\n");
        for (int at = 0; at < hops; at++)
            g_string_append(head, "Received: from a by b\r\n");
        g_string_append(head, "\r\n");
        fill(&transaction, head->str, 0);
        g_autoptr(Entries) entries = entries_new(&transaction, "peer", &site);
        g_assert_cmpuint(entries->count, ==, hops > 120 ? 0 : RECIPIENTS);
        g_assert_cmpint(entries->refusals[0] && g_str_has_prefix(entries->refusals[0], "554 "), ==, hops > 120);
        clear(&transaction);
    }
}

/* Check that a recipient who is named twice, in whatever case of letters, gets it once. */
static void test_named_twice(void)
{
    LmtpTransaction transaction;
    fill(&transaction, "Message-ID: <1@x>\r\n\r\n", 0);
    g_free(lmtp_recipient(&transaction, RECIPIENTS - 1)->address);
    lmtp_recipient(&transaction, RECIPIENTS - 1)->address = g_strdup("List3@Example.com");
    g_autoptr(Entries) entries = entries_new(&transaction, "peer", &site);
    g_assert_cmpuint(entries->count, ==, RECIPIENTS - 1);
    g_assert_cmpuint(entries->of[RECIPIENTS - 1], ==, entries->of[3]);
    clear(&transaction);
}

/* Each list judges the size for itself, and one that cannot be asked is tried again. */
static void test_sizes(void)
{
    LmtpTransaction transaction;
    judges_sizes = true;
    for (size_t size = 1000; size <= 2000; size += 1000) {
        fill(&transaction, "Message-ID: <1@x>\r\n\r\n", size);
        g_autoptr(Entries) entries = entries_new(&transaction, "peer", &site);
        g_assert_null(entries->refusals[0]);
        g_assert_cmpstr(entries->refusals[1], ==, ENTRIES_TOO_LARGE);
        g_assert_true(g_str_has_prefix(entries->refusals[2], "451 "));
        g_assert_null(entries->refusals[3]);
        g_assert_cmpuint(entries->count, ==, RECIPIENTS - 2);
        clear(&transaction);
    }
    fill(&transaction, "Message-ID: <1@x>\r\n\r\n", 900);
    g_autoptr(Entries) entries = entries_new(&transaction, "peer", &site);
    g_assert_null(entries->refusals[1]);
    clear(&transaction);
    judges_sizes = false;
}

/* A part of a message that is not for a list itself is not kept for others (fragments_decide() is not asked). */
static void test_part_for_owners(void)
{
    static const ListAddressTo others[] = {LIST_ADDRESS_OWNER, LIST_ADDRESS_REQUEST, LIST_ADDRESS_BOUNCES};
    LmtpTransaction transaction;
    fill(&transaction, "Message-ID: <1@x>\r\nContent-Type: message/partial; id=a; number=1; total=2\r\n\r\n", 0);
    for (unsigned i = 0; i < RECIPIENTS; i++)
        ((ListAddress *)lmtp_recipient(&transaction, i)->data)->to = others[i % G_N_ELEMENTS(others)];
    g_autoptr(Entries) entries = entries_new(&transaction, "peer", &site);
    g_assert_cmpuint(entries->count, ==, RECIPIENTS);
    g_assert_cmpstr(draft_queue(entries->group[0].draft), ==, "in");
    clear(&transaction);
}

SUITE("entries")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/entries/hashes once", "Message-ID: <1@x>\r\n\r\n", test_hashes_once);
    g_test_add_data_func("/entries/hashes once, given a Message-ID", "Subject: x\r\n\r\n", test_hashes_once);
    g_test_add_func("/entries/in circles", test_circles);
    g_test_add_func("/entries/named twice", test_named_twice);
    g_test_add_func("/entries/too large for a list", test_sizes);
    g_test_add_func("/entries/a part for the owners", test_part_for_owners);
    return g_test_run();
}
