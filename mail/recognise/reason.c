/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/recognise/reason.h"

#include <string.h>

#include "mail/recognise/words.h"

/* The length of a status that begins at at ("5.1.1"); 0 when none does. */
static size_t status_length(const char *at)
{
    size_t length = 1;
    if (!strchr("245", *at) || *at == '\0')
        return 0;
    for (int part = 0; part < 2; part++) {
        size_t digits = at[length] == '.' ? strspn(at + length + 1, "0123456789") : 0;
        if (digits < 1 || digits > 3)
            return 0;
        length += 1 + digits;
    }
    return at[length] == '.' && g_ascii_isdigit(at[length + 1]) ? 0 : length;
}

void status_scan(const char *text, char status[STATUS_SIZE])
{
    status[0] = '\0';
    for (const char *at = strchr(text, '.'); at; at = strchr(at + 1, '.')) {
        const char *start = at - 1;
        size_t length = at > text ? status_length(start) : 0;
        if (length == 0 || (start > text && (g_ascii_isalnum(start[-1]) || strchr(".[-", start[-1])) &&
                            !(start - text >= 4 && start[-1] == '-' && g_ascii_isdigit(start[-2]))))
            continue;
        if (*start == '2')
            continue;
        bool vague = strncmp(start + 1, ".0.0", 4) == 0;
        if (status[0] && vague)
            continue;
        bool replace = !status[0] || (strncmp(status + 1, ".0.0", 4) == 0 && !vague);
        if (replace)
            g_strlcpy(status, start, MIN(length + 1, STATUS_SIZE));
        if (!vague)
            return;
    }
}

unsigned reply_scan(const char *text)
{
    static const char before[] = " \t\n:;('\"<#=>-";
    for (const char *at = strpbrk(text, "45"); at; at = strpbrk(at + 1, "45")) {
        if (!g_ascii_isdigit(at[1]) || at[1] > '9' || !g_ascii_isdigit(at[2]) || g_ascii_isalnum(at[3]))
            continue;
        if (at[1] > '5' || (at[3] && !strchr(" -\t\n:;,.'\")<#", at[3])))
            continue;
        if ((at[3] == '.' || at[3] == ',' || at[3] == ':') && g_ascii_isdigit(at[4]))
            continue;
        if (at == text || strchr(before, at[-1]))
            return (unsigned)(at[0] - '0') * 100 + (unsigned)(at[1] - '0') * 10 + (unsigned)(at[2] - '0');
    }
    return 0;
}

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

/* By subject and detail of RFC 3463; the class does not matter. */
static const Clue codes[] = {
    {".1.1", "user-unknown"},
    {".1.2", "host-unknown"},
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

static const char *reason_of(const char *status, const char *text)
{
    static const char *const plain[] = {".1.1", ".1.2", ".1.10", ".2.2", ".7.26"}; /* words add nothing to these */
    for (size_t i = 0; status && *status && i < G_N_ELEMENTS(plain); i++)
        for (size_t at = 0; strcmp(status + 1, plain[i]) == 0 && at < G_N_ELEMENTS(codes); at++)
            if (strcmp(plain[i], codes[at].words) == 0)
                return codes[at].reason;
    const char *told = text ? reason_in(text) : NULL;
    if (told)
        return told;
    for (size_t at = 0; status && *status && at < G_N_ELEMENTS(codes); at++)
        if (strcmp(status + 1, codes[at].words) == 0)
            return codes[at].reason;
    g_autofree char *lower = text && *text ? words_lower(text, -1) : NULL;
    const char *foreign = lower ? words_reason_of(lower) : NULL;
    if (foreign)
        return foreign;
    return status && g_str_has_prefix(status, "5.7.") ? "policy" : "undefined";
}

/* What a reason is about, and how much it says about an address; a reason that is not here is about the recipient, and
 * hard. */
static const struct {
    const char *reason;
    BounceAbout about;
} kinds[] = {
    {"rate-limited", BOUNCE_ABOUT_SENDER}, {"authentication", BOUNCE_ABOUT_SENDER}, {"blocked", BOUNCE_ABOUT_SENDER},
    {"sender", BOUNCE_ABOUT_SENDER},       {"spam", BOUNCE_ABOUT_MESSAGE},          {"content", BOUNCE_ABOUT_MESSAGE},
    {"too-large", BOUNCE_ABOUT_MESSAGE},
};
static const char *const soft[] = {"mailbox-full", "expired", "network", "policy", "relaying", "loop", "system", NULL};

BounceVerdict verdict_of(const Refusal *refusal)
{
    BounceVerdict verdict = {.class = refusal->class, .reason = reason_of(refusal->status, refusal->text)};
    bool taken = refusal->phase == BOUNCE_PHASE_DATA || refusal->phase == BOUNCE_PHASE_END;
    for (size_t at = 0; at < G_N_ELEMENTS(kinds); at++)
        if (strcmp(kinds[at].reason, verdict.reason) == 0)
            verdict.about = kinds[at].about;
    if (refusal->own_relay && strcmp(verdict.reason, "relaying") == 0)
        verdict.about = BOUNCE_ABOUT_SENDER;
    bool early = refusal->phase != BOUNCE_PHASE_UNKNOWN && refusal->phase < BOUNCE_PHASE_RCPT;
    if (early && verdict.about == BOUNCE_ABOUT_RECIPIENT && reply_scan(refusal->text)) {
        verdict.about = BOUNCE_ABOUT_SENDER;
        verdict.reason = "sender";
    }
    bool passing = verdict.class != BOUNCE_PERMANENT || taken || g_strv_contains(soft, verdict.reason);
    verdict.soft = verdict.about == BOUNCE_ABOUT_RECIPIENT && passing;
    return verdict;
}

void recipient_judge(BounceRecipient *recipient, const char *status, const char *text)
{
    BounceVerdict verdict = verdict_of(&(Refusal){.class = recipient->class, .status = status, .text = text});
    recipient->about = verdict.about;
    recipient->soft = verdict.soft;
    recipient->reason = verdict.reason;
}
