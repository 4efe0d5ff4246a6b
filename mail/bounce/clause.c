/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/bounce/clause.h"

#include <string.h>

#include "mail/bounce/report.h"

#define READ_LIMIT 4096 /* bytes of a text that are read */
#define NAME_LIMIT 300  /* bytes of an address or a URL */

/* The part of a word in a clause. The subjects come first. */
typedef enum ClausePart {
    SENDER,    /* the address that the mail comes from */
    CLIENT,    /* the host that sends it */
    HELLO,     /* the name that it gave */
    OUTGOING,  /* what an account sends: it is the sender's account */
    BLOCKLIST,
    RELAY,
    PROOF,     /* of who sends */
    PERSON,    /* the recipient, or its mailbox */
    FORM,      /* of the message */
    CONTENT,
    MAIL,      /* the message as a whole */
    POLICY,
    SUBJECTS,
    REFUSED = SUBJECTS,
    NEGATED, /* a demand, or something that cannot be */
    ABSENT,
    CLOSED,
    FULL,
    LISTED,
    MANY,
    NOBODY,    /* a recipient that is absent, in one phrase */
    NOTHING,   /* a phrase that holds a word of the others, and means nothing */
} ClausePart;

typedef struct ClauseWord {
    const char *text; /* lower case; with * at its end the beginning of words, else whole words */
    ClausePart part;
} ClauseWord;

