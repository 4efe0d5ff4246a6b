/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The kinds of carry.h, and the tables that stay. */
#include "store/carry.h"

#define ACTIONS "hold|reject|discard|accept|defer"
#define ROLES "member|owner|moderator|nonmember"
#define PREFERENCES(prefix)                                                                                 \
    prefix "acknowledge_posts, " prefix "hide_address, " prefix "receive_list_copy, " prefix                \
           "receive_own_postings, " prefix "delivery_mode, " prefix "delivery_status, " prefix "preferred_language"
#define MODES "regular|plaintext_digests|mime_digests|summary_digests"
#define STATUSES "enabled|by_user|by_bounces|by_moderator|unknown"
#define PREFERENCE_FIELDS                                                                                            \
    {"acknowledge_posts", CARRY_BOOL, NULL}, {"hide_address", CARRY_BOOL, NULL},                                     \
        {"receive_list_copy", CARRY_BOOL, NULL}, {"receive_own_postings", CARRY_BOOL, NULL},                         \
        {"delivery_mode", CARRY_CHOICE, MODES}, {"delivery_status", CARRY_CHOICE, STATUSES},                         \
        {"preferred_language", CARRY_TEXT, NULL}

/* The people whom a list needs. */
#define PEOPLE                                                                                       \
    "(SELECT person FROM member WHERE list = $1 UNION SELECT a.person FROM digest_last d "           \
    "JOIN address a ON a.key = d.address WHERE d.list = $1)"
#define OF_MEMBER "FROM member m WHERE m.key = $2 AND m.list = $1 ON CONFLICT DO NOTHING"

