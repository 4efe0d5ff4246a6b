/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "mail/bounce/clause.h"
#include "mail/bounce/report.h"

const char *const bounce_reasons[] = {
    "user-unknown", "mailbox-full", "mailbox-disabled", "host-unknown", "too-large", "expired",
    "network",      "rate-limited", "authentication",   "blocked",      "spam",      "policy",
    "relaying",     "loop",         "challenge",        "system",       "sender",    "content", "undefined", NULL,
};

typedef struct Clue {
    const char *words; /* lower case */
    const char *reason;
} Clue;

/* The first that is found tells; so the particular stand before the general. Each begins with two small letters. */
static const Clue words[] = {
    {"requires confirmation", "challenge"},
    {"mailbox is full", "mailbox-full"},
    {"mailbox full", "mailbox-full"},
    {"folder is full", "mailbox-full"},
    {"quota", "mailbox-full"},
    {"out of storage", "mailbox-full"},
    {"exceeds allowed size", "mailbox-full"},
    {"space not enough", "mailbox-full"},
    {"insufficient disk", "mailbox-full"},
    {"not enough space", "mailbox-full"},
    {"too large", "too-large"},
    {"too big", "too-large"},
    {"message size", "too-large"},
    {"size limit", "too-large"},
    {"too many hops", "loop"},
    {"hop count", "loop"},
    {"mail loop", "loop"},
    {"looping", "loop"},
    {"loops back", "loop"},
    {"too quickly", "rate-limited"},
    {"rate limit", "rate-limited"},
    {"rate that", "rate-limited"},
    {"unexpected volume", "rate-limited"},
    {"too many messages", "rate-limited"},
    {"too many connections", "rate-limited"},
    {"greylist", "rate-limited"},
    {"graylist", "rate-limited"},
    {"dmarc", "authentication"},
    {"dkim", "authentication"},
    {"unauthenticated", "authentication"},
    {"sender policy framework", "authentication"},
    {"spf", "authentication"},
    {"relaying denied", "relaying"},
    {"no relaying", "relaying"},
    {"relay access denied", "relaying"},
    {"unable to relay", "relaying"},
    {"relaying not", "relaying"},
    {"not permitted to relay", "relaying"},
    {"rcpthosts", "relaying"},
    {"user unknown", "user-unknown"},
    {"unknown user", "user-unknown"},
    {"unknown recipient", "user-unknown"},
    {"recipient unknown", "user-unknown"},
    {"no such user", "user-unknown"},
    {"no such recipient", "user-unknown"},
    {"no such mailbox", "user-unknown"},
    {"no such address", "user-unknown"},
    {"no mailbox", "user-unknown"},
    {"mailbox not found", "user-unknown"},
    {"recipient not found", "user-unknown"},
    {"user not found", "user-unknown"},
    {"does not exist", "user-unknown"},
    {"doesn't exist", "user-unknown"},
    {"not listed in", "user-unknown"},
    {"invalid mailbox", "user-unknown"},
    {"invalid recipient", "user-unknown"},
    {"invalid address", "user-unknown"},
    {"illegal alias", "user-unknown"},
    {"name is not recognized", "user-unknown"},
    {"wasn't found", "user-unknown"},
    {"disabled", "mailbox-disabled"},
    {"inactive", "mailbox-disabled"},
    {"discontinued", "mailbox-disabled"},
    {"suspended", "mailbox-disabled"},
    {"deactivated", "mailbox-disabled"},
    {"host unknown", "host-unknown"},
    {"unknown host", "host-unknown"},
    {"host not found", "host-unknown"},
    {"domain not found", "host-unknown"},
    {"couldn't find any host", "host-unknown"},
    {"unrouteable", "host-unknown"},
    {"unroutable", "host-unknown"},
    {"dns lookup", "host-unknown"},
    {"name service error", "host-unknown"},
    {"no mail exchanger", "host-unknown"},
    {"mail exchanger", "host-unknown"},
    {"no smtp service", "host-unknown"},
    {"spam", "spam"},
    {"virus", "spam"},
    {"junk", "spam"},
    {"unsolicited", "spam"},
    {"blacklist", "blocked"},
    {"blocklist", "blocked"},
    {"black list", "blocked"},
    {"blocked", "blocked"},
    {"reputation", "blocked"},
    {"banned", "blocked"},
    {"reverse dns", "blocked"},
    {"ptr record", "blocked"},
    {"policy", "policy"},
    {"access denied", "policy"},
    {"not accepted", "policy"},
    {"not allowed", "policy"},
    {"content reject", "policy"},
    {"retry timeout", "expired"},
    {"too long", "expired"},
    {"expired", "expired"},
    {"giving up", "expired"},
    {"gave up", "expired"},
    {"timed out", "network"},
    {"timeout", "network"},
    {"connection refused", "network"},
    {"connection reset", "network"},
    {"no route", "network"},
    {"unreachable", "network"},
    {"socket error", "network"},
    {"lost connection", "network"},
    {"mailbox unavailable", "user-unknown"},
    {"address rejected", "user-unknown"},
    {"command died", "system"},
    {"system error", "system"},
    {"configuration", "system"},
};