/* clang-format off */
static const ClauseWord words[] = {
    {"sender*", SENDER}, {"from address", SENDER}, {"from header", SENDER}, {"from: header", SENDER},
    {"valid from", SENDER}, {"return-path", SENDER}, {"return path", SENDER}, {"reverse-path", SENDER},
    {"envelope from", SENDER}, {"envelope-from", SENDER}, {"sending domain", SENDER}, {"originator", SENDER},
    {"purported responsible", SENDER}, {"mail from address", SENDER}, {"mail from domain", SENDER},
    {"absender*", SENDER}, {"expéditeur*", SENDER}, {"expediteur*", SENDER}, {"remitente*", SENDER},
    {"remetente*", SENDER}, {"mittente*", SENDER}, {"nadawc*", SENDER}, {"afzender*", SENDER}, {"avsändar*", SENDER},
    {"afsender*", SENDER}, {"odesílatel*", SENDER}, {"отправител*", SENDER}, {"发件人", SENDER}, {"发信人", SENDER},
    {"寄件人", SENDER}, {"寄件者", SENDER}, {"送信者", SENDER}, {"差出人", SENDER}, {"발신자", SENDER},

    {"client*", CLIENT}, {"ip", CLIENT}, {"ips", CLIENT}, {"ip-adress*", CLIENT}, {"reverse dns", CLIENT},
    {"rdns", CLIENT}, {"ptr", CLIENT}, {"reverse hostname", CLIENT}, {"reverse lookup", CLIENT},
    {"your host*", CLIENT}, {"your server*", CLIENT}, {"your mail server*", CLIENT}, {"your network", CLIENT},
    {"your isp", CLIENT}, {"your system", CLIENT}, {"your mta", CLIENT}, {"your provider", CLIENT},
    {"your smtp server", CLIENT}, {"sending mta", CLIENT}, {"sending host*", CLIENT}, {"sending server*", CLIENT},
    {"sending system", CLIENT}, {"sending mail server", CLIENT}, {"connecting host", CLIENT},
    {"connecting server", CLIENT}, {"host network", CLIENT}, {"ip地址", CLIENT},

    {"helo", HELLO}, {"ehlo", HELLO},

    {"for sending", OUTGOING}, {"outgoing", OUTGOING}, {"outbound", OUTGOING}, {"sending limit*", OUTGOING},
    {"sending quota", OUTGOING}, {"sending rate", OUTGOING},

    {"dnsbl*", BLOCKLIST}, {"rbl*", BLOCKLIST}, {"rhsbl*", BLOCKLIST}, {"blocklist*", BLOCKLIST},
    {"block list*", BLOCKLIST}, {"block-list*", BLOCKLIST}, {"blacklist*", BLOCKLIST}, {"black list*", BLOCKLIST},
    {"black-list*", BLOCKLIST}, {"denylist*", BLOCKLIST}, {"deny list*", BLOCKLIST}, {"blocking list*", BLOCKLIST},
    {"reputation", BLOCKLIST}, {"liste noire", BLOCKLIST}, {"listes noires", BLOCKLIST}, {"lista negra", BLOCKLIST},
    {"listas negras", BLOCKLIST}, {"lista nera", BLOCKLIST}, {"liste nere", BLOCKLIST}, {"sperrliste*", BLOCKLIST},
    {"schwarze liste", BLOCKLIST}, {"schwarzen liste", BLOCKLIST}, {"czarnej li*", BLOCKLIST},
    {"zwarte lijst", BLOCKLIST}, {"черном списке", BLOCKLIST}, {"чёрном списке", BLOCKLIST},
    {"черный список", BLOCKLIST}, {"чёрный список", BLOCKLIST}, {"черных списк*", BLOCKLIST}, {"黑名单", BLOCKLIST},
    {"黑名單", BLOCKLIST}, {"ブラックリスト", BLOCKLIST}, {"블랙리스트", BLOCKLIST}, {"spamhaus*", BLOCKLIST},
    {"spamcop*", BLOCKLIST}, {"sorbs*", BLOCKLIST}, {"uceprotect*", BLOCKLIST}, {"barracudacentral*", BLOCKLIST},
    {"uribl*", BLOCKLIST}, {"surbl*", BLOCKLIST}, {"listed at", BLOCKLIST}, {"listed by", BLOCKLIST},
    {"listed on", BLOCKLIST}, {"listed in", BLOCKLIST}, {"not listed", ABSENT}, {"found on one or more", BLOCKLIST},

    {"relay*", RELAY}, {"rcpthosts", RELAY},

    {"authenticat*", PROOF}, {"unauthenticated", PROOF}, {"starttls", PROOF}, {"tls", PROOF}, {"encrypt*", PROOF},
    {"spf", PROOF}, {"dkim", PROOF}, {"dmarc", PROOF}, {"smtp auth", PROOF}, {"auth", PROOF},

    {"recipient*", PERSON}, {"user", PERSON}, {"users", PERSON}, {"user's", PERSON}, {"username", PERSON},
    {"userid", PERSON}, {"mailbox*", PERSON}, {"mail box", PERSON}, {"inbox", PERSON}, {"account*", PERSON},
    {"addressee*", PERSON}, {"alias", PERSON}, {"mailfolder", PERSON}, {"mail folder", PERSON}, {"address", PERSON},
    {"email address", PERSON}, {"subscriber", PERSON}, {"customer", PERSON}, {"person", PERSON}, {"rcpt", PERSON},
    {"forward-path", PERSON}, {"ip address*", CLIENT}, {"sender address*", SENDER}, {"client address", CLIENT},
    {"invalid recipients", MANY}, {"bad recipients", MANY}, {"empfänger*", PERSON}, {"benutzer*", PERSON},
    {"postfach*", PERSON}, {"konto", PERSON}, {"destinataire*", PERSON}, {"utilisateur*", PERSON}, {"compte", PERSON},
    {"boîte", PERSON}, {"destinatari*", PERSON}, {"usuario*", PERSON}, {"usuário*", PERSON}, {"utente*", PERSON},
    {"cuenta", PERSON}, {"conta", PERSON}, {"casella", PERSON}, {"odbiorc*", PERSON}, {"adresat*", PERSON},
    {"получател*", PERSON}, {"адресат*", PERSON}, {"пользовател*", PERSON}, {"ящик*", PERSON}, {"收件人", PERSON},
    {"收信人", PERSON}, {"用户", PERSON}, {"邮箱", PERSON}, {"宛先", PERSON},

    {"header*", FORM}, {"line", FORM}, {"lines", FORM}, {"message-id", FORM}, {"mime", FORM}, {"bare lf", FORM},
    {"bare linefeed*", FORM}, {"bare newline*", FORM}, {"8-bit", FORM}, {"8bit", FORM}, {"nul byte*", FORM},
    {"null byte*", FORM}, {"rfc 5322", FORM}, {"rfc 2822", FORM}, {"rfc5322", FORM}, {"rfc2822", FORM},

    {"content*", CONTENT}, {"attachment*", CONTENT}, {"attached file*", CONTENT}, {"body", CONTENT},
    {"inhalt*", CONTENT}, {"contenu", CONTENT}, {"contenido", CONTENT}, {"contenuto", CONTENT},
    {"содержим*", CONTENT}, {"内容", CONTENT},

    {"message", MAIL}, {"messages", MAIL}, {"mail", MAIL}, {"mails", MAIL}, {"email", MAIL}, {"e-mail", MAIL},
    {"nachricht*", MAIL}, {"mensaje*", MAIL}, {"messaggi*", MAIL}, {"mensagem", MAIL}, {"сообщени*", MAIL},
    {"письмо", MAIL}, {"邮件", MAIL}, {"郵件", MAIL}, {"メール", MAIL}, {"mail system", NOTHING}, {"mail server", NOTHING},
    {"mail host", NOTHING}, {"mail domain", NOTHING}, {"mail filter", MAIL}, {"user-agent", NOTHING},
    {"user agent", NOTHING},

    {"polic*", POLICY}, {"administrative prohibition", POLICY}, {"administratively", POLICY}, {"richtlinie*", POLICY},
    {"politique*", POLICY}, {"política*", POLICY}, {"politica*", POLICY}, {"политик*", POLICY}, {"策略", POLICY},

    {"reject*", REFUSED}, {"refus*", REFUSED}, {"denied", REFUSED}, {"deny", REFUSED}, {"decline*", REFUSED},
    {"block", REFUSED}, {"blocked", REFUSED}, {"blocks", REFUSED}, {"banned", REFUSED}, {"prohibit*", REFUSED},
    {"forbidden", REFUSED}, {"disallow*", REFUSED}, {"not allow*", REFUSED}, {"not permit*", REFUSED},
    {"not accept*", REFUSED}, {"unacceptable", REFUSED}, {"not authorized", REFUSED}, {"not authorised", REFUSED},
    {"unauthorized", REFUSED}, {"not owned", REFUSED}, {"not verified", REFUSED}, {"unverified", REFUSED},
    {"unverifiable", REFUSED}, {"verify", REFUSED}, {"verification", REFUSED}, {"fail*", REFUSED},
    {"error*", REFUSED}, {"invalid", REFUSED}, {"bad", REFUSED}, {"malformed", REFUSED}, {"violat*", REFUSED},
    {"missing", REFUSED}, {"required", NEGATED}, {"must", NEGATED}, {"require", NEGATED}, {"requires", NEGATED},
    {"need*", NEGATED}, {"multiple", REFUSED}, {"duplicate*", REFUSED}, {"improper", REFUSED}, {"syntax", REFUSED},
    {"unable", NEGATED}, {"cannot", NEGATED}, {"can't", NEGATED}, {"could not", NEGATED}, {"do not", NEGATED},
    {"don't", NEGATED}, {"does not", NEGATED}, {"not configured", NEGATED}, {"no", NEGATED}, {"not", NEGATED},
    {"mismatch*", REFUSED}, {"spoof*", REFUSED}, {"forged", REFUSED}, {"too long", REFUSED}, {"length", REFUSED},
    {"long", REFUSED}, {"longer", REFUSED}, {"exceeds", REFUSED}, {"dynamic", REFUSED}, {"poor", REFUSED},
    {"weren't", NEGATED}, {"wasn't", NEGATED}, {"suspect*", REFUSED}, {"abgelehnt*", REFUSED},
    {"abgewiesen", REFUSED}, {"verweigert", REFUSED}, {"gesperrt*", REFUSED}, {"nicht erlaubt", REFUSED},
    {"nicht zugelassen", REFUSED}, {"ungültig*", REFUSED}, {"rejet*", REFUSED}, {"rejeté*", REFUSED},
    {"interdit*", REFUSED}, {"bloqu*", REFUSED}, {"rechaz*", REFUSED}, {"denegad*", REFUSED}, {"negado", REFUSED},
    {"rifiutat*", REFUSED}, {"bloccat*", REFUSED}, {"recusad*", REFUSED}, {"rejeitad*", REFUSED},
    {"odrzucon*", REFUSED}, {"zablokowan*", REFUSED}, {"geweigerd", REFUSED}, {"отклон*", REFUSED},
    {"отказ*", REFUSED}, {"заблокирован*", REFUSED}, {"запрещ*", REFUSED}, {"не принят*", REFUSED}, {"拒绝", REFUSED},
    {"拒絕", REFUSED}, {"拒否", REFUSED}, {"禁止", REFUSED}, {"拒收", REFUSED}, {"被拒", REFUSED}, {"거부", REFUSED},

    {"unknown", ABSENT}, {"not found", ABSENT}, {"not exist", ABSENT}, {"doesn't exist", ABSENT},
    {"don't exist", ABSENT}, {"does not exist", ABSENT}, {"do not exist", ABSENT}, {"non-existent", ABSENT},
    {"nonexistent", ABSENT}, {"no such", ABSENT}, {"not known", ABSENT}, {"not a known", ABSENT},
    {"returned to sender", NOTHING}, {"return to sender", NOTHING}, {"to the sender", NOTHING},
    {"not a valid", ABSENT}, {"not valid", ABSENT}, {"doesn't have", ABSENT}, {"does not have", ABSENT},
    {"not resolve", ABSENT}, {"couldn't be found", ABSENT}, {"wasn't found", ABSENT}, {"not be found", ABSENT},
    {"cannot find", ABSENT}, {"can't find", ABSENT}, {"could not find", ABSENT}, {"cannot resolve", ABSENT},
    {"requires confirmation", NOTHING}, {"no account", NOBODY}, {"no mailbox", NOBODY}, {"no mail box", NOBODY},
    {"no user", NOBODY}, {"no recipient*", NOBODY}, {"unbekannt*", ABSENT}, {"existiert nicht", ABSENT},
    {"nicht gefunden", ABSENT}, {"inconnu*", ABSENT}, {"introuvable", ABSENT}, {"n'existe pas", ABSENT},
    {"no existe", ABSENT}, {"desconocid*", ABSENT}, {"não existe", ABSENT}, {"desconhecid*", ABSENT},
    {"non esiste", ABSENT}, {"inesistente", ABSENT}, {"sconosciut*", ABSENT}, {"nie istnieje", ABSENT},
    {"nieznan*", ABSENT}, {"не существует", ABSENT}, {"не найден*", ABSENT}, {"неизвест*", ABSENT}, {"不存在", ABSENT},

    {"closed", CLOSED}, {"disabled", CLOSED}, {"inactive", CLOSED}, {"suspended", CLOSED}, {"terminated", CLOSED},
    {"deactivated", CLOSED}, {"discontinued", CLOSED}, {"cancelled", CLOSED}, {"canceled", CLOSED},
    {"deleted", CLOSED}, {"expired", CLOSED}, {"no longer", CLOSED}, {"frozen", CLOSED}, {"not active", CLOSED},
    {"locked", CLOSED}, {"on hold", CLOSED},

    {"full", FULL}, {"over quota", FULL}, {"overquota", FULL}, {"quota", FULL}, {"exceeded", FULL},
    {"enough space", FULL}, {"disk space", FULL}, {"out of storage", FULL}, {"sufficient storage", FULL},

    {"too many", MANY}, {"too much", MANY}, {"too fast", MANY}, {"too often", MANY}, {"throttl*", MANY},
    {"rate", MANY}, {"frequency", MANY}, {"too many hops", NOTHING}, {"too many received", NOTHING},
};
/* clang-format on */

