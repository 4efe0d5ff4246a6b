/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Runs mails through each handler alone and through all together, on a list whose settings give each something to do.
 * For t/e2e/test_handlers.py, which judges what comes out.
 *
 * Reads mails from the standard input, each as its length (32 bits, as the machine has them) and its bytes. For each
 * mail it writes, for every variant that changed it, the variant's name, a NUL, the length and the bytes; then a NUL.
 */
#include <stdio.h>

#include "posting/authenticity.h"
#include "posting/pipeline.h"
#include "store/lists/list_setting.h"
#include "t/posting/fixture.h"

static void make_busy(List *list)
{
    static const char *const types[] = {"image", "application/octet-stream", NULL}, *const topics[] = {"all: .", NULL};
    g_free(list->settings->msg_header);
    g_free(list->settings->msg_footer);
    list->settings->msg_header = g_strdup("Gr\u00fc\u00dfe an $display_name\n");
    list->settings->msg_footer = g_strdup("-- \n$list_name \u2014 \u7d42\u308f\u308a\n");
    list->settings->reply_goes_to_list = REPLY_POINT_TO_LIST;
    list->settings->first_strip_reply_to = list->settings->filter_content = list->settings->filter_report =
        list->settings->convert_html_to_plaintext = true;
    list->settings->collapse_alternatives = list->settings->topics_enabled =
        list->settings->dmarc_mitigate_unconditionally = true;
    list->settings->dmarc_mitigate_action = MITIGATION_MUNGE_FROM;
    list->settings->dmarc_wrapped_message_text = g_strdup("\u00c4hnliches\n");
    list->settings->filter_types = g_strdupv((char **)types);
    list->settings->topics = g_strdupv((char **)topics);
}

/* Return what leaves for the members, or else the message. */
static GBytes *result_of(const Post *post)
{
    const PostSend *send = post_send_find(post, POST_OUT);
    if (!send || !send->pieces)
        return message_octets(send && send->message ? send->message : post->message);
    GByteArray *all = g_byte_array_new();
    for (guint at = 0; at < send->pieces->len; at++) {
        size_t length;
        const guint8 *octets = g_bytes_get_data(send->pieces->pdata[at], &length);
        g_byte_array_append(all, octets, (guint)length);
    }
    return g_byte_array_free_to_bytes(all);
}

static void put(const char *name, GBytes *before, const Post *post)
{
    g_autoptr(GBytes) after = result_of(post);
    if (post->end != POST_GOES || g_bytes_equal(before, after))
        return;
    size_t length;
    const void *octets = g_bytes_get_data(after, &length);
    uint32_t size = (uint32_t)length;
    fwrite(name, 1, strlen(name) + 1, stdout);
    fwrite(&size, sizeof size, 1, stdout);
    fwrite(octets, 1, length, stdout);
}

static Post *begin(Bench *bench, const PostSite *site, GBytes *mail)
{
    Post *post = bench_post_bytes(bench, mail);
    post->site = site;
    post->message_id = "made-up@example.com";
    return post;
}

static void run_alone(Bench *bench, const PostSite *site, GBytes *mail, const Handler *handler, const char *name)
{
    g_autoptr(GError) error = NULL;
    Post *post = begin(bench, site, mail);
    bool behind = handler == &handler_dmarc || handler == &handler_decorate || handler == &handler_dkim_sign;
    if (behind && !handler_to_outgoing.process(post, &error))
        g_error("to-outgoing: %s", error->message);
    if (!handler->process(post, &error))
        g_error("%s: %s", name, error->message);
    put(name, mail, post);
}

static void run_all(Bench *bench, const PostSite *site, GBytes *mail, const char *name)
{
    g_autoptr(GError) error = NULL;
    Post *post = begin(bench, site, mail);
    if (!pipeline_run(&pipeline_posting, post, &error))
        g_error("%s: %s", name, error->message);
    put(name, mail, post);
}

static void run_mail(Bench *bench, const PostSite *site, GBytes *mail)
{
    List *list = bench->list;
    for (const Handler *const *handler = handlers; *handler; handler++)
        if (*handler != &handler_digest_recipients) /* it wants an issue of a digest */
            run_alone(bench, site, mail, *handler, (*handler)->name);
    run_all(bench, site, mail, "all");
    list->settings->dmarc_mitigate_action = MITIGATION_WRAP_MESSAGE;
    run_alone(bench, site, mail, &handler_dmarc, "dmarc wrap");
    run_all(bench, site, mail, "all wrap");
    list->settings->dmarc_mitigate_action = MITIGATION_MUNGE_FROM;
    list->settings->anonymous_list = true;
    run_alone(bench, site, mail, &handler_cleanse, "cleanse anonymous");
    run_all(bench, site, mail, "all anonymous");
    list->settings->anonymous_list = false;
    fputc('\0', stdout);
    fflush(stdout);
}

int main(void)
{
    Bench bench = {0};
    PostSite site = {.header_match_target = "hold", .remove_dkim = true};
    bench_set_up(&bench, NULL);
    make_busy(bench.list);
    for (uint32_t size; fread(&size, sizeof size, 1, stdin) == 1;) {
        g_autofree char *octets = g_malloc(size);
        if (fread(octets, 1, size, stdin) != size)
            g_error("a mail breaks off");
        g_autoptr(GBytes) mail = g_bytes_new(octets, size);
        run_mail(&bench, &site, mail);
    }
    bench_tear_down(&bench, NULL);
    return 0;
}
