/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Members: an address (or a user, by the preferred address; store/people/user.h) in a role on a list. For each
 * preference the first that is set counts: of the member, the address, the user, the site; else the default.
 * FAIL_MISSING: there is no such list, member or address.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mailbox.h"
#include "store/language.h"
#include "store/lists/list_choice.h"
#include "store/store_type.h"

typedef enum Role { ROLE_MEMBER, ROLE_OWNER, ROLE_MODERATOR, ROLE_NONMEMBER } Role;
const char *role_text(Role role);              /* "owner", static; the _text() functions below likewise */
bool role_parse(const char *text, Role *role); /* false, as the _parse() functions below: text is no such word */

typedef enum DeliveryStatus {
    DELIVERY_ENABLED,
    DELIVERY_BY_USER,
    DELIVERY_BY_BOUNCES,
    DELIVERY_BY_MODERATOR,
    DELIVERY_UNKNOWN,
} DeliveryStatus;
typedef enum DeliveryMode {
    MODE_REGULAR,
    MODE_PLAINTEXT_DIGESTS,
    MODE_MIME_DIGESTS,
    MODE_SUMMARY_DIGESTS,
} DeliveryMode;
const char *delivery_status_text(DeliveryStatus status);
bool delivery_status_parse(const char *text, DeliveryStatus *status);
const char *delivery_mode_text(DeliveryMode mode);
bool delivery_mode_parse(const char *text, DeliveryMode *mode);

/* The preferences of a member. -1, and the empty language, mean that a value is not set at this level. */
typedef struct Preferences {
    int acknowledge_posts, hide_address, receive_list_copy, receive_own_postings; /* 0, 1 */
    int delivery_mode, delivery_status;
    char preferred_language[PREFERENCE_LANGUAGE_SIZE]; /* "de" */
} Preferences;
extern const Preferences preferences_unset;
extern const Preferences preferences_default; /* what counts where nobody said anything; the language is the list's */
bool preferences_are_unset(const Preferences *preferences);
/* Read, or write, the preferences that the site has set in place of preferences_default. They hold for everybody who
 * did not choose otherwise. */
bool site_preferences(Store *store, Preferences *preferences, GError **error);
bool site_set_preferences(Store *store, const Preferences *preferences, GError **error);

typedef struct Member {
    char id[STORE_ID_SIZE];
    char user_id[STORE_ID_SIZE]; /* "": the address belongs to no user */
    char *list_id, *address;
    char *display_name; /* the name of the address or its user, else given_name: for the site and mail to the person */
    char *given_name;   /* the name given with this membership: the only one that owners and members of the list see */
    Role role;
    bool as_user;             /* follows the address that the user prefers */
    Action moderation_action; /* ACTION_UNSET: the list's default */
    int64_t joined_at;
    int64_t bounce_score;  /* hundredths */
    int64_t bounced_at, warned_at, warnings; /* times of the last bounce and warning (0: none); how many warnings */
    Preferences own;       /* set on the member itself */
    Preferences effective; /* after inheritance: no field is -1; a language may be empty: the list's */
} Member;

void member_free(Member *member);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Member, member_free)

/* Give address the role on the list; an address that is not known is made, with a user. display_name (may be NULL) is
 * kept as given_name, and becomes the name of the address only if that is made here. own may be NULL. FAIL_EXISTS: the
 * address has that role already; FAIL_NEVER: no valid address; FAIL_MISSING: no such list. */
bool member_add(Store *store, const char *list_id, Role role, const Mailbox *address, const char *display_name,
                const Preferences *own, GError **error);
/* Subscribe the user who has address, so that the membership follows the address that the user prefers; where none is
 * preferred, address becomes that. */