#define TEXT_OF_REPLY 300 /* bytes of a reply that tell its kind */

/* By subject and detail of RFC 3463; the class does not matter. */
static const Clue codes[] = {
    {".1.1", "user-unknown"},
    {".1.2", "host-unknown"},
    {".1.7", "sender"},
    {".1.8", "sender"},
    {".1.3", "user-unknown"},
    {".1.6", "user-unknown"},
    {".1.10", "user-unknown"},
    {".1.0", "user-unknown"},
    {".2.1", "mailbox-disabled"},
    {".2.2", "mailbox-full"},
    {".2.3", "too-large"},
    {".3.1", "mailbox-full"},
    {".3.4", "too-large"},
    {".3.0", "system"},
    {".3.5", "system"},
    {".4.1", "network"},
    {".4.2", "network"},
    {".4.4", "host-unknown"},
    {".4.6", "loop"},
    {".4.7", "expired"},
    {".4.14", "loop"},
    {".7.1", "policy"},
    {".7.23", "authentication"},
    {".7.25", "blocked"},
    {".7.27", "sender"},
    {".7.54", "relaying"},
    {".7.57", "authentication"},
    {".7.60", "authentication"},
    {".7.64", "relaying"},
    {".7.26", "authentication"},
    {".7.20", "authentication"},
    {".7.9", "authentication"},
    {".7.28", "rate-limited"},
};

#define NO_ROW G_N_ELEMENTS(words)

/* The rows of words by their first two letters: where each list begins, and what follows each row. */
static guint8 begin[26 * 26], next[G_N_ELEMENTS(words)];
G_STATIC_ASSERT(G_N_ELEMENTS(words) < 255);

static size_t pair_of(const char *at)
{
    return (size_t)(at[0] - 'a') * 26 + (size_t)(at[1] - 'a');
}

static void index_words(void)
{
    static gsize done;
    if (!g_once_init_enter(&done))
        return;
    memset(begin, NO_ROW, sizeof begin);
    for (size_t row = NO_ROW; row-- > 0;) {
        guint8 *list = &begin[pair_of(words[row].words)];
        next[row] = *list;
        *list = (guint8)row;
    }
    g_once_init_leave(&done, 1);
}

static bool is_letter(char octet)
{
    return octet >= 'a' && octet <= 'z';
}

/* The first row of which the text has the words, beginning where a word begins. */
static const char *reason_in(const char *text)
{
    index_words();
    size_t length = strlen(text), best = NO_ROW;
    g_autofree char *lower = g_malloc(length + 1);
    for (size_t at = 0; at <= length; at++)
        lower[at] = g_ascii_isupper(text[at]) ? (char)(text[at] | 0x20) : text[at];
    bool inside = false; /* a word */
    for (const char *at = lower; *at; at++) {
        bool starts = !inside && is_letter(at[0]) && is_letter(at[1]);
        for (size_t row = starts ? begin[pair_of(at)] : NO_ROW; row < best; row = next[row])
            if (g_str_has_prefix(at, words[row].words))
                best = row;
        inside = is_letter(*at);
    }
    return best < NO_ROW ? words[best].reason : NULL;
}

static const char *code_reason(const char *status)
{
    for (size_t at = 0; *status && at < G_N_ELEMENTS(codes); at++)
        if (strcmp(status + 1, codes[at].words) == 0)
            return codes[at].reason;
    bool of_exchange = g_str_has_prefix(status + (*status != '\0'), ".7.") && strlen(status) == 7;
    return of_exchange && strchr("56", status[4]) ? "blocked" : NULL; /* 5.7.511, 5.7.606: the sending host is banned */
}

/* Words add nothing to these. */
static bool is_certain(const char *status)
{
    static const char *const plain[] = {".1.1", ".1.2", ".1.10", ".2.2", NULL};
    return *status && g_strv_contains(plain, status + 1);
}

/* A word of bounce_reasons, by the words that name it in any clause, and by the status. */
static const char *reason_of(const char *status, const char *text)
{
    if (is_certain(status) || g_str_has_suffix(status, ".7.26"))
        return code_reason(status);
    const char *told = reason_in(text);
    if (!told)
        told = code_reason(status);
    if (told)
        return told;
    g_autofree char *lower = *text ? words_lower(text, -1) : NULL;
    const char *foreign = lower ? words_reason_of(lower) : NULL;
    if (foreign)
        return foreign;
    return g_str_has_prefix(status, "5.7.") ? "policy" : "undefined";
}

/* Reasons that are not the recipient's; all others are. */
static const struct {
    const char *reason;
    BounceAbout about;
} not_recipients[] = {
    {"rate-limited", BOUNCE_ABOUT_SENDER}, {"authentication", BOUNCE_ABOUT_SENDER}, {"blocked", BOUNCE_ABOUT_SENDER},
    {"sender", BOUNCE_ABOUT_SENDER},       {"spam", BOUNCE_ABOUT_MESSAGE},          {"content", BOUNCE_ABOUT_MESSAGE},
    {"too-large", BOUNCE_ABOUT_MESSAGE},
};