/* The meaning of a pair of subject and predicates; the first that a text has counts. predicates 0: the subject alone.
 * SUBJECTS: no subject is there. */
#define BIT(part) (1u << (part))
#define AGAINST (BIT(REFUSED) | BIT(NEGATED))
static const struct {
    ClausePart subject;
    unsigned predicates;
    const char *reason;
    BounceAbout about;
} meanings[] = {
    {SENDER, AGAINST | BIT(ABSENT) | BIT(CLOSED) | BIT(MANY), "sender", BOUNCE_ABOUT_SENDER},
    {HELLO, AGAINST | BIT(ABSENT), "sender", BOUNCE_ABOUT_SENDER},
    {OUTGOING, 0, "sender", BOUNCE_ABOUT_SENDER},
    {BLOCKLIST, 0, "blocked", BOUNCE_ABOUT_SENDER},
    {PROOF, BIT(REFUSED), "authentication", BOUNCE_ABOUT_SENDER},
    {PERSON, BIT(FULL), "mailbox-full", BOUNCE_ABOUT_RECIPIENT},
    {PERSON, BIT(ABSENT), "user-unknown", BOUNCE_ABOUT_RECIPIENT},
    {PERSON, BIT(CLOSED), "mailbox-disabled", BOUNCE_ABOUT_RECIPIENT},
#define CERTAIN 8 /* rows that count whatever the status says */
    {CLIENT, AGAINST | BIT(ABSENT) | BIT(MANY) | BIT(FULL), "blocked", BOUNCE_ABOUT_SENDER},
    {SENDER, 0, "sender", BOUNCE_ABOUT_SENDER},
#define WORDED 10 /* rows that count where no server's reply code is in the text */
    {RELAY, AGAINST, "relaying", BOUNCE_ABOUT_RECIPIENT},
    {PROOF, 0, "authentication", BOUNCE_ABOUT_SENDER},
    {PERSON, BIT(MANY), "rate-limited", BOUNCE_ABOUT_SENDER},
    {MAIL, BIT(MANY), "rate-limited", BOUNCE_ABOUT_SENDER},
    {SUBJECTS, BIT(MANY), "rate-limited", BOUNCE_ABOUT_SENDER},
};

