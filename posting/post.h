/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Hold a post while it is decided about and changed. Rules (chain.h) look at the Post, handlers (pipeline.h) change it,
 * and both leave in it what is to be done. Nothing here writes a file or sends anything; the runners do what the Post
 * says at the end.
 *
 * The caller sets the first part, whose values are borrowed for the life of the Post. All else belongs to the Post, and
 * post_clear() frees it.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mailbox.h"
#include "mail/auth/dkim_keys.h"
#include "mail/auth/names.h"
#include "mail/copy.h"
#include "mail/loop_mark.h"
#include "mail/message.h"
#include "posting/post_site.h"
#include "store/lists/list.h"
#include "store/people/member.h"
#include "store/posts/digest.h"
#include "store/store.h"

typedef struct ListCache ListCache;
typedef enum Verdict { VERDICT_NONE, VERDICT_ACCEPT, VERDICT_HOLD, VERDICT_REJECT, VERDICT_DISCARD } Verdict;

/* The end that a handler chooses for a post that must not go on. */
typedef enum PostEnd { POST_GOES, POST_DISCARDED, POST_REJECTED, POST_FORWARDED, POST_PRESERVED } PostEnd;
const char *post_end_text(PostEnd end); /* for the log: "discarded" */

typedef enum PostRecipients { POST_TO_NOBODY, POST_TO_MEMBERS, POST_TO_GIVEN, POST_TO_DIGEST } PostRecipients;

/* Queues that handlers send to, as PostSend has them. */
#define POST_ARCHIVE "archive"
#define POST_OUT "out"
#define POST_SHUNT "shunt" /* for a person to look at; the reasons tell why */
#define POST_DIGEST "digest"
#define POST_NEWS "nntp"

/* One way on which a post leaves: an entry for a queue, with the post's metadata. A handler adds one with post_send().
 * What leaves is the message as the last handler has made it; a handler that changes it for this way alone changes the
 * copy that post_send_message() returns. */
typedef struct PostSend {
    const char *queue;     /* static */
    Message *message;      /* NULL: the post's */
    char *shard;           /* its entries meet in one process (META_SHARD); NULL: they go where their hashes fall */
    char **archivers;      /* POST_ARCHIVE: the names of those that are to keep it */

    /* POST_OUT: copies for the post's recipients; as many entries as they need */
    char *envelope_sender;
    GPtrArray *pieces;     /* of GBytes: what leaves in place of the message; NULL: the message itself */
    GArray *holes;         /* of CopyHole, in pieces: filled for each recipient; NULL: none */
    bool personal;         /* holes want the recipients' names */
    bool verp;             /* each recipient has an envelope sender of their own */
    bool sign, seal;       /* it is signed, and sealed; with holes, each copy when it is made */
    size_t signed_octets;  /* of the signatures and the seal that pieces begin with */

    /* In place of the post, a letter about it to one address, for the queue virgin: post_send_letter() */
    const char *letter;    /* name of its template, static; NULL: the post itself leaves */
    char *to;
    bool with_header;      /* the post's header is attached */
} PostSend;

