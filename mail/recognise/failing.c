/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* How a mail system says, in some language, that delivery failed: one phrase, or two that stand in one paragraph. */
#include <string.h>

#include "mail/recognise/report.h"

/* Lower case. Where the first letter may be an accented capital, it is left out. */
static const Failing near_failings[] = {
    {"not be delivered", NULL},
    {"n't be delivered", NULL},
    {"cannot be delivered", NULL},
    {"unable to deliver", NULL},
    {"not able to deliver", NULL},
    {"delivery fail", NULL},
    {"delivery has fail", NULL},
    {"was not delivered", NULL},
    {"wasn't delivered", NULL},
    {"not deliver your", NULL},
    {"undeliverable", NULL},
    {"did not reach", NULL},
    {"did not receive", NULL},
    {"failed recipient", NULL},
    {"recipient(s) failed", NULL},
    {"has failed", NULL},
    {"recipients failed", NULL},
    {"delivery error", NULL},
    {"permanent error", NULL},
    {"not delivered to the following", NULL},
    {"attempting to deliver", NULL},
    {"wasn't able to deliver", NULL},
    {"error delivering", NULL},
    {"could not deliver", NULL},
    {"could not be reached", NULL},
    {"failed to deliver", NULL},
    {"were rejected", NULL},
    {"was rejected", NULL},
    {"failed permanently", NULL},
    {"problem delivering", NULL},
    {"has been blocked", NULL},
    {"was aborted", NULL},
    {"transcript of session follows", NULL},
    {"delivery", "failed"},
    {"could not be sent", NULL},
    {"unknown address", NULL},
    {"addresses were unknown", NULL},
    /* German */
    {"nicht", "zugestellt"},
    {"nicht", "zustell"},
    {"nicht", "erreich"},
    {"fehler", "zustellung"},
    {"fehlgeschlagen", NULL},
    {"unzustellbar", NULL},
    /* French */
    {"pas", "remis"},
    {"pas parvenu", NULL},
    {"pas", "distribu"},
    {"ne peut", "joint"},
    {"echec de", NULL},
    {"impossible de", "remettre"},
    {"impossible de", "livrer"},
    /* Spanish */
    {"no se pud", NULL},
    {"no se puede", NULL},
    {"no se ha pod", NULL},
    {"no ha pod", NULL},
    {"no ha sido", "entregad"},
    {"no se ha", "entregad"},
    {"no pudo", "entregad"},
    {"error de entrega", NULL},
    /* Italian */
    {"non", "recapit"},
    {"non", "consegn"},
    {"impossibile", "destinatari"},
    {"impossibile", "consegna"},
    {"mancata consegna", NULL},
    /* Portuguese */
    {"falha na entrega", NULL},
    /* Dutch */
    {"niet", "bereikt"},
    {"niet", "bezorg"},
    {"niet", "afgeleverd"},
    {"bezorging", "mislukt"},
    {"onbestelbaar", NULL},
    /* Swedish, Danish, Norwegian, Finnish */
    {"inte", "lever"},
    {"ikke", "lever"},
    {"levering", "mislyk"},
    {"toimit", "ei voitu"},
    /* Polish, Czech, Slovak, Hungarian, Turkish */
    {"nie", "dostarcz"},
    {"sikertelen", NULL},
    {"teslim edilem", NULL},
    {"iletilemedi", NULL},
};