/* ---- words ---- */

#define WORDS G_N_ELEMENTS(words)
G_STATIC_ASSERT(WORDS < G_MAXUINT16);

/* The words by their first byte: where each list begins, and what follows each word. */
static guint16 begin[256], next[WORDS];

static void index_words(void)
{
    static gsize done;
    if (!g_once_init_enter(&done))
        return;
    for (size_t at = 0; at < G_N_ELEMENTS(begin); at++)
        begin[at] = WORDS;
    for (size_t word = WORDS; word-- > 0;) {
        guint16 *list = &begin[(unsigned char)words[word].text[0]];
        next[word] = *list;
        *list = (guint16)word;
    }
    g_once_init_leave(&done, 1);
}

/* Letters and digits of scripts that set blanks between words: Latin, Greek, Cyrillic. */
static bool in_word(const char *at)
{
    return g_ascii_isalnum(*at) || ((unsigned char)*at >= 0xc3 && (unsigned char)*at <= 0xd4);
}

/* The length of the longest word of the table that stands at at, a word's beginning; 0: none does. */
static size_t word_at(const char *at, ClausePart *part)
{
    size_t longest = 0;
    for (size_t word = begin[(unsigned char)*at]; word < WORDS; word = next[word]) {
        const char *text = words[word].text;
        size_t length = strlen(text);
        bool open = text[length - 1] == '*';
        length -= open;
        if (length <= longest || strncmp(at, text, length) != 0)
            continue;
        if (!open && in_word(text) && in_word(at + length))
            continue;
        longest = length;
        *part = words[word].part;
    }
    return longest;
}