const CarryKind carry_kinds[] = {
    {"domain", false, CARRY_NOTHING,
     "SELECT mail_host, description, alias_domain FROM domain ORDER BY mail_host",
     "SELECT d.mail_host, d.description, d.alias_domain FROM domain d JOIN list l ON l.mail_host = d.mail_host "
     "WHERE l.key = $1",
     NULL,
     {{"mail_host", CARRY_TEXT, NULL}, {"description", CARRY_TEXT, NULL}, {"alias_domain", CARRY_TEXT, NULL}}},
    {"site_preferences", false, CARRY_NOTHING, "SELECT " PREFERENCES("") " FROM site_preference", NULL,
     "INSERT INTO site_preference (one, " PREFERENCES("") ") VALUES (1, $1, $2, $3, $4, $5, $6, $7) "
     "ON CONFLICT DO NOTHING",
     {PREFERENCE_FIELDS}},
    {"secret", false, CARRY_SECRET, "SELECT key, octets, replaced_at FROM secret ORDER BY key", NULL,
     "INSERT INTO secret (key, octets, replaced_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
     {{"id", CARRY_ID, NULL}, {"bytes", CARRY_BYTES, NULL}, {"replaced_at", CARRY_INTEGER, NULL}}},
    {"token", false, CARRY_NOTHING,
     "SELECT id, digest, name, verbs, lists, domains, metrics, made_at, expires_at, used_at FROM token ORDER BY id", NULL,
     "INSERT INTO token (id, digest, name, verbs, lists, domains, metrics, made_at, expires_at, used_at) "
     "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING",
     {{"id", CARRY_TEXT, NULL}, {"digest", CARRY_TEXT, NULL}, {"name", CARRY_TEXT, NULL}, {"verbs", CARRY_TEXT, NULL},
      {"lists", CARRY_TEXT, NULL}, {"domains", CARRY_TEXT, NULL}, {"metrics", CARRY_BOOL, NULL},
      {"made_at", CARRY_INTEGER, NULL}, {"expires_at", CARRY_INTEGER, NULL}, {"used_at", CARRY_INTEGER, NULL}}},
    {"site_ban", false, CARRY_NOTHING,
     "SELECT key, email, folded, made_at FROM ban WHERE list IS NULL ORDER BY key", NULL,
     "INSERT INTO ban (key, list, email, folded, made_at) VALUES ($1, NULL, $2, $3, $4) ON CONFLICT DO NOTHING",
     {{"id", CARRY_ID, NULL}, {"email", CARRY_TEXT, NULL}, {"folded", CARRY_TEXT, NULL},
      {"made_at", CARRY_INTEGER, NULL}}},
    {"site_header_match", false, CARRY_NOTHING,
     "SELECT key, position, header, pattern, target, tag FROM header_match WHERE list IS NULL ORDER BY position, key",
     NULL,
     "INSERT INTO header_match (key, list, position, header, pattern, target, tag) VALUES ($1, NULL, $2, $3, $4, $5, $6) "
     "ON CONFLICT DO NOTHING",
     {{"id", CARRY_ID, NULL}, {"position", CARRY_INTEGER, NULL}, {"header", CARRY_TEXT, NULL},
      {"pattern", CARRY_TEXT, NULL}, {"target", CARRY_TEXT, NULL}, {"tag", CARRY_TEXT, NULL}}},
#define TEMPLATE "SELECT place, name, language, uri, username, password, text, fetched_at, fault FROM template WHERE place "
#define TEMPLATE_FIELDS                                                                                             \
    {"place", CARRY_TEXT, NULL}, {"name", CARRY_TEXT, NULL}, {"language", CARRY_TEXT, NULL},                        \
        {"uri", CARRY_TEXT, NULL}, {"username", CARRY_TEXT, NULL}, {"password", CARRY_TEXT, NULL},                  \
        {"text", CARRY_TEXT, NULL}, {"fetched_at", CARRY_INTEGER, NULL}, {"fault", CARRY_TEXT, NULL}
    {"site_template", false, CARRY_NOTHING,
     TEMPLATE "NOT IN (SELECT list_id FROM list) ORDER BY place, name, language", NULL,
     "INSERT INTO template (place, name, language, uri, username, password, text, fetched_at, fault) "
     "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING",
     {TEMPLATE_FIELDS}},
    {"user", false, CARRY_USER,
     "SELECT key, display_name, created_at, password, server_owner, stands_in FROM person ORDER BY key",
     "SELECT key, display_name, created_at, password, server_owner, stands_in FROM person WHERE key IN " PEOPLE
     " ORDER BY key",
     "INSERT INTO person (key, display_name, created_at, password, server_owner, stands_in) "
     "VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
     {{"id", CARRY_ID, NULL}, {"display_name", CARRY_TEXT, NULL}, {"created_at", CARRY_INTEGER, NULL},
      {"password", CARRY_TEXT, NULL}, {"server_owner", CARRY_BOOL, NULL}, {"address_alone", CARRY_BOOL, NULL}}},
    {"user_preferences", false, CARRY_NOTHING,
     "SELECT person, " PREFERENCES("") " FROM person_preference ORDER BY person",
     "SELECT person, " PREFERENCES("") " FROM person_preference WHERE person IN " PEOPLE " ORDER BY person",
     "INSERT INTO person_preference (person, " PREFERENCES("") ") SELECT p.key, $2, $3, $4, $5, $6, $7, $8 "
     "FROM person p WHERE p.key = $1 ON CONFLICT DO NOTHING",
     {{"user", CARRY_ID, NULL}, PREFERENCE_FIELDS}},
#define ADDRESS "SELECT key, email, person, preferred, display_name, registered_at, verified_at FROM address "
    {"address", false, CARRY_ADDRESS, ADDRESS "ORDER BY key", ADDRESS "WHERE person IN " PEOPLE " ORDER BY key",
     "INSERT INTO address (key, email, folded, person, preferred, display_name, registered_at, verified_at) "
     "SELECT $1, $2, $3, p.key, $5, $6, $7, $8 FROM person p WHERE p.key = $4 ON CONFLICT DO NOTHING",
     {{"id", CARRY_ID, NULL}, {"email", CARRY_EMAIL, NULL}, {"user", CARRY_ID, NULL}, {"preferred", CARRY_BOOL, NULL},
      {"display_name", CARRY_TEXT, NULL}, {"registered_at", CARRY_INTEGER, NULL}, {"verified_at", CARRY_INTEGER, NULL}}},
    {"address_preferences", false, CARRY_NOTHING,
     "SELECT address, " PREFERENCES("") " FROM address_preference ORDER BY address",
     "SELECT address, " PREFERENCES("") " FROM address_preference WHERE address IN "
     "(SELECT key FROM address WHERE person IN " PEOPLE ") ORDER BY address",
     "INSERT INTO address_preference (address, " PREFERENCES("") ") SELECT a.key, $2, $3, $4, $5, $6, $7, $8 "
     "FROM address a WHERE a.key = $1 ON CONFLICT DO NOTHING",
     {{"address", CARRY_ID, NULL}, PREFERENCE_FIELDS}},
    {"stranger_address", false, CARRY_NOTHING,
     "SELECT address FROM stranger_address ORDER BY address",
     "SELECT address FROM stranger_address WHERE address IN (SELECT key FROM address WHERE person IN " PEOPLE
     ") ORDER BY address",
     "INSERT INTO stranger_address (address) SELECT a.key FROM address a WHERE a.key = $1 ON CONFLICT DO NOTHING",
     {{"address", CARRY_ID, NULL}}},
    {"domain_owner", false, CARRY_NOTHING,
     "SELECT mail_host, person FROM domain_owner ORDER BY mail_host, person", NULL,
     "INSERT INTO domain_owner (mail_host, person) SELECT d.mail_host, p.key FROM domain d CROSS JOIN person p "
     "WHERE d.mail_host = $1 AND p.key = $2 ON CONFLICT DO NOTHING",
     {{"mail_host", CARRY_TEXT, NULL}, {"user", CARRY_ID, NULL}}},

    {"digest", true, CARRY_NOTHING,
     "SELECT volume, next_number, sent_at, (SELECT count(*) FROM digest_post p WHERE p.list = $1 AND p.issue IS NULL), "
     "octets, first_at FROM digest WHERE list = $1",
     NULL,
     "INSERT INTO digest (list, volume, next_number, sent_at, waiting, octets, first_at) "
     "VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (list) DO UPDATE SET volume = excluded.volume, "
     "next_number = excluded.next_number, sent_at = excluded.sent_at, waiting = excluded.waiting, "
     "octets = excluded.octets, first_at = excluded.first_at",
     {{"volume", CARRY_INTEGER, NULL}, {"next_number", CARRY_INTEGER, NULL}, {"sent_at", CARRY_INTEGER, NULL},
      {"waiting", CARRY_INTEGER, NULL}, {"octets", CARRY_INTEGER, NULL}, {"first_at", CARRY_INTEGER, NULL}}},
    {"digest_post", true, CARRY_NOTHING,
     "SELECT key, message FROM digest_post WHERE list = $1 AND issue IS NULL ORDER BY key", NULL,
     "INSERT INTO digest_post (key, list, message) VALUES ($2, $1, $3) ON CONFLICT DO NOTHING",
     {{"id", CARRY_ID, NULL}, {"message", CARRY_BYTES, NULL}}},
    {"news", true, CARRY_NOTHING, "SELECT newsgroup, watermark, looked_at, fault FROM news WHERE list = $1", NULL,
     "INSERT INTO news (list, newsgroup, watermark, looked_at, fault) VALUES ($1, $2, $3, $4, $5) "
     "ON CONFLICT (list) DO UPDATE SET newsgroup = excluded.newsgroup, watermark = excluded.watermark, "
     "looked_at = excluded.looked_at, fault = excluded.fault",
     {{"newsgroup", CARRY_TEXT, NULL}, {"watermark", CARRY_INTEGER, NULL}, {"looked_at", CARRY_INTEGER, NULL},
      {"fault", CARRY_TEXT, NULL}}},
    {"member", true, CARRY_MEMBER,
     "SELECT key, role, email, by_person, moderation_action, joined_at, given_name, topics, topics_unmatched, "
     PREFERENCES("") " FROM member WHERE list = $1 ORDER BY role, folded, by_person",
     NULL,
     "INSERT INTO member (list, key, role, email, folded, by_person, moderation_action, joined_at, given_name, topics, "
     "topics_unmatched, " PREFERENCES("") ", address, person) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, "
     "$13, $14, $15, $16, $17, $18, a.key, a.person FROM address a WHERE a.folded = $5 ON CONFLICT DO NOTHING",
     {{"id", CARRY_ID, NULL}, {"role", CARRY_CHOICE, ROLES}, {"email", CARRY_EMAIL, NULL}, {"as_user", CARRY_BOOL, NULL},
      {"moderation_action", CARRY_CHOICE, ACTIONS}, {"joined_at", CARRY_INTEGER, NULL}, {"given_name", CARRY_TEXT, NULL},
      {"topics", CARRY_TEXT, NULL}, {"topics_unmatched", CARRY_BOOL, NULL}, PREFERENCE_FIELDS}},
    {"bounce_score", true, CARRY_NOTHING,
     "SELECT s.member, s.score, s.last_bounce_at, s.probe_at, s.disabled_at, s.warnings, s.next_at, s.warned_at "
     "FROM bounce_score s JOIN member m ON m.key = s.member WHERE m.list = $1 ORDER BY s.member",
     NULL,
     "INSERT INTO bounce_score (member, score, last_bounce_at, probe_at, disabled_at, warnings, next_at, warned_at) "
     "SELECT m.key, $3, $4, $5, $6, $7, $8, $9 " OF_MEMBER,
     {{"member", CARRY_ID, NULL}, {"score", CARRY_INTEGER, NULL}, {"last_bounce_at", CARRY_INTEGER, NULL},
      {"probe_at", CARRY_INTEGER, NULL}, {"disabled_at", CARRY_INTEGER, NULL}, {"warnings", CARRY_INTEGER, NULL},
      {"next_at", CARRY_INTEGER, NULL}, {"warned_at", CARRY_INTEGER, NULL}}},
    {"vacation", true, CARRY_NOTHING,
     "SELECT v.member, v.begins_at, v.ends_at, v.begun FROM vacation v JOIN member m ON m.key = v.member "
     "WHERE m.list = $1 ORDER BY v.member",
     NULL,
     "INSERT INTO vacation (member, begins_at, ends_at, begun) SELECT m.key, $3, $4, $5 " OF_MEMBER,
     {{"member", CARRY_ID, NULL}, {"begins_at", CARRY_INTEGER, NULL}, {"ends_at", CARRY_INTEGER, NULL},
      {"begun", CARRY_BOOL, NULL}}},
    {"stranger", true, CARRY_NOTHING,
     "SELECT s.member, s.seen_at FROM stranger s JOIN member m ON m.key = s.member WHERE m.list = $1 ORDER BY s.member",
     NULL, "INSERT INTO stranger (member, seen_at) SELECT m.key, $3 " OF_MEMBER,
     {{"member", CARRY_ID, NULL}, {"seen_at", CARRY_INTEGER, NULL}}},
    {"digest_last", true, CARRY_NOTHING,
     "SELECT a.email, d.mode FROM digest_last d JOIN address a ON a.key = d.address WHERE d.list = $1 AND "
     "d.issue IS NULL ORDER BY a.folded",
     NULL,
     "INSERT INTO digest_last (list, address, mode) SELECT $1, a.key, $4 FROM address a WHERE a.folded = $3 AND "
     "$2 = $2 ON CONFLICT DO NOTHING",
     {{"email", CARRY_EMAIL, NULL}, {"mode", CARRY_CHOICE, MODES}}},
    {"bounce", true, CARRY_NOTHING,
     "SELECT email, day, bounces, weight, class, status, reason, source, text, last_at FROM bounce WHERE list = $1 "
     "ORDER BY folded, day",
     NULL,
     "INSERT INTO bounce (list, email, folded, day, bounces, weight, class, status, reason, source, text, last_at) "
     "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING",
     {{"email", CARRY_EMAIL, NULL}, {"day", CARRY_INTEGER, NULL}, {"bounces", CARRY_INTEGER, NULL},
      {"weight", CARRY_INTEGER, NULL}, {"class", CARRY_TEXT, NULL}, {"status", CARRY_TEXT, NULL},
      {"reason", CARRY_TEXT, NULL}, {"source", CARRY_TEXT, NULL}, {"text", CARRY_TEXT, NULL},
      {"last_at", CARRY_INTEGER, NULL}}},
    {"bounce_count", true, CARRY_NOTHING,
     "SELECT day, what, number FROM bounce_count WHERE list = $1 ORDER BY day, what", NULL,
     "INSERT INTO bounce_count (list, day, what, number) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
     {{"day", CARRY_INTEGER, NULL}, {"what", CARRY_TEXT, NULL}, {"number", CARRY_INTEGER, NULL}}},
    {"ban", true, CARRY_NOTHING, "SELECT key, email, folded, made_at FROM ban WHERE list = $1 ORDER BY key", NULL,
     "INSERT INTO ban (list, key, email, folded, made_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
     {{"id", CARRY_ID, NULL}, {"email", CARRY_TEXT, NULL}, {"folded", CARRY_TEXT, NULL},
      {"made_at", CARRY_INTEGER, NULL}}},
    {"header_match", true, CARRY_NOTHING,
     "SELECT key, position, header, pattern, target, tag FROM header_match WHERE list = $1 ORDER BY position, key", NULL,
     "INSERT INTO header_match (list, key, position, header, pattern, target, tag) "
     "VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
     {{"id", CARRY_ID, NULL}, {"position", CARRY_INTEGER, NULL}, {"header", CARRY_TEXT, NULL},
      {"pattern", CARRY_TEXT, NULL}, {"target", CARRY_TEXT, NULL}, {"tag", CARRY_TEXT, NULL}}},
    {"template", true, CARRY_NOTHING,
     TEMPLATE "= (SELECT list_id FROM list WHERE key = $1) ORDER BY place, name, language", NULL,
     "INSERT INTO template (place, name, language, uri, username, password, text, fetched_at, fault) "
     "SELECT l.list_id, $3, $4, $5, $6, $7, $8, $9, $10 FROM list l WHERE l.key = $1 AND l.list_id = $2 "
     "ON CONFLICT DO NOTHING",
     {TEMPLATE_FIELDS}},
    {"held", true, CARRY_HELD,
     "SELECT number, list_number, message_id, subject, sender, reason, meta, held_at, message, told, token, asked_until, "
     "room, stranger FROM held WHERE list = $1 ORDER BY number",
     NULL,
     "INSERT INTO held (list, number, list_number, message_id, subject, sender, reason, meta, held_at, message, told, "
     "token, asked_until, room, stranger) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) "
     "ON CONFLICT DO NOTHING",
     {{"number", CARRY_INTEGER, NULL}, {"list_number", CARRY_INTEGER, NULL}, {"message_id", CARRY_TEXT, NULL},
      {"subject", CARRY_TEXT, NULL}, {"sender", CARRY_TEXT, NULL}, {"reason", CARRY_TEXT, NULL},
      {"meta", CARRY_TEXT, NULL}, {"held_at", CARRY_INTEGER, NULL}, {"message", CARRY_BYTES, NULL},
      {"told", CARRY_INTEGER, NULL}, {"token", CARRY_TEXT, NULL}, {"asked_until", CARRY_INTEGER, NULL},
      {"room", CARRY_INTEGER, NULL}, {"stranger", CARRY_BOOL, NULL}}},
    {"held_notice", true, CARRY_NOTHING, "SELECT told_at FROM held_notice WHERE list = $1", NULL,
     "INSERT INTO held_notice (list, told_at) VALUES ($1, $2) ON CONFLICT DO NOTHING",
     {{"told_at", CARRY_INTEGER, NULL}}},
    {"request", true, CARRY_REQUEST,
     "SELECT number, kind, address, display_name, facts, waits_for, token, made_at, asked_at, expires_at, delivery_mode, "
     "delivery_status, by_person, welcome, detail, way FROM pending WHERE list = $1 ORDER BY number",
     NULL,
     "INSERT INTO pending (list, number, kind, address, folded, display_name, facts, waits_for, token, made_at, asked_at, "
     "expires_at, delivery_mode, delivery_status, by_person, welcome, detail, way) VALUES ($1, $2, $3, $4, $5, $6, $7, "
     "$8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) ON CONFLICT DO NOTHING",
     {{"number", CARRY_INTEGER, NULL}, {"kind", CARRY_CHOICE, "join|leave|change_address|set"},
      {"email", CARRY_EMAIL, NULL}, {"display_name", CARRY_TEXT, NULL}, {"facts", CARRY_INTEGER, NULL},
      {"waits_for", CARRY_CHOICE, "person|moderator"}, {"token", CARRY_TEXT, NULL}, {"made_at", CARRY_INTEGER, NULL},
      {"asked_at", CARRY_INTEGER, NULL}, {"expires_at", CARRY_INTEGER, NULL}, {"delivery_mode", CARRY_CHOICE, MODES},
      {"delivery_status", CARRY_CHOICE, STATUSES}, {"as_user", CARRY_BOOL, NULL},
      {"welcome", CARRY_CHOICE, "as_list|yes|no"}, {"detail", CARRY_TEXT, NULL}, {"way", CARRY_INTEGER, NULL}}},
/* Numbers of another site may be others here, so a letter names held posts by their numbers in the list, and requests by
 * their place among those of the list. */
#define HELD_NUMBER(which) \
    "COALESCE((SELECT " which "(list_number) FROM held WHERE list = $1 AND number BETWEEN t.first AND t.last), 0)"
#define REQUEST_PLACE(which)                                                                             \
    "COALESCE((SELECT count(*) FROM pending WHERE list = $1 AND number <= (SELECT " which "(number) "     \
    "FROM pending WHERE list = $1 AND number BETWEEN t.first_request AND t.last_request)), 0)"
#define HELD_OF(parameter) \
    "COALESCE((SELECT number FROM held WHERE list = $1 AND list_number = " parameter "), 0)"
#define REQUEST_OF(parameter)                                                                        \
    "COALESCE((SELECT p.number FROM pending p WHERE p.list = $1 AND (SELECT count(*) FROM pending q " \
    "WHERE q.list = $1 AND q.number <= p.number) = " parameter "), 0)"
    {"moderator_letter", true, CARRY_NOTHING,
     "SELECT token, moderator, " HELD_NUMBER("min") ", " HELD_NUMBER("max") ", " REQUEST_PLACE("min") ", "
     REQUEST_PLACE("max") ", expires_at FROM ticket t WHERE list = $1 ORDER BY token",
     NULL,
     "INSERT INTO ticket (list, token, moderator, first, last, first_request, last_request, expires_at) VALUES ($1, $2, "
     "$3, " HELD_OF("$4") ", " HELD_OF("$5") ", " REQUEST_OF("$6") ", " REQUEST_OF("$7") ", $8) ON CONFLICT DO NOTHING",
     {{"token", CARRY_TEXT, NULL}, {"moderator", CARRY_TEXT, NULL}, {"first", CARRY_INTEGER, NULL},
      {"last", CARRY_INTEGER, NULL}, {"first_request", CARRY_INTEGER, NULL}, {"last_request", CARRY_INTEGER, NULL},
      {"expires_at", CARRY_INTEGER, NULL}}},
    {"answer", true, CARRY_NOTHING,
     "SELECT kind, address, entry, answered_at FROM autoresponse WHERE list = $1 ORDER BY kind, address", NULL,
     "INSERT INTO autoresponse (list, kind, address, entry, answered_at) VALUES ($1, $2, $3, $4, $5) "
     "ON CONFLICT DO NOTHING",
     {{"kind", CARRY_TEXT, NULL}, {"address", CARRY_TEXT, NULL}, {"entry", CARRY_TEXT, NULL},
      {"answered_at", CARRY_INTEGER, NULL}}},
    {"departure", true, CARRY_NOTHING,
     "SELECT key, address, domain, way, counts, left_at, expires_at, token, by_person, given_name, moderation_action, "
     PREFERENCES("") ", topics, topics_unmatched, vacation_begins_at, vacation_ends_at, vacation_begun FROM departure "
     "WHERE list = $1 ORDER BY key",
     NULL,
     "INSERT INTO departure (list, key, address, folded, domain, way, counts, left_at, expires_at, token, by_person, "
     "given_name, moderation_action, " PREFERENCES("") ", topics, topics_unmatched, vacation_begins_at, "
     "vacation_ends_at, vacation_begun) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, "
     "$17, $18, $19, $20, $21, $22, $23, $24, $25) ON CONFLICT DO NOTHING",
     {{"id", CARRY_ID, NULL}, {"email", CARRY_EMAIL, NULL}, {"domain", CARRY_TEXT, NULL}, {"way", CARRY_INTEGER, NULL},
      {"counts", CARRY_BOOL, NULL}, {"left_at", CARRY_INTEGER, NULL}, {"expires_at", CARRY_INTEGER, NULL},
      {"token", CARRY_TEXT, NULL}, {"as_user", CARRY_BOOL, NULL}, {"given_name", CARRY_TEXT, NULL},
      {"moderation_action", CARRY_CHOICE, ACTIONS}, PREFERENCE_FIELDS, {"topics", CARRY_TEXT, NULL},
      {"topics_unmatched", CARRY_BOOL, NULL}, {"vacation_begins_at", CARRY_INTEGER, NULL},
      {"vacation_ends_at", CARRY_INTEGER, NULL}, {"vacation_begun", CARRY_BOOL, NULL}}},
    {"leave_brake", true, CARRY_NOTHING,
     "SELECT domain, closed_at, closed_until, gone, waiting, told_at FROM leave_brake WHERE list = $1 ORDER BY domain",
     NULL,
     "INSERT INTO leave_brake (list, domain, closed_at, closed_until, gone, waiting, told_at) "
     "VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
     {{"domain", CARRY_TEXT, NULL}, {"closed_at", CARRY_INTEGER, NULL}, {"closed_until", CARRY_INTEGER, NULL},
      {"gone", CARRY_INTEGER, NULL}, {"waiting", CARRY_INTEGER, NULL}, {"told_at", CARRY_INTEGER, NULL}}},
    {"pace", true, CARRY_NOTHING,
     "SELECT address, first_at, began_at, posts, past FROM pace WHERE list = $1 ORDER BY address", NULL,
     "INSERT INTO pace (list, address, first_at, began_at, posts, past) VALUES ($1, $2, $3, $4, $5, $6) "
     "ON CONFLICT DO NOTHING",
     {{"address", CARRY_TEXT, NULL}, {"first_at", CARRY_INTEGER, NULL}, {"began_at", CARRY_INTEGER, NULL},
      {"posts", CARRY_INTEGER, NULL}, {"past", CARRY_INTEGER, NULL}}},
    {"log", true, CARRY_NOTHING,
     "SELECT key, made_at, door, made_by, kind, name, before, after FROM list_log WHERE list = $1 ORDER BY key", NULL,
     "INSERT INTO list_log (list, key, made_at, door, made_by, kind, name, before, after) "
     "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING",
     {{"id", CARRY_ID, NULL}, {"made_at", CARRY_INTEGER, NULL}, {"door", CARRY_TEXT, NULL}, {"by", CARRY_TEXT, NULL},
      {"kind", CARRY_TEXT, NULL}, {"name", CARRY_TEXT, NULL}, {"before", CARRY_TEXT, NULL}, {"after", CARRY_TEXT, NULL}}},
    {NULL, false, CARRY_NOTHING, NULL, NULL, NULL, {{NULL, CARRY_TEXT, NULL}}},
};

