/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "mail/bounce/report.h"

/* ---- clauses ---- */

/* A server's refusal is read as clauses of a subject and a predicate: "Sender address rejected: Domain not found" is
 * about the sender, though "not found" is said of recipients, too. Nouns tell the subject (sender, client, recipient,
 * header ...), other words what is said of it (refused, absent, full ...). */
typedef struct ClauseReading {
    const char *reason; /* a word of bounce_reasons; NULL: the clauses do not tell */
    BounceAbout about;  /* with reason */
    bool names_client;  /* the reply names an IP address, or a page about one or of a postmaster */
    bool of_content;    /* it speaks of the contents or the form of the message */
    bool of_mail;       /* it says no more than that the message is refused, or speaks of policy */
} ClauseReading;

#define CLAUSE_LIMIT 4096 /* bytes of a text that are read */
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
static const ClauseWord clause_words[] = {
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

#define CLAUSE_WORDS G_N_ELEMENTS(clause_words)
G_STATIC_ASSERT(CLAUSE_WORDS < G_MAXUINT16);

/* The words by their first byte: where each list begins, and what follows each word. */
static guint16 clause_begin[256], clause_next[CLAUSE_WORDS];

/* Letters and digits of scripts that set blanks between words: Latin, Greek, Cyrillic. */
static bool in_word(const char *at)
{
    return g_ascii_isalnum(*at) || ((unsigned char)*at >= 0xc3 && (unsigned char)*at <= 0xd4);
}

/* The length of the longest word of the table that stands at at, a word's beginning; 0: none does. */
static size_t word_at(const char *at, ClausePart *part)
{
    size_t longest = 0;
    for (size_t word = clause_begin[(unsigned char)*at]; word < CLAUSE_WORDS; word = clause_next[word]) {
        const char *text = clause_words[word].text;
        size_t length = strlen(text);
        bool open = text[length - 1] == '*';
        length -= open;
        if (length <= longest || strncmp(at, text, length) != 0)
            continue;
        if (!open && in_word(text) && in_word(at + length))
            continue;
        longest = length;
        *part = clause_words[word].part;
    }
    return longest;
}

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

/* Reads the words of a text into steps, each with the number of its clause. */
static void split(Clauses *clauses, const char *text)
{
    bool inside = false; /* a word */
    for (const char *at = text; *at && clauses->count < STEPS_MAX;) {
        ClausePart part = NOTHING;
        size_t name = inside ? 0 : name_at(at, clauses), word = inside || name > 0 ? 0 : word_at(at, &part);
        bool ends = strchr(".!?;", *at) && (at[1] == ' ' || at[1] == '\0' || *at == ';');
        bool pauses = strchr(":,(", *at) || g_str_has_prefix(at, " - ");
        if (word > 0 && part != NOTHING) {
            clauses->steps[clauses->count++] = (ClauseStep){part, clauses->clause};
        } else if (ends || pauses) {
            bool any = clauses->count > 0 && clauses->steps[clauses->count - 1].clause == clauses->clause;
            if (any && clauses->clause < STEPS_MAX)
                clauses->clause++;
            if (any || !pauses)
                clauses->goes_on[clauses->clause] = pauses && clauses->count > 0;
        }
        size_t length = MAX(MAX(name, word), 1);
        inside = in_word(at + length - 1) || (inside && ((unsigned char)at[length - 1] & 0xc0) == 0x80 &&
                                              (unsigned char)at[length - 1] >= 0x80);
        at += length;
    }
}

/* Gather the predicates of each subject, a bit for each predicate; bit 0: it is spoken of. */
static void gather(const Clauses *clauses, unsigned said[SUBJECTS + 1])
{
    const ClauseStep *steps = clauses->steps;
    ClausePart carried = SUBJECTS, latest = SUBJECTS;
    guint16 clause = 0;
    for (size_t at = 0; at < clauses->count; at++) {
        ClausePart part = steps[at].part, subject = SUBJECTS;
        if (steps[at].clause != clause) {
            clause = steps[at].clause;
            carried = clauses->goes_on[clause] ? latest : SUBJECTS;
        }
        if (part == NOBODY) {
            said[PERSON] |= BIT(ABSENT);
            continue;
        }
        if (part < SUBJECTS) {
            said[part] |= 1;
            latest = part;
            continue;
        }
        /* The subject of a predicate is the nearest before it in its clause, else behind it, else that of the clause
         * that this one continues. */
        for (size_t before = at; subject == SUBJECTS && before-- > 0 && steps[before].clause == clause;)
            subject = MIN(steps[before].part, SUBJECTS);
        for (size_t next = at + 1; subject == SUBJECTS && next < clauses->count && steps[next].clause == clause; next++)
            subject = MIN(steps[next].part, SUBJECTS);
        said[subject == SUBJECTS && clauses->goes_on[clause] ? carried : subject] |= BIT(part);
    }
}

/* Reads a text of which the first bytes up to a bound count, from its first SMTP reply code on. certain: the status
 * says that it is about the recipient, and only clear words of the contrary count. */
static ClauseReading clause_read(const char *status, bool certain, const char *text)
{
    Clauses clauses = {0};
    unsigned said[SUBJECTS + 1] = {0};
    static gsize done;
    if (g_once_init_enter(&done)) {
        for (size_t at = 0; at < G_N_ELEMENTS(clause_begin); at++)
            clause_begin[at] = CLAUSE_WORDS;
        for (size_t word = CLAUSE_WORDS; word-- > 0;) {
            guint16 *list = &clause_begin[(unsigned char)clause_words[word].text[0]];
            clause_next[word] = *list;
            *list = (guint16)word;
        }
        g_once_init_leave(&done, 1);
    }
    /* From the first reply code on, without what the sending system added behind the reply. */
    const char *reply = reply_find(text);
    bool spoken = reply != NULL;
    size_t type = strcspn(text, " ;"); /* "smtp; " in a field of a report for programs */
    g_autofree char *lower = words_lower(reply ? reply : text[type] == ';' ? text + type + 1 : text, CLAUSE_LIMIT);
    char *added = strstr(lower, "(in reply to ");
    if (added)
        *added = '\0';
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

/* ---- words that stand for a reason wherever they are ---- */

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
#define PAIR(at) ((size_t)((at)[0] - 'a') * 26 + (size_t)((at)[1] - 'a'))
static guint8 begin[26 * 26], next[G_N_ELEMENTS(words)];
G_STATIC_ASSERT(G_N_ELEMENTS(words) < 255);

static bool is_letter(char octet)
{
    return octet >= 'a' && octet <= 'z';
}

/* The first row of which the text has the words, beginning where a word begins. */
static const char *reason_in(const char *text)
{
    static gsize done;
    if (g_once_init_enter(&done)) {
        memset(begin, NO_ROW, sizeof begin);
        for (size_t row = NO_ROW; row-- > 0;) {
            guint8 *list = &begin[PAIR(words[row].words)];
            next[row] = *list;
            *list = (guint8)row;
        }
        g_once_init_leave(&done, 1);
    }
    size_t length = strlen(text), best = NO_ROW;
    g_autofree char *lower = g_malloc(length + 1);
    for (size_t at = 0; at <= length; at++)
        lower[at] = g_ascii_isupper(text[at]) ? (char)(text[at] | 0x20) : text[at];
    bool inside = false; /* a word */
    for (const char *at = lower; *at; at++) {
        bool starts = !inside && is_letter(at[0]) && is_letter(at[1]);
        for (size_t row = starts ? begin[PAIR(at)] : NO_ROW; row < best; row = next[row])
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

BounceVerdict verdict_of(const BounceReply *reply, BounceClass class)
{
    static const char *const soft[] = {"mailbox-full", "expired", "network", "policy", "relaying", "loop", "system",
                                       NULL};
    /* Reasons that refusals of a host are given, too, where the reply names its address. */
    static const char *const vague[] = {"undefined", "policy", "user-unknown", "host-unknown", NULL};
    static const char *const vague_of_mail[] = {"undefined", "policy", "blocked", NULL};
    bool early = reply->phase != BOUNCE_PHASE_UNKNOWN && reply->phase < BOUNCE_PHASE_RCPT;
    bool taken = reply->phase == BOUNCE_PHASE_DATA || reply->phase == BOUNCE_PHASE_END;
    /* The clauses count first, which know who is refused; then the words that stand for a reason wherever they are; and
     * last what a reply is most likely about that says nothing else. */
    bool certain = is_certain(reply->status);
    ClauseReading reading = clause_read(reply->status, certain, reply->text);
    BounceVerdict verdict = {.class = class, .about = reading.about, .reason = reading.reason};
    if (!reading.reason) {
        verdict.reason = reason_of(reply->status, reply->text);
        verdict.about = BOUNCE_ABOUT_RECIPIENT;
        for (size_t at = 0; at < G_N_ELEMENTS(not_recipients); at++)
            if (strcmp(not_recipients[at].reason, verdict.reason) == 0)
                verdict.about = not_recipients[at].about;
    }
    if (!reading.reason && !certain) {
        bool of_mail = g_strv_contains(vague_of_mail, verdict.reason);
        if (reading.of_content && of_mail) {
            verdict.reason = "content";
            verdict.about = BOUNCE_ABOUT_MESSAGE;
        } else if (reading.names_client && g_strv_contains(vague, verdict.reason)) {
            verdict.reason = "blocked";
            verdict.about = BOUNCE_ABOUT_SENDER;
        } else if (reading.of_mail && of_mail) {
            verdict.reason = "policy";
            verdict.about = BOUNCE_ABOUT_MESSAGE;
        }
    }
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
        bool of_one = memchr(at, '@', length) ||
                      (length > 0 && length == local && g_ascii_strncasecmp(at, address, length) == 0) ||
                      (length > 0 && length == strlen(host) && g_ascii_strncasecmp(at, host, length) == 0);
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

/* ---- the phase of a session ---- */

/* Systems tell it in the text for people: Postfix ("in reply to MAIL FROM command"), Exim ("after end of data"),
 * sendmail and Courier (">>> DATA" above "<<< 550"), qmail, DragonFly. Fields for programs never tell it. */

#define MARK_LIMIT 4000  /* places in a text that may tell a phase */
#define TEXT_LIMIT 4096  /* bytes of what is said about one recipient: many may share a long text */
#define RAW_LIMIT 65536  /* bytes of a part in which a hint is looked for */

/* Words behind which the phase stands, in lower case; with phase, they tell it themselves. */
static const struct {
    const char *words;
    BouncePhase phase;
} marks[] = {
    {"in reply to ", BOUNCE_PHASE_UNKNOWN},
    {"smtp error from remote mail server after ", BOUNCE_PHASE_UNKNOWN},
    {"smtp error from remote mailer after ", BOUNCE_PHASE_UNKNOWN},
    {"lmtp error from remote mail server after ", BOUNCE_PHASE_UNKNOWN},
    {"lmtp error after ", BOUNCE_PHASE_UNKNOWN},
    {"did not like our ", BOUNCE_PHASE_UNKNOWN},
    {"refused to talk to me", BOUNCE_PHASE_CONNECT},
    {"but greeting failed", BOUNCE_PHASE_CONNECT},
    {"but my name was rejected", BOUNCE_PHASE_HELLO},
    {"but sender was rejected", BOUNCE_PHASE_MAIL},
    {"does not like recipient", BOUNCE_PHASE_RCPT},
    {"failed on data command", BOUNCE_PHASE_DATA},
    {"failed after i sent the message", BOUNCE_PHASE_END},
    {"<<< ", BOUNCE_PHASE_UNKNOWN},
};
#define ANSWER (G_N_ELEMENTS(marks) - 1)

static BouncePhase command_phase(const char *at)
{
    static const struct {
        const char *words;
        BouncePhase phase;
    } commands[] = {
        {"mail from", BOUNCE_PHASE_MAIL},   {"rcpt to", BOUNCE_PHASE_RCPT},  {"end of data", BOUNCE_PHASE_END},
        {"final data", BOUNCE_PHASE_END},   {"data", BOUNCE_PHASE_DATA},     {"bdat", BOUNCE_PHASE_DATA},
        {"sending data block", BOUNCE_PHASE_END}, {".", BOUNCE_PHASE_END},
        {"initial connection", BOUNCE_PHASE_CONNECT},
        {"ehlo", BOUNCE_PHASE_HELLO},       {"helo", BOUNCE_PHASE_HELLO},    {"lhlo", BOUNCE_PHASE_HELLO},
        {"starttls", BOUNCE_PHASE_HELLO},   {"auth", BOUNCE_PHASE_AUTH},
    };
    if (g_str_has_prefix(at, "pipelined "))
        at += strlen("pipelined ");
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        if (g_str_has_prefix(at, commands[i].words))
            return commands[i].phase;
    return BOUNCE_PHASE_UNKNOWN;
}

/* The phase that a mark at a place tells, and for a transcript's command to a recipient its address. */
static BouncePhase mark_phase(const char *text, const char *at, size_t mark, const char **recipient)
{
    const char *behind = at + strlen(marks[mark].words);
    *recipient = NULL;
    if (marks[mark].phase)
        return marks[mark].phase;
    if (mark != ANSWER)
        return command_phase(behind);
    /* The command above an answer of a transcript, ">>> rcpt to:<joe@example.com> <<< 550 no". */
    const char *from = at - text > 1000 ? at - 1000 : text;
    const char *command = *behind == '4' || *behind == '5' ? g_strrstr_len(from, at - from, ">>> ") : NULL;
    command = command ? command + strlen(">>> ") : NULL;
    BouncePhase phase = command ? command_phase(command) : BOUNCE_PHASE_UNKNOWN;
    if (phase == BOUNCE_PHASE_RCPT)
        *recipient = command;
    return phase;
}

BouncePhase phase_of(const char *text)
{
    g_autofree char *lower = g_ascii_strdown(text, (gssize)strnlen(text, TEXT_LIMIT));
    const char *recipient;
    for (size_t mark = 0; mark < G_N_ELEMENTS(marks); mark++) {
        const char *at = strstr(lower, marks[mark].words);
        BouncePhase phase = at ? mark_phase(lower, at, mark, &recipient) : BOUNCE_PHASE_UNKNOWN;
        if (phase)
            return phase;
    }
    return BOUNCE_PHASE_UNKNOWN;
}

/* ---- the notification as a whole ---- */

typedef struct PhaseMark {
    size_t offset;
    BouncePhase phase;
    const char *recipient; /* where its address stands; NULL: of the last recipient above */
    bool answer;           /* of a transcript, which stands below all recipients */
} PhaseMark;

static int by_offset(const void *a, const void *b)
{
    const PhaseMark *one = a, *two = b;
    return one->offset < two->offset ? -1 : one->offset > two->offset;
}

static BounceRecipient *known_at(const Report *report, const char *at)
{
    size_t length;
    const char *address = address_begins(at, &length);
    g_autofree char *key = address ? g_ascii_strdown(address, (gssize)length) : NULL;
    return key ? g_hash_table_lookup(report->known, key) : NULL;
}

static void set_phase(BounceRecipient *recipient, BouncePhase phase)
{
    if (!recipient || recipient->phase || recipient->class == BOUNCE_COMPLAINT)
        return;
    recipient->phase = phase;
    recipient_judge(recipient, recipient->status, recipient->text);
}

/* Is there a mark in the text for people? A report for programs was not prepared for reading more. */
static bool may_tell(const Report *report)
{
    static const char *const hints[] = {"in reply to", "remote mail", "<<< ", "did not like", "refused to talk",
                                        "emote host said"};
    for (guint at = 0; at < report->parts->len; at++) {
        const MimePart *part = report->parts->pdata[at];
        if (part->inside || !g_str_has_prefix(part->type, "text/plain"))
            continue;
        for (size_t i = 0; i < G_N_ELEMENTS(hints); i++)
            if (memmem(part->body, MIN(part->body_length, RAW_LIMIT), hints[i], strlen(hints[i])))
                return true;
    }
    return false;
}

void phase_attach(Report *report)
{
    bool wanted = false;
    for (guint at = 0; at < report->recipients->len; at++)
        wanted |= !((const BounceRecipient *)report->recipients->pdata[at])->phase;
    if (!wanted || (!report->prepared && !may_tell(report)))
        return;
    report_prepare(report);
    const char *flat = report->flat->str;
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(PhaseMark));
    for (size_t mark = 0; mark < G_N_ELEMENTS(marks); mark++)
        for (const char *at = strstr(flat, marks[mark].words); at && found->len < MARK_LIMIT;
             at = strstr(at + 1, marks[mark].words)) {
            PhaseMark one = {.offset = (size_t)(at - flat), .answer = mark == ANSWER};
            one.phase = mark_phase(flat, at, mark, &one.recipient);
            if (one.phase)
                g_array_append_val(found, one);
        }
    g_array_sort(found, by_offset);
    /* Walk over the lines and the marks together: a mark is about the recipient with which a line above it began. */
    BounceRecipient *current = NULL;
    BouncePhase only = BOUNCE_PHASE_UNKNOWN;
    guint line = 0;
    for (guint at = 0; at < found->len; at++) {
        const PhaseMark *mark = &g_array_index(found, PhaseMark, at);
        only = at == 0 || mark->phase == only ? mark->phase : BOUNCE_PHASE_UNKNOWN;
        for (; line < report->starts->len && g_array_index(report->starts, guint, line) <= mark->offset; line++) {
            const char *start = flat + g_array_index(report->starts, guint, line);
            BounceRecipient *begins = known_at(report, start + strspn(start, " "));
            current = begins ? begins : current;
        }
        if (mark->recipient)
            set_phase(known_at(report, mark->recipient + strlen("rcpt to:")), mark->phase);
        else if (!mark->answer)
            set_phase(current, mark->phase);
    }
    /* Where only one phase is told of, it is that of the recipients whose own place tells none. */
    for (guint at = 0; only && only != BOUNCE_PHASE_RCPT && at < report->recipients->len; at++) {
        BounceRecipient *recipient = report->recipients->pdata[at];
        if (reply_find(recipient->text))
            set_phase(recipient, only);
    }
}