typedef struct Post { /* set by the caller: */
    Store *store;
    const List *list;
    Message *message;
    const char *sender;     /* of the envelope, "" for the null sender */
    const char *recipient;  /* of the envelope as given, or NULL */
    const char *message_id; /* without brackets; made up when the mail had none */
    const char *trace;      /* of the entry, the same in every queue and at every try; kept beside its Message-ID */
    const char *spool;      /* the id of the spool where the entry is; NULL: of none, as in a trial */
    const char *site_owner; /* mailbox that gets what nobody else can; may be NULL */
    const PostArchiver *archivers; /* ended by one without name; may be NULL */
    const PostCopies *copies;      /* may be NULL: all copies are the same */
    ListCache *lists;       /* of list_cache.h; NULL: what it keeps is read from the store each time */
    const PostSite *site;   /* NULL: all as the defaults of the settings are */
    const DigestGroup *digest;     /* it is an issue of the list's digest, for these readers; NULL: it is a post */
    const Names *names;     /* what the DNS says; NULL: nothing can be known */
    int64_t now, arrival;
    size_t size;    /* bytes, as it came */
    const char *left, *left_reason; /* why a part of a message comes alone (KEY_LEFT), or NULL */
    bool moderated; /* a person let it pass */
    bool scheduled; /* it has waited for the time at which it was to be sent */
    const char *password; /* that stood in it to let it pass, and was taken out (mail/text/approved.h); NULL: none */
    bool ours, for_owners, from_news; /* we wrote it (virgin); it is for the list's owners; it is a news article */
    int64_t post_id; /* its number on the list, 0: none; handed out before the handlers run */
    bool no_requests; /* nobody works mail to -join, -leave and -request: no field names them */

    /* what the rules found (names and texts) */
    GPtrArray *hits, *misses; /* of const char *, static */
    GPtrArray *reasons;       /* of char *: why it is held or rejected, sentences for people */
    unsigned deferred;        /* hits that only count later (rule any) */
    Action action;            /* what a moderation rule wants */
    int mitigation;           /* authenticity.h, once mitigation_known */
    NamesAnswer mitigation_answer;
    bool mitigation_known;
    struct Authenticity *authenticity; /* authenticity.h; NULL: not asked for yet */
    struct PostLoop *loop;    /* loop_set(); NULL: nobody knows where the post has been, and it gets no mark */
    char *target;             /* the name of the chain that a rule sends it to */
    bool unproved;            /* a stranger's, who is to confirm the address in From */
    char *member;             /* the address that made it a member's post */
    Member *found;            /* the row of that, if a rule has just read it; else NULL */
    int64_t next_id;          /* the list's next number, told in the transaction that enters the post; 0: not known */
    char *message_key;        /* its Message-ID as the store records it, when the rule duplicate has looked for it */

    /* what the handlers left */
    PostEnd end;            /* other than POST_GOES: no further handler runs; the reasons are in reasons */
    GPtrArray *sends;       /* of PostSend: how it leaves */
    GPtrArray *removed;     /* of char *: what mime-delete took out, as mail/mime/content_filter.h names it */
    char *author_subject;   /* the value of Subject before subject-prefix changed it; NULL: it did not */
    PostRecipients recipients; /* who gets copies, if one of the sends is for POST_OUT */
    char **given;           /* POST_TO_GIVEN */
    char *skip_sender;      /* POST_TO_MEMBERS: who may not want a copy of what they wrote */
    char **copied;          /* POST_TO_MEMBERS: who has a copy from elsewhere */
    char **topics;          /* POST_TO_MEMBERS: names of the list's that it is about; NULL: all members get it */

    /* worked out when first asked for */
    GPtrArray *senders, *destinations;
    bool answer_known, answer_allowed; /* post_may_answer() */
    GHashTable *patterns; /* of pattern.h: those that gave up */
} Post;

/* Ready a Post, whatever its memory holds; the caller then sets the first part. */
void post_init(Post *post);
void post_clear(Post *post);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Post, post_clear)

/* Find the member of the post's list with that address and role; member_free(). *member is NULL when there is none, and
 * when the address is not valid. False: the store failed. */
bool post_find_member(const Post *post, Role role, const Mailbox *address, Member **member, GError **error);

/* Return the mailboxes (Mailbox *) that may have sent the post, each once, in this order: From, envelope sender,
 * Reply-To, Sender. The array is the Post's, and made at the first call. */
const GPtrArray *post_senders(Post *post);
/* Return the text of the first of them, borrowed; NULL when there is none. */
const char *post_first_sender(Post *post);
/* Return the poster's address, borrowed: the member, else the first sender; NULL when there is none. */
const char *post_poster(Post *post);