bool member_add_user(Store *store, const char *list_id, Role role, const Mailbox *address, GError **error);
bool member_remove(Store *store, const char *list_id, Role role, const Mailbox *address, GError **error);
/* Return the member; member_free(). member_find_soon() announces the question (store.h). */
void member_find_soon(Store *store, const char *list_id, Role role, const Mailbox *address);
Member *member_find(Store *store, const char *list_id, Role role, const Mailbox *address, GError **error);
/* Set *member to the member, or to NULL when there is none; member_free(). FAIL_MISSING: there is no such list. */
bool member_look_up(Store *store, const char *list_id, Role role, const Mailbox *address, Member **member,
                    GError **error);
bool member_set_preferences(Store *store, const char *list_id, Role role, const Mailbox *address,
                            const Preferences *own, GError **error);
bool member_set_moderation(Store *store, const char *list_id, Role role, const Mailbox *address, Action action,
                           GError **error);
/* Return the action that a member's moderation_action amounts to before the list's default: posts of owners and
 * moderators pass. */
Action member_action(Role role, Action own);
Member *member_by_id(Store *store, const char *id, GError **error); /* member_free() */
/* Give the membership to another address (made when unknown), and so to the person whose that one is. The address stays
 * with its person. FAIL_EXISTS: it has the role already. */
bool member_set_address(Store *store, const char *id, const Mailbox *address, GError **error);

/* Which members member_page() and others take. Start with MEMBER_CRITERIA_ALL. Strings are borrowed. */
typedef struct MemberCriteria {
    const char *list_id;    /* NULL: all lists */
    const char *address;    /* members with this address; NULL: any */
    const char *subscriber; /* for what people type: an address, or a pattern where * stands for any text, over address
                               and name; NULL: any */
    bool given_names;       /* subscriber is compared with given_name, not with display_name */
    const char *user_id;    /* memberships of this user, by any address; NULL: any */
    unsigned roles;         /* 1u << ROLE_..., joined by |; 0: all */
    int moderation_action;  /* of member_action(); -1: any */
    int delivery_mode, delivery_status; /* effective; -1: any */
    int64_t skip;           /* for member_page() with `after` NULL: how many members are passed over first */
    bool by_address;        /* in order of list, address, role; else of list, role (owner, moderator, member,
                               nonmember), address */
} MemberCriteria;
#define MEMBER_CRITERIA_ALL ((MemberCriteria){.moderation_action = -1, .delivery_mode = -1, .delivery_status = -1})

/* Return at most limit members (of Member, freed with the array) behind the place `after` (NULL: from the first). *next
 * (next may be NULL; g_free()) is the `after` of the next page, or NULL: there are no more. A place stays good while
 * members come and go. Lists come in order of List-Id, addresses by domain, then local part. FAIL_MISSING: no such
 * list; FAIL_NEVER: `after` is no place. */
GPtrArray *member_page(Store *store, const MemberCriteria *criteria, const char *after, unsigned limit, char **next,
                       GError **error);
/* Return the List-Ids of the lists on which any member meets criteria, each once and in order; g_strfreev(). Unless an
 * address or user is given, no more is read of each list than its first such member. */
char **member_lists(Store *store, const MemberCriteria *criteria, GError **error);
/* Return the owners and moderators of all lists whose addresses begin with start (in any case, in quotes or not) and
 * are in the domain (written as they have it). The array frees its Member *. */
GPtrArray *member_running_at(Store *store, const char *domain, const char *start, GError **error);
/* Count the members that meet criteria. With list_id and roles alone that is cheap; otherwise all are looked at. */
bool member_matching(Store *store, const MemberCriteria *criteria, int64_t *count, GError **error);

/* Add many members, in any order, by few statements each: open, add each line, sort, add some while there are
 * *more, free. From open to sort use the store for nothing else (other connections may write). The lines need room
 * where the system keeps temporary files.
 *
 * member_import_add() takes each number once. FAIL_NEVER: no valid address; the caller may go on with the next line.
 * member_import_some() commits 10,000 members, or leaves them to the transaction that the caller has open, and commits
 * after it. It calls each for every line that was stored, in order of address; refusal is NULL, or FAIL_EXISTS: the
 * address has the role already, perhaps by an earlier line. */