static const char *const leaves[] = {
    "domain", "list", "list_setting", "person", "address", "person_preference", "address_preference", "member", "held",
    "secret", "bounce", "bounce_score", "bounce_count", "pending", "ban", "header_match", "vacation", "domain_owner",
    "held_notice", "ticket", "autoresponse", "template", "digest", "digest_post", "digest_last", "news", "token", "pace",
    "site_preference", "stranger", "stranger_address", "departure", "leave_brake", "list_log", NULL,
};

/* Pairs of a table and the reason. */
static const char *const stays[][2] = {
    {"counter", "made anew"}, {"span", "made anew"}, {"held_sum", "made anew"}, {"store_version", "made anew"},
    {"effect", "of entries in the spool"}, {"message_id", "of entries in the spool"},
    {"outbox", "of entries in the spool"}, {"outbox_unit", "of entries in the spool"},
    {"digest_issue", "of entries in the spool"}, {"fragment_set", "of entries in the spool"},
    {"fragment_part", "of entries in the spool"}, {"fragment_waiting", "of entries in the spool"},
    {"answer", "limits of the last hours"}, {"guess", "limits of the last hours"},
    {"account", "limits of the last hours"}, {"job", "of this installation"}, {"site", "of this installation"},
    {"host", "of this installation"}, {"claim", "of this installation"}, {"canary", "of this installation"},
    {"moved", "of this installation"}, {"removed_list", "of this installation"}, {"event", "told to programs here"},
    {"session", "people sign in again"}, {"spent_token", "says why an old token is not good"},
};

bool carry_table(const char *table, const char **why)
{
    *why = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(stays); i++)
        if (g_str_equal(stays[i][0], table))
            *why = stays[i][1];
    return g_strv_contains(leaves, table);
}