/* ---- clauses ---- */

#define STEPS_MAX 256 /* words of the tables that are read of a text */

typedef struct ClauseStep {
    ClausePart part;
    guint16 clause;
} ClauseStep;

typedef struct Clauses {
    ClauseStep steps[STEPS_MAX];
    size_t count;
    guint16 clause;
    bool goes_on[STEPS_MAX + 1]; /* by number: a clause that may be about the subject of the one before */
    bool names_client;
} Clauses;

static void end_clause(Clauses *clauses, bool goes_on)
{
    bool any = clauses->count > 0 && clauses->steps[clauses->count - 1].clause == clauses->clause;
    if (any && clauses->clause < STEPS_MAX)
        clauses->clause++;
    if (any || !goes_on)
        clauses->goes_on[clauses->clause] = goes_on && clauses->count > 0;
}

/* The length of an address, a URL or an IP address that stands at at, of which no word counts; 0: none does. */
static size_t name_at(const char *at, Clauses *clauses)
{
    size_t length = 0;
    while (length < NAME_LIMIT && at[length] && !strchr(" \t<>()[],;\"'", at[length]))
        length++;
    if (!g_ascii_isdigit(*at) && !memchr(at, '@', length) && !memchr(at, ':', length) && !memchr(at, '=', length))
        return 0;
    g_autofree char *name = g_strndup(at, length);
    if (strstr(name, "://") || g_str_has_prefix(name, "www.")) {
        length = strcspn(at, " \t<>()\"'");
        g_autofree char *url = g_strndup(at, length);
        clauses->names_client |= strstr(url, "ip=") || strstr(url, "=ip&") || strstr(url, "/ip/") ||
                                 strstr(url, "postmaster");
        return length;
    }
    if (memchr(at, '@', length))
        return length;
    const char *first = at;
    if (g_str_has_prefix(name, "ip=") || g_str_has_prefix(name, "ip:"))
        first += 3;
    size_t digits = strspn(first, "0123456789.");
    g_autofree char *number = g_strndup(first, digits > 0 && first[digits - 1] == '.' ? digits - 1 : digits);
    g_autofree char *six = g_strndup(first, strspn(first, "0123456789abcdef:"));
    if (digits >= 7 && g_hostname_is_ip_address(number)) {
        clauses->names_client = true;
        return MAX((size_t)(first - at) + strlen(number), 1);
    }
    if (strchr(six, ':') && strlen(six) >= 6 && first + strlen(six) == at + length && g_hostname_is_ip_address(six)) {
        clauses->names_client = true;
        return length;
    }
    return 0;
}