/* Return the addresses (of Address) in To, Cc, Resent-To and Resent-Cc, up to ADDRESS_LIST_MAX. The array is the
 * Post's, and made at the first call. */
const GPtrArray *post_destinations(Post *post);
/* Return the addresses (of Address) in the fields of these names, NULL-terminated; g_ptr_array_unref(). */
GPtrArray *post_addresses(const Post *post, const char *const *names);
/* Add a person, as mail writes one ("Anne <anne@example.org>"), to a field of addresses of the message. All fields of
 * that name become one. The person stands at its end, or in front where it would be lost behind what is there, as in a
 * comment without an end. */
void post_add_person(Message *message, const char *field, const char *person);

/* Add a way on which the post leaves, through this queue (a static string), and return it for the handler to fill in;
 * it is the Post's. A post may leave several times through one queue. */
PostSend *post_send(Post *post, const char *queue);

/* Add a letter about the post: the name of its template (a static string), and the address, which is copied. Ask
 * post_may_answer() before. */
void post_send_letter(Post *post, const char *letter, const char *to, bool with_header);

/* Return the first send for this queue; NULL: there is none. */
PostSend *post_send_find(const Post *post, const char *queue);

/* Return the send's own message, which may be changed and belongs to the send. The first call makes it, a copy of the
 * post's message as it is then. */
Message *post_send_message(const Post *post, PostSend *send);

/* Sign what leaves by this send with the site's keys, once for all copies, and note that in the send. Where copies
 * differ (holes), only note it: each is signed when it is made. */
void post_send_sign(const Post *post, PostSend *send, const Signing *signing);

void post_add_reason(Post *post, const char *format, ...) G_GNUC_PRINTF(2, 3);
char *post_reasons(const Post *post, const char *separator); /* g_free() */

bool post_archiver_chosen(const List *list, const PostArchiver *archiver); /* does the list use it? */

/* May an answer go to the envelope sender? None to the null sender, robots, lists, bulk, automatic mail (RFC 3834). The
 * first call decides, and the answer is kept: ask before the handlers, which change the mail into one of a list. */
bool post_may_answer(Post *post);

/* Return the address list-SUFFIX@host, or for suffix NULL the posting address; g_free(). */
char *post_list_address(const List *list, const char *suffix);

/*
 * Keep mail from going round between the lists of this site. Each mail that leaves a list bears a mark in its header,
 * which names the lists that it has passed (mail/loop_mark.h). A post that has passed the same list before, or
 * LOOP_DEPTH_MAX lists, is discarded before any chain runs. No setting, chain or pipeline of the site changes that.
 *
 * The runner calls loop_set() when it makes the Post; the chains call loop_stops(), and pipeline_run() the rest. A post
 * without loop_set() is never stopped and gets no mark.
 */
typedef struct PostLoop PostLoop;

/* Put into the post the mark with which it came. The contents of *mark are taken, and *mark is emptied. keys sign the
 * marks of the mails that the post becomes; they are borrowed for the life of the post. */
void loop_set(Post *post, const LoopKeys *keys, LoopMark *mark);

/* Free what loop_set() made, which is not NULL; post_clear() does it. */
void loop_free(PostLoop *loop);

/* Return whether the post has passed this list before, or too many lists. If so, add a reason to the post, which the
 * caller then discards. */
bool loop_stops(Post *post);

/* Return the key by which the post's list recognises a mail that it has had; g_free(). It is the Message-ID of the
 * first mail that the post was made from, else the post's own; or the hash of that, where it is long or no text. NULL:
 * there is no Message-ID. */
char *loop_message_key(const Post *post);

/* Note the Message-ID of the first mail that the post was made from. Call it before any handler changes the post. */
void loop_begin(Post *post);

/* Put the mark into the post's message and into the messages that its sends have of their own. Call it after each
 * handler. Digests and letters that we wrote (Post.ours) are left alone: they were marked when they were written. */
void loop_mark_all(Post *post);