/* Beyond ASCII. */
static const Failing far_failings[] = {
    /* German */
    {"nicht", "\xc3\xbc" "bermittel"},
    /* French */
    {"pas pu \xc3\xaatre", NULL},
    {"\xc3\xa9" "chec de", "remise"},
    {"pas", "livr\xc3\xa9"},
    /* Spanish */
    {"no lleg\xc3\xb3", NULL},
    /* Portuguese */
    {"n\xc3\xa3o", "entreg"},
    {"n\xc3\xa3o foi poss\xc3\xadvel", NULL},
    /* Swedish, Danish, Norwegian, Finnish */
    {"toimit", "ep\xc3\xa4onnistui"},
    /* Polish, Czech, Slovak, Hungarian, Turkish */
    {"nie", "dor\xc4\x99" "cz"},
    {"doru\xc4\x8d", "nezda"},
    {"nedoru\xc4\x8d", NULL},
    {"nelze", "doru\xc4\x8d"},
    {"nebyl", "doru\xc4\x8d"},
    {"nem", "k\xc3\xa9zbes\xc3\xad"},
    /* Russian, Ukrainian */
    {"\xd0\xbd\xd0\xb5", "\xd0\xb4\xd0\xbe\xd1\x81\xd1\x82\xd0\xb0\xd0\xb2"},
    {"\xd1\x81\xd0\xb1\xd0\xbe\xd0\xb9 \xd0\xb4\xd0\xbe\xd1\x81\xd1\x82\xd0\xb0\xd0\xb2\xd0\xba\xd0\xb8", NULL},
    /* Japanese: cannot be sent, delivered, reached; sending or delivery failed; address unknown */
    {"\xe9\x80\x81\xe4\xbf\xa1\xe3\x81\xa7\xe3\x81\x8d\xe3\x81\xbe\xe3\x81\x9b\xe3\x82\x93", NULL},
    {"\xe9\x85\x8d\xe4\xbf\xa1\xe3\x81\xa7\xe3\x81\x8d\xe3\x81\xbe\xe3\x81\x9b\xe3\x82\x93", NULL},
    {"\xe9\x85\x8d\xe9\x80\x81\xe3\x81\xa7\xe3\x81\x8d\xe3\x81\xbe\xe3\x81\x9b\xe3\x82\x93", NULL},
    {"\xe5\xb1\x8a\xe3\x81\x8d\xe3\x81\xbe\xe3\x81\x9b\xe3\x82\x93", NULL},
    {"\xe9\x80\x81\xe4\xbf\xa1\xe3\x81\xab\xe5\xa4\xb1\xe6\x95\x97", NULL},
    {"\xe9\x85\x8d\xe4\xbf\xa1\xe3\x81\xab\xe5\xa4\xb1\xe6\x95\x97", NULL},
    {"\xe5\xae\x9b\xe5\x85\x88\xe4\xb8\x8d\xe6\x98\x8e", NULL},
    {"\xe9\x85\x8d\xe4\xbf\xa1\xe4\xb8\x8d\xe8\x83\xbd", NULL},
    {"\xe9\x85\x8d\xe4\xbf\xa1\xe3\x81\x95\xe3\x82\x8c\xe3\x81\xbe\xe3\x81\x9b\xe3\x82\x93", NULL},
    /* Chinese, both scripts: cannot be delivered, delivery failed, returned */
    {"\xe6\x97\xa0\xe6\xb3\x95", "\xe9\x80\x81\xe8\xbe\xbe"},
    {"\xe6\x9c\xaa\xe9\x80\x81\xe8\xbe\xbe", NULL},
    {"\xe6\x9c\xaa\xe8\x83\xbd\xe9\x80\x81\xe8\xbe\xbe", NULL},
    {"\xe6\x97\xa0\xe6\xb3\x95", "\xe6\x8a\x95\xe9\x80\x92"},
    {"\xe6\x8a\x95\xe9\x80\x92\xe5\xa4\xb1\xe8\xb4\xa5", NULL},
    {"\xe4\xbc\xa0\xe9\x80\x92", "\xe5\xa4\xb1\xe8\xb4\xa5"},
    {"\xe5\x8f\x91\xe9\x80\x81\xe5\xa4\xb1\xe8\xb4\xa5", NULL},
    {"\xe9\x80\x80\xe4\xbf\xa1", NULL},
    {"\xe9\x80\x80\xe5\x9b\x9e", NULL},
    {"\xe7\x84\xa1\xe6\xb3\x95", "\xe9\x81\x9e"},
    {"\xe7\x84\xa1\xe6\xb3\x95", "\xe9\x80\x81\xe9\x81\x94"},
    /* Korean: could not be delivered */
    {"\xeb\xb0\xb0\xeb\x8b\xac\xed\x95\x98\xec\xa7\x80 \xeb\xaa\xbb", NULL},
    {"\xeb\xb0\xb0\xeb\x8b\xac\xeb\x90\x98\xec\xa7\x80", NULL},
    {"\xec\xa0\x84\xeb\x8b\xac\xeb\x90\x98\xec\xa7\x80", NULL},
    {"\xec\xa0\x84\xec\x86\xa1\xed\x95\x98\xec\xa7\x80 \xeb\xaa\xbb", NULL},
};