typedef struct MemberImport MemberImport;
typedef void MemberImported(int64_t number, const char *address, const GError *refusal, void *data);
MemberImport *member_import_open(Store *store, const char *list_id, Role role, GError **error);
bool member_import_add(MemberImport *import, int64_t number, const char *address, const char *display_name,
                       const Preferences *own, GError **error);
bool member_import_sort(MemberImport *import, GError **error);
bool member_import_some(MemberImport *import, MemberImported *each, void *data, bool *more, GError **error);
void member_import_free(MemberImport *import);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MemberImport, member_import_free)

/* Call each for the members with the role, by domain, then local part. each must not write to the store; it returns
 * false to stop, and member_each() then returns true. An address subscribed by itself and by its user comes twice. */
typedef bool MemberEach(const Member *member, void *data);
bool member_each(Store *store, const char *list_id, Role role, MemberEach *each, void *data, GError **error);
/* Count the members with the role. */
bool member_count(Store *store, const char *list_id, Role role, int64_t *count, GError **error);
/* Count the members of the list who have addresses of the mail domain (in lower case); no more than `most` are looked
 * at. */
bool member_count_at(Store *store, const char *list_id, const char *domain, int64_t most, int64_t *count,
                     GError **error);

/* Walk the recipients of a post: members with regular delivery (any, where digests_enabled is no) that is enabled, each
 * address once, by domain, then local part (bytes of the lower case). The sender (any address of that user; may be
 * NULL) is left out where receive_own_postings says so. Addresses of To and Cc in `copied` (NULL-terminated; may be
 * NULL) are left out where receive_list_copy says so. A user who subscribed two addresses gets two copies. From the
 * first recipient to the last, a cursor holds a snapshot of the database: do not keep it open for long. Free it before
 * its store. */
typedef struct RecipientCursor RecipientCursor;
RecipientCursor *recipient_cursor_open(Store *store, const char *list_id, const char *sender,
                                       const char *const *copied, GError **error);
/* As recipient_cursor_open(), with names: recipient_cursor_name() then gives the name of the recipient that came last,
 * of the address or else of its user; "" when none is known; borrowed until the next call. */
RecipientCursor *recipient_cursor_open_named(Store *store, const char *list_id, const char *sender,
                                             const char *const *copied, GError **error);
/* The recipients of a digest: members who want this format and language. The members in `last` who have this language
 * want no digests any more, and get a last one. */
typedef struct RecipientDigest {
    bool plain;              /* MODE_PLAINTEXT_DIGESTS, else the others, which are MIME */
    const char *language;    /* "": no language was set */
    const char *const *last; /* NULL-terminated, may be NULL */
} RecipientDigest;
RecipientCursor *recipient_cursor_open_digest(Store *store, const char *list_id, const RecipientDigest *digest,
                                              bool names, GError **error);
/* Leave out members who want none of the topics that the post is `of` (NULL-terminated names, may be empty); known are
 * the names of all topics that the list has (store/lists/topic.h). Call it before the first recipient. */
void recipient_cursor_choose_topics(RecipientCursor *cursor, const char *const *known, const char *const *of);
const char *recipient_cursor_name(RecipientCursor *cursor);
/* Return the next address, borrowed until the next call; NULL at the end or with *error set. */
const char *recipient_cursor_next(RecipientCursor *cursor, GError **error);
void recipient_cursor_free(RecipientCursor *cursor);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RecipientCursor, recipient_cursor_free)

/* Announce recipient_count() and then recipient_cursor_open() with this sender (store.h, xxx_soon()). */
void recipient_soon(Store *store, const char *list_id, const char *sender);

/* Set *count to an upper bound of how many recipients a cursor will give. */
bool recipient_count(Store *store, const char *list_id, int64_t *count, GError **error);

/* Return the addresses of owners and moderators whose delivery is enabled, each once; mail to the list's -owner address
 * goes to them. May be empty. g_strfreev() */
char **list_administrators(Store *store, const char *list_id, GError **error);
