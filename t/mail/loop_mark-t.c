/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/loop_mark.h"
#include "t/suite.h"

#include <string.h>

#define TALK "65c1a7b2000000010000000000000000"
#define NEWS "65c1a7b2000000020000000000000000"

static LoopKeys *keys_of(const char *newest, const char *older)
{
    g_autoptr(GPtrArray) secrets = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_ptr_array_add(secrets, g_bytes_new(newest, strlen(newest)));
    if (older)
        g_ptr_array_add(secrets, g_bytes_new(older, strlen(older)));
    return loop_keys_new(secrets);
}

static Message *mail(const char *id)
{
    g_autofree char *text = g_strdup_printf("Subject: x\r\nMessage-ID: <%s>\r\n\r\nHello\r\n", id);
    g_autoptr(GBytes) octets = g_bytes_new(text, strlen(text));
    return message_new(octets);
}

/* A mail as it leaves a place. */
static Message *marked(const LoopKeys *keys, const LoopMark *before, LoopPlace place, const char *list, const char *id,
                       const char *origin)
{
    Message *message = mail(id);
    g_autofree char *value = loop_mark_make(keys, before, place, list, id, origin);
    loop_mark_put(message, value);
    return message;
}

static void says_where_it_was(void)
{
    g_autoptr(LoopKeys) keys = keys_of("one", NULL);
    g_auto(LoopMark) none = {0}, first = {0}, second = {0};
    g_autoptr(Message) once = marked(keys, &none, LOOP_POSTING, TALK, "a@x.test", "a@x.test");
    loop_mark_read(keys, once, &first);
    g_assert_cmpuint(first.depth, ==, 1);
    g_assert_cmpstr(first.origin, ==, "a@x.test");
    g_assert_true(loop_mark_has(&first, LOOP_POSTING, TALK));
    g_assert_false(loop_mark_has(&first, LOOP_OWNER, TALK));
    g_assert_false(loop_mark_has(&first, LOOP_POSTING, NEWS));
    g_autoptr(Message) twice = marked(keys, &first, LOOP_OWNER, NEWS, "b@x.test", first.origin);
    loop_mark_read(keys, twice, &second);
    g_assert_cmpuint(second.depth, ==, 2);
    g_assert_cmpstr(second.origin, ==, "a@x.test");
    g_assert_true(loop_mark_has(&second, LOOP_POSTING, TALK));
    g_assert_true(loop_mark_has(&second, LOOP_OWNER, NEWS));
}

/* Neither where it was nor which mail it was, and no two marks are alike. */
static void tells_a_reader_nothing(void)
{
    g_autoptr(LoopKeys) keys = keys_of("one", NULL);
    g_auto(LoopMark) none = {0};
    g_autofree char *first = loop_mark_make(keys, &none, LOOP_POSTING, TALK, "a@x.test", "a@x.test");
    g_autofree char *second = loop_mark_make(keys, &none, LOOP_POSTING, TALK, "a@x.test", "a@x.test");
    g_autofree char *bare = g_strdup(first + 2);
    g_assert_cmpstr(first, !=, second);
    for (char *at = strstr(bare, "\r\n "); at; at = strstr(bare, "\r\n "))
        memmove(at, at + 3, strlen(at + 3) + 1);
    size_t length;
    g_autofree unsigned char *octets = g_base64_decode(bare, &length);
    g_assert_null(memmem(octets, length, "x.test", 6));
    g_assert_null(memmem(octets, length, "65c1", 4));
}

/* A value with one character changed, one of another site, nonsense. */
static void strange_ones_say_nothing(void)
{
    g_autoptr(LoopKeys) keys = keys_of("one", NULL), other = keys_of("two", NULL);
    g_auto(LoopMark) none = {0};
    g_autofree char *changed = loop_mark_make(keys, &none, LOOP_POSTING, TALK, "a@x.test", NULL);
    g_autofree char *foreign = loop_mark_make(other, &none, LOOP_POSTING, TALK, "a@x.test", NULL);
    changed[20] = changed[20] == 'A' ? 'B' : 'A';
    const char *const values[] = {changed, foreign, "", "1.", "1.AAAA", "2.AAAA", "hello \xff"};
    for (size_t at = 0; at < G_N_ELEMENTS(values); at++) {
        g_auto(LoopMark) mark = {0};
        g_autoptr(Message) message = mail("a@x.test");
        message_append(message, LOOP_MARK_FIELD, values[at]);
        loop_mark_read(keys, message, &mark);
        g_assert_cmpuint(mark.strange, ==, 1);
        g_assert_cmpuint(mark.depth, ==, 0);
        g_assert_null(mark.places);
    }
}

/* The mark of one mail on another one stops that at most: it is not taken for the same mail. */
static void stands_for_its_mail_alone(void)
{
    g_autoptr(LoopKeys) keys = keys_of("one", NULL);
    g_auto(LoopMark) none = {0}, mark = {0};
    g_autofree char *value = loop_mark_make(keys, &none, LOOP_POSTING, TALK, "a@x.test", "a@x.test");
    g_autoptr(Message) message = mail("b@x.test");
    loop_mark_put(message, value);
    loop_mark_read(keys, message, &mark);
    g_assert_true(loop_mark_has(&mark, LOOP_POSTING, TALK));
    g_assert_null(mark.origin);
}