/* Of two words the first is short and begins a word; the second may be inside one. */
static bool holds(const char *text, const Failing *failing)
{
    const char *one = strstr(text, failing->one);
    if (!one || !failing->two)
        return one;
    while (one && one > text && g_ascii_isalpha(one[-1]))
        one = strstr(one + 1, failing->one);
    return one && strstr(text, failing->two);
}

/* Scripts with capitals beyond ASCII have lead octets from 0xc3 (Latin) to 0xd4 (Cyrillic, Armenian). */
char *report_lower(const char *text, gssize length)
{
    gsize size = length < 0 ? strlen(text) : strnlen(text, (gsize)length);
    g_autofree char *lower = g_malloc(size + 1);
    bool capitals = false;
    for (gsize at = 0; at < size; at++) {
        lower[at] = ascii_lower(text[at]);
        capitals = capitals || ((unsigned char)text[at] >= 0xc3 && (unsigned char)text[at] <= 0xd4);
    }
    lower[size] = '\0';
    return capitals && g_utf8_validate_len(lower, size, NULL) ? g_utf8_strdown(lower, (gssize)size)
                                                               : g_steal_pointer(&lower);
}

static size_t seek_in(Report *report, const char *whole, const Failing *failings, size_t rows, size_t count)
{
    for (size_t at = 0; at < rows && count < FAILING_MAX; at++)
        if (holds(whole, &failings[at]))
            report->failing[count++] = &failings[at];
    return count;
}

/* Paragraphs are asked only for what the whole text holds. */
static void seek(Report *report)
{
    g_autofree char *whole = report_lower(report->flat->str, (gssize)report->flat->len);
    size_t count = seek_in(report, whole, near_failings, G_N_ELEMENTS(near_failings), 0);
    const char *at = whole;
    while ((signed char)*at > 0)
        at++;
    if (*at)
        seek_in(report, whole, far_failings, G_N_ELEMENTS(far_failings), count);
    report->sought = true;
}

bool report_fails(Report *report, const char *lower)
{
    if (!report->sought)
        seek(report);
    for (size_t at = 0; at < FAILING_MAX && report->failing[at]; at++)
        if (!lower || holds(lower, report->failing[at]))
            return true;
    return false;
}

/* Is it only a warning: will the mail be tried again? */
bool report_waits(const Report *report)
{
    static const char *const words[] = {
        "will be retried",
        "will retry",
        "keep trying",
        "keep on trying",
        "still being retried",
        "attempts will continue",
        "warning message only",
        "warning only",
        "not yet been delivered",
        "be delivered yet",
        "has been delayed",
        "noch nicht zugestellt",
        "weiter versucht",
        "weitere zustellversuche",
        "verz\xc3\xb6gert",
        "nouvelles tentatives",
        "est retard\xc3\xa9" "e",
        "se reintentar\xc3\xa1",
        "ulteriori tentativi",
        "\xe9\x85\x8d\xe4\xbf\xa1\xe3\x81\x8c\xe9\x81\x85"};
    static const char *const ends[] = {"giving up", "given up", "gave up", "permanent", "no further attempts"};
    for (size_t at = 0; at < G_N_ELEMENTS(ends); at++)
        if (report_says(report, ends[at]))
            return false;
    for (size_t at = 0; at < G_N_ELEMENTS(words); at++)
        if (report_says(report, words[at]))
            return true;
    return false;
}