static BounceAbout about_of(const char *reason)
{
    for (size_t at = 0; at < G_N_ELEMENTS(not_recipients); at++)
        if (strcmp(not_recipients[at].reason, reason) == 0)
            return not_recipients[at].about;
    return BOUNCE_ABOUT_RECIPIENT;
}

/* Judge the words alone: the clauses first, which know who is refused; then the words that stand for a reason wherever
 * they are; and last what a reply is most likely about that says nothing else. */
static void judge_words(const char *status, const char *text, BounceVerdict *verdict)
{
    /* Reasons that refusals of a host are given, too, where the reply names its address. */
    static const char *const vague[] = {"undefined", "policy", "user-unknown", "host-unknown", NULL};
    static const char *const vague_of_mail[] = {"undefined", "policy", "blocked", NULL};
    bool certain = is_certain(status);
    ClauseReading reading = clause_read(status, certain, text);
    verdict->reason = reading.reason ? reading.reason : reason_of(status, text);
    verdict->about = reading.reason ? reading.about : about_of(verdict->reason);
    if (reading.reason || certain)
        return;
    if (reading.of_content && g_strv_contains(vague_of_mail, verdict->reason)) {
        verdict->reason = "content";
        verdict->about = BOUNCE_ABOUT_MESSAGE;
    } else if (reading.names_client && g_strv_contains(vague, verdict->reason)) {
        verdict->reason = "blocked";
        verdict->about = BOUNCE_ABOUT_SENDER;
    } else if (reading.of_mail && g_strv_contains(vague_of_mail, verdict->reason)) {
        verdict->reason = "policy";
        verdict->about = BOUNCE_ABOUT_MESSAGE;
    }
}

BounceVerdict verdict_of(const BounceReply *reply, BounceClass class)
{
    static const char *const soft[] = {"mailbox-full", "expired", "network", "policy", "relaying", "loop", "system",
                                       NULL};
    BounceVerdict verdict = {.class = class};
    bool early = reply->phase != BOUNCE_PHASE_UNKNOWN && reply->phase < BOUNCE_PHASE_RCPT;
    bool taken = reply->phase == BOUNCE_PHASE_DATA || reply->phase == BOUNCE_PHASE_END;
    judge_words(reply->status, reply->text, &verdict);
    if (reply->own_relay && strcmp(verdict.reason, "relaying") == 0)
        verdict.about = BOUNCE_ABOUT_SENDER;
    if (early && verdict.about == BOUNCE_ABOUT_RECIPIENT && reply_scan(reply->text)) {
        verdict.about = BOUNCE_ABOUT_SENDER;
        verdict.reason = "sender";
    }
    bool passing = verdict.class != BOUNCE_PERMANENT || taken || g_strv_contains(soft, verdict.reason);
    verdict.soft = verdict.about == BOUNCE_ABOUT_RECIPIENT && passing;
    return verdict;
}

void recipient_judge(BounceRecipient *recipient, const char *status, const char *text)
{
    BounceVerdict verdict = verdict_of(&(BounceReply){.phase = recipient->phase, .status = status, .text = text},
                                       recipient->class);
    recipient->about = verdict.about;
    recipient->soft = verdict.soft;
    recipient->reason = verdict.reason;
}

static bool same_word(const char *word, size_t length, const char *other, size_t other_length)
{
    return length == other_length && length > 0 && g_ascii_strncasecmp(word, other, length) == 0;
}

/* Words end at blanks and at what encloses or divides them; one that has a digit, or is of the address, becomes #. */
char *bounce_reply_key(const char *text, const char *address)
{
    const char *at = reply_find(text), *host = strrchr(address, '@');
    size_t local = host ? (size_t)(host - address) : strlen(address);
    host = host ? host + 1 : "";
    g_autofree char *lower = words_lower(at ? at : text, 2 * TEXT_OF_REPLY);
    GString *key = g_string_new(NULL);
    for (at = lower; *at && key->len < BOUNCE_REPLY_KEY - 1;) {
        size_t length = strcspn(at, " \t<>()[]{},;:=\"'");
        bool of_one = memchr(at, '@', length) || same_word(at, length, address, local) ||
                      same_word(at, length, host, strlen(host));
        for (size_t i = 0; i < length; i++)
            of_one |= g_ascii_isdigit(at[i]);
        if (of_one)
            g_string_append_c(key, '#');
        else
            g_string_append_len(key, at, (gssize)length);
        at += length;
        if (*at && (!strchr(" \t", *at) || (key->len > 0 && key->str[key->len - 1] != ' ')))
            g_string_append_c(key, *at == '\t' ? ' ' : *at);
        at += *at != '\0';
    }
    g_string_truncate(key, MIN(key->len, BOUNCE_REPLY_KEY));
    char *valid = g_utf8_make_valid(key->str, (gssize)key->len);
    g_string_free(key, TRUE);
    return valid;
}