/* A letter about a mail has an origin of its own; letters about such letters have one together. */
static void made_of_others(void)
{
    g_autoptr(LoopKeys) keys = keys_of("one", NULL);
    g_auto(LoopMark) first = {0}, second = {0}, other = {0};
    g_autoptr(Message) post = mail("a@x.test");
    loop_mark_read(keys, post, &first);
    loop_mark_derive(&first);
    g_assert_cmpuint(first.level, ==, 1);
    g_assert_null(first.origin);
    g_autoptr(Message) letter = marked(keys, &first, LOOP_LETTER, TALK, "l@x.test", first.origin);
    loop_mark_read(keys, letter, &second);
    loop_mark_derive(&second);
    g_assert_cmpuint(second.level, ==, 2);
    g_assert_cmpstr(second.origin, ==, "again: a@x.test");
    g_autoptr(Message) about = marked(keys, &second, LOOP_LETTER, NEWS, "m@x.test", second.origin);
    g_autoptr(Message) fresh = mail("b@x.test");
    loop_mark_read(keys, fresh, &other);
    loop_mark_read(keys, about, &other);
    loop_mark_derive(&other);
    g_assert_cmpuint(other.level, ==, 3);
    g_assert_cmpstr(other.origin, ==, "again: a@x.test");
    /* The deepest counts, also when it is read first. */
    g_auto(LoopMark) of_fresh = {0}, turned = {0};
    loop_mark_read(keys, fresh, &of_fresh);
    loop_mark_derive(&of_fresh);
    g_autoptr(Message) shallow = marked(keys, &of_fresh, LOOP_LETTER, TALK, "n@x.test", of_fresh.origin);
    loop_mark_read(keys, about, &turned);
    loop_mark_read(keys, shallow, &turned);
    loop_mark_derive(&turned);
    g_assert_cmpuint(turned.level, ==, 3);
    g_assert_cmpstr(turned.origin, ==, "again: a@x.test");
}

static void older_secret_is_read(void)
{
    g_autoptr(LoopKeys) before = keys_of("one", NULL), now = keys_of("two", "one");
    g_auto(LoopMark) none = {0}, mark = {0};
    g_autoptr(Message) message = marked(before, &none, LOOP_LETTER, TALK, "a@x.test", NULL);
    loop_mark_read(now, message, &mark);
    g_assert_true(loop_mark_has(&mark, LOOP_LETTER, TALK));
    g_assert_cmpuint(mark.strange, ==, 0);
}

/* Of a digest of many posts. Other hosts may fold the field elsewhere. */
static void many_places_and_other_folds(void)
{
    g_autoptr(LoopKeys) keys = keys_of("one", NULL);
    g_auto(LoopMark) many = {0}, mark = {0};
    for (unsigned at = 0; at < 500; at++) {
        g_autofree char *list = g_strdup_printf("%032x", 0);
        g_snprintf(list, 33, "%016x%016x", at + 1, 0);
        g_autoptr(Message) message = marked(keys, &(LoopMark){0}, LOOP_POSTING, list, "a@x.test", NULL);
        loop_mark_read(keys, message, &many);
    }
    g_assert_cmpuint(many.depth, ==, 1);
    g_assert_cmpuint(many.places->len, ==, 500);
    g_autofree char *value = loop_mark_make(keys, &many, LOOP_POSTING, TALK, "a@x.test", NULL);
    g_assert_cmpuint(strlen(value), <, 4000);
    for (char *at = strchr(value, '\r'); at; at = strchr(at, '\r'))
        *at = ' ', at[1] = ' ';
    g_autoptr(Message) message = mail("a@x.test");
    message_append(message, LOOP_MARK_FIELD, value);
    loop_mark_read(keys, message, &mark);
    g_assert_true(loop_mark_has(&mark, LOOP_POSTING, TALK));
    g_assert_cmpuint(mark.depth, ==, 2);
}

static void one_field_is_left(void)
{
    g_autoptr(Message) message = mail("a@x.test");
    message_append(message, LOOP_MARK_FIELD, "one");
    message_append(message, LOOP_MARK_FIELD, "two");
    loop_mark_put(message, "three");
    loop_mark_put(message, "three");
    g_autofree char *value = message_value(message, LOOP_MARK_FIELD);
    g_assert_cmpstr(value, ==, "three");
    g_assert_cmpuint(message_remove(message, LOOP_MARK_FIELD), ==, 1);
}

SUITE("loop_mark")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/loop_mark/says where it was", says_where_it_was);
    g_test_add_func("/loop_mark/tells a reader nothing", tells_a_reader_nothing);
    g_test_add_func("/loop_mark/strange ones say nothing", strange_ones_say_nothing);
    g_test_add_func("/loop_mark/stands for its mail alone", stands_for_its_mail_alone);
    g_test_add_func("/loop_mark/made of others", made_of_others);
    g_test_add_func("/loop_mark/older secret is read", older_secret_is_read);
    g_test_add_func("/loop_mark/many places and other folds", many_places_and_other_folds);
    g_test_add_func("/loop_mark/one field is left", one_field_is_left);
    return g_test_run();
}