static void split(Clauses *clauses, const char *text)
{
    bool inside = false; /* a word */
    for (const char *at = text; *at && clauses->count < STEPS_MAX;) {
        ClausePart part = NOTHING;
        size_t name = inside ? 0 : name_at(at, clauses), word = inside || name > 0 ? 0 : word_at(at, &part);
        bool ends = strchr(".!?;", *at) && (at[1] == ' ' || at[1] == '\0' || *at == ';');
        bool pauses = strchr(":,(", *at) || g_str_has_prefix(at, " - ");
        if (word > 0 && part != NOTHING)
            clauses->steps[clauses->count++] = (ClauseStep){part, clauses->clause};
        else if (ends || pauses)
            end_clause(clauses, pauses);
        size_t length = MAX(MAX(name, word), 1);
        inside = in_word(at + length - 1) || (inside && ((unsigned char)at[length - 1] & 0xc0) == 0x80 &&
                                              (unsigned char)at[length - 1] >= 0x80);
        at += length;
    }
}

/* The subject of the predicate at a place: the nearest before it in its clause, else behind it, else that of the clause
 * that this one continues. */
static ClausePart subject_of(const Clauses *clauses, size_t place, ClausePart carried)
{
    const ClauseStep *steps = clauses->steps;
    guint16 clause = steps[place].clause;
    for (size_t at = place; at-- > 0 && steps[at].clause == clause;)
        if (steps[at].part < SUBJECTS)
            return steps[at].part;
    for (size_t at = place + 1; at < clauses->count && steps[at].clause == clause; at++)
        if (steps[at].part < SUBJECTS)
            return steps[at].part;
    return clauses->goes_on[clause] ? carried : SUBJECTS;
}

/* Gather the predicates of each subject, a bit for each predicate; bit 0: it is spoken of. */
static void gather(const Clauses *clauses, unsigned said[SUBJECTS + 1])
{
    ClausePart carried = SUBJECTS, latest = SUBJECTS;
    guint16 clause = 0;
    for (size_t at = 0; at < clauses->count; at++) {
        ClausePart part = clauses->steps[at].part;
        if (clauses->steps[at].clause != clause) {
            clause = clauses->steps[at].clause;
            carried = clauses->goes_on[clause] ? latest : SUBJECTS;
        }
        if (part == NOBODY) {
            said[PERSON] |= BIT(ABSENT);
        } else if (part < SUBJECTS) {
            said[part] |= 1;
            latest = part;
        } else {
            ClausePart subject = subject_of(clauses, at, carried);
            said[subject] |= BIT(part);
        }
    }
}

/* From the first reply code on, without what the sending system added behind the reply. */
static char *reply_of(const char *text, bool *spoken)
{
    const char *reply = reply_find(text);
    *spoken = reply != NULL;
    size_t type = strcspn(text, " ;"); /* "smtp; " in a field of a report for programs */
    const char *start = reply ? reply : text[type] == ';' ? text + type + 1 : text;
    char *lower = words_lower(start, READ_LIMIT);
    char *added = strstr(lower, "(in reply to ");
    if (added)
        *added = '\0';
    return lower;
}

ClauseReading clause_read(const char *status, bool certain, const char *text)
{
    Clauses clauses = {0};
    unsigned said[SUBJECTS + 1] = {0};
    bool spoken;
    index_words();
    g_autofree char *lower = reply_of(text, &spoken);
    split(&clauses, lower);
    gather(&clauses, said);
    ClauseReading reading = {.names_client = spoken && clauses.names_client,
                             .of_content = spoken && (said[CONTENT] || said[FORM] & (AGAINST | BIT(MANY))),
                             .of_mail = spoken && (said[POLICY] || said[MAIL] & BIT(REFUSED))};
    size_t rows = certain ? CERTAIN : spoken ? G_N_ELEMENTS(meanings) : WORDED;
    for (size_t at = 0; at < rows && !reading.reason; at++) {
        unsigned told = said[meanings[at].subject];
        if (meanings[at].predicates ? told & meanings[at].predicates : told) {
            reading.reason = meanings[at].reason;
            reading.about = meanings[at].about;
        }
    }
    if (reading.about == BOUNCE_ABOUT_SENDER && said[PROOF])
        reading.reason = "authentication";
    /* Microsoft 365 says so of a recipient that its directory does not have. */
    if (!reading.reason && spoken && strcmp(status, "5.4.1") == 0 && said[PERSON] & BIT(REFUSED))
        reading.reason = "user-unknown";
    return reading;
}
