/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The kinds of carry.h, and the tables that stay. */
#include "store/lists/list_choice.h"
#include "store/moving/carry.h"

/* Fields: one that is always there, one that may be missing, and such that are secrets. */
#define FIELD(name, type, words, may, secret) {name, CARRY_##type, words, may, secret}
#define MUST(name, type) FIELD(name, type, NULL, false, false)
#define MAY(name, type) FIELD(name, type, NULL, true, false)
#define SECRET_MUST(name, type) FIELD(name, type, NULL, false, true)
#define SECRET_MAY(name, type) FIELD(name, type, NULL, true, true)
#define WORD(name, words) FIELD(name, CHOICE, words, false, false)
#define MAY_WORD(name, words) FIELD(name, CHOICE, words, true, false)

#define WAYS "mail|page|one-click|complaint|rest|shell|bounces"
#define ROLES "member|owner|moderator|nonmember"
#define PREFERENCES(prefix)                                                                                 \
    prefix "acknowledge_posts, " prefix "hide_address, " prefix "receive_list_copy, " prefix                \
           "receive_own_postings, " prefix "delivery_mode, " prefix "delivery_status, " prefix "preferred_language"
#define MODES "regular|plaintext_digests|mime_digests|summary_digests"
#define STATUSES "enabled|by_user|by_bounces|by_moderator|unknown"
#define PREFERENCE_FIELDS                                                                                     \
    MAY("acknowledge_posts", BOOL), MAY("hide_address", BOOL), MAY("receive_list_copy", BOOL),                \
        MAY("receive_own_postings", BOOL), MAY_WORD("delivery_mode", MODES), MAY_WORD("delivery_status", STATUSES), \
        MAY("preferred_language", TEXT)

/* The people whom a list needs. */
#define PEOPLE                                                                                       \
    "(SELECT person FROM member WHERE list = $1 UNION SELECT a.person FROM digest_last d "           \
    "JOIN address a ON a.key = d.address WHERE d.list = $1)"
#define OF_MEMBER "FROM member m WHERE m.key = $2 AND m.list = $1 ON CONFLICT DO NOTHING"

/* clang-format off */
const CarryKind carry_kinds[] = {
    {"domain", false, CARRY_OF_SITE, CARRY_NOTHING,
     "SELECT mail_host, description, alias_domain FROM domain ORDER BY mail_host",
     "SELECT d.mail_host, d.description, d.alias_domain FROM domain d JOIN list l ON l.mail_host = d.mail_host "
     "WHERE l.key = $1",
     NULL,
     {MUST("mail_host", TEXT), MUST("description", TEXT), MAY("alias_domain", TEXT)}},
    {"site_preferences", false, CARRY_OF_SITE, CARRY_NOTHING, "SELECT " PREFERENCES("") " FROM site_preference", NULL,
     "INSERT INTO site_preference (one, " PREFERENCES("") ") VALUES (1, $1, $2, $3, $4, $5, $6, $7) "
     "ON CONFLICT DO NOTHING",
     {PREFERENCE_FIELDS}},
    {"counter", false, CARRY_OF_MANY, CARRY_NOTHING, 
     "SELECT name, value FROM counter WHERE name IN ('held', 'pending', 'scheduled') ORDER BY name",
     NULL,
     "INSERT INTO counter (name, value) SELECT $1, $2 WHERE $1 IN ('held', 'pending', 'scheduled') AND "
     "$2 < " CARRY_NUMBER_MOST " ON CONFLICT (name) DO UPDATE SET value = excluded.value "
     "WHERE counter.value < excluded.value",
     {MUST("name", TEXT), MUST("value", INTEGER)}},
    {"secret", false, CARRY_OF_SITE, CARRY_NOTHING, "SELECT key, octets, replaced_at FROM secret ORDER BY key", NULL,
     "INSERT INTO secret (key, octets, replaced_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
     {MUST("id", ID), SECRET_MUST("bytes", BYTES), MUST("replaced_at", INTEGER)}},
    {"token", false, CARRY_OF_SITE, CARRY_NOTHING,
     "SELECT id, digest, name, verbs, lists, domains, metrics, made_at, expires_at, used_at FROM token ORDER BY id",
     NULL,
     "INSERT INTO token (id, digest, name, verbs, lists, domains, metrics, made_at, expires_at, used_at) "
     "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING",
     {MUST("id", TEXT), SECRET_MUST("digest", TEXT), MUST("name", TEXT), MUST("verbs", TEXT),
     MUST("lists", TEXT), MUST("domains", TEXT), MUST("metrics", BOOL),
     MUST("made_at", INTEGER), MUST("expires_at", INTEGER), MUST("used_at", INTEGER)}},
    {"site_ban", false, CARRY_OF_SITE, CARRY_NOTHING,
     "SELECT key, email, folded, made_at FROM ban WHERE list IS NULL ORDER BY key", NULL,
     "INSERT INTO ban (key, list, email, folded, made_at) VALUES ($1, NULL, $2, $3, $4) ON CONFLICT DO NOTHING",
     {MUST("id", ID), MUST("email", TEXT), MUST("folded", TEXT),
     MUST("made_at", INTEGER)}},
    {"site_header_match", false, CARRY_OF_SITE, CARRY_NOTHING,
     "SELECT key, position, header, pattern, target, tag FROM header_match WHERE list IS NULL ORDER BY position, key",
     NULL,
     "INSERT INTO header_match (key, list, position, header, pattern, target, tag) VALUES ($1, NULL, $2, $3, $4, $5, "
     "$6) "
     "ON CONFLICT DO NOTHING",
     {MUST("id", ID), MUST("position", INTEGER), MUST("header", TEXT),
     MUST("pattern", TEXT), MAY("target", TEXT), MAY("tag", TEXT)}},
#define TEMPLATE \
    "SELECT place, name, language, uri, username, password, text, fetched_at, fault FROM template WHERE place "
#define TEMPLATE_FIELDS                                                                                         \
    MUST("place", TEXT), MUST("name", TEXT), MUST("language", TEXT), MUST("uri", TEXT), MUST("username", TEXT), \
        SECRET_MAY("password", TEXT), MAY("text", TEXT), MUST("fetched_at", INTEGER), MUST("fault", TEXT)
    {"site_template", false, CARRY_OF_SITE, CARRY_NOTHING,
     TEMPLATE "NOT IN (SELECT list_id FROM list) ORDER BY place, name, language", NULL,
     "INSERT INTO template (place, name, language, uri, username, password, text, fetched_at, fault) "
     "VALUES ($1, $2, $3, $4, $5, COALESCE($6, ''), $7, $8, $9) ON CONFLICT DO NOTHING",
     {TEMPLATE_FIELDS}},
    {"user", false, CARRY_OF_MANY, CARRY_USER,
     "SELECT key, display_name, created_at, password, server_owner, stands_in FROM person ORDER BY key",
     "SELECT key, display_name, created_at, password, 0, stands_in FROM person WHERE key IN " PEOPLE
     " ORDER BY key",
     "INSERT INTO person (key, display_name, created_at, password, server_owner, stands_in) "
     "VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
     {MUST("id", ID), MAY("display_name", NAME), MUST("created_at", INTEGER),
      SECRET_MAY("password", TEXT), MUST("server_owner", BOOL), MUST("address_alone", BOOL)}},
    {"user_preferences", false, CARRY_OF_MANY, CARRY_NOTHING,
     "SELECT person, " PREFERENCES("") " FROM person_preference ORDER BY person",
     "SELECT person, " PREFERENCES("") " FROM person_preference WHERE person IN " PEOPLE " ORDER BY person",
     "INSERT INTO person_preference (person, " PREFERENCES("") ") SELECT p.key, $2, $3, $4, $5, $6, $7, $8 "
     "FROM person p WHERE p.key = $1 ON CONFLICT DO NOTHING",
     {MUST("user", ID), PREFERENCE_FIELDS}},
#define ADDRESS "SELECT key, email, person, preferred, display_name, registered_at, verified_at FROM address "
    {"address", false, CARRY_OF_MANY, CARRY_ADDRESS, ADDRESS "ORDER BY key",
     ADDRESS "WHERE person IN " PEOPLE " ORDER BY key",
     "INSERT INTO address (key, email, folded, person, preferred, display_name, registered_at, verified_at) "
     "SELECT $1, $2, $3, p.key, $5, $6, $7, $8 FROM person p WHERE p.key = $4 ON CONFLICT DO NOTHING",
     {MUST("id", ID), MUST("email", EMAIL), MUST("user", ID), MUST("preferred", BOOL),
     MAY("display_name", NAME), MUST("registered_at", INTEGER), MUST("verified_at", INTEGER)}},
    {"address_preferences", false, CARRY_OF_MANY, CARRY_NOTHING,
     "SELECT address, " PREFERENCES("") " FROM address_preference ORDER BY address",
     "SELECT address, " PREFERENCES("") " FROM address_preference WHERE address IN "
     "(SELECT key FROM address WHERE person IN " PEOPLE ") ORDER BY address",
     "INSERT INTO address_preference (address, " PREFERENCES("") ") SELECT a.key, $2, $3, $4, $5, $6, $7, $8 "
     "FROM address a WHERE a.key = $1 ON CONFLICT DO NOTHING",
     {MUST("address", ID), PREFERENCE_FIELDS}},
    {"stranger_address", false, CARRY_OF_MANY, CARRY_NOTHING,
     "SELECT address FROM stranger_address ORDER BY address",
     "SELECT address FROM stranger_address WHERE address IN (SELECT key FROM address WHERE person IN " PEOPLE
     ") ORDER BY address",
     "INSERT INTO stranger_address (address) SELECT a.key FROM address a WHERE a.key = $1 ON CONFLICT DO NOTHING",
     {MUST("address", ID)}},
    {"domain_owner", false, CARRY_OF_SITE, CARRY_NOTHING,
     "SELECT o.mail_host, a.email FROM domain_owner o JOIN address a ON a.key = (SELECT key FROM address b "
     "WHERE b.person = o.person ORDER BY preferred DESC, key LIMIT 1) ORDER BY o.mail_host, a.folded",
     NULL,
     "INSERT INTO domain_owner (mail_host, person) SELECT d.mail_host, a.person FROM domain d CROSS JOIN address a "
     "WHERE d.mail_host = $1 AND a.folded = $3 AND $2 = $2 ON CONFLICT DO NOTHING",
     {MUST("mail_host", TEXT), MUST("email", EMAIL)}},

    {"digest", true, CARRY_OF_LIST, CARRY_NOTHING,
     "SELECT volume, next_number, sent_at, (SELECT count(*) FROM digest_post p WHERE p.list = $1 AND p.issue IS NULL), "
     "octets, first_at FROM digest WHERE list = $1",
     NULL,
     "INSERT INTO digest (list, volume, next_number, sent_at, waiting, octets, first_at) "
     "VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (list) DO UPDATE SET volume = excluded.volume, "
     "next_number = excluded.next_number, sent_at = excluded.sent_at, waiting = excluded.waiting, "
     "octets = excluded.octets, first_at = excluded.first_at",
     {MUST("volume", INTEGER), MUST("next_number", INTEGER), MUST("sent_at", INTEGER),
     MUST("waiting", INTEGER), MUST("octets", INTEGER), MUST("first_at", INTEGER)}},
    {"digest_post", true, CARRY_OF_LIST, CARRY_NOTHING,
     "SELECT key, message FROM digest_post WHERE list = $1 AND issue IS NULL ORDER BY key", NULL,
     "INSERT INTO digest_post (key, list, message) VALUES ($2, $1, $3) ON CONFLICT DO NOTHING",
     {MUST("id", ID), MUST("message", BYTES)}},
    {"news", true, CARRY_OF_SITE, CARRY_NOTHING,
     "SELECT newsgroup, watermark, looked_at, fault FROM news WHERE list = $1", NULL,
     "INSERT INTO news (list, newsgroup, watermark, looked_at, fault) VALUES ($1, $2, $3, $4, $5) "
     "ON CONFLICT (list) DO UPDATE SET newsgroup = excluded.newsgroup, watermark = excluded.watermark, "
     "looked_at = excluded.looked_at, fault = excluded.fault",
     {MUST("newsgroup", TEXT), MUST("watermark", INTEGER), MUST("looked_at", INTEGER),
     MUST("fault", TEXT)}},
    {"member", true, CARRY_OF_LIST, CARRY_MEMBER,
     "SELECT key, role, email, by_person, moderation_action, joined_at, given_name, topics, topics_unmatched, "
     PREFERENCES("") " FROM member WHERE list = $1 ORDER BY role, folded, by_person",
     NULL,
     "INSERT INTO member (list, key, role, email, folded, by_person, moderation_action, joined_at, given_name, topics, "
     "topics_unmatched, " PREFERENCES("") ", address, person) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, "
     "$12, "
     "$13, $14, $15, $16, $17, $18, a.key, a.person FROM address a WHERE a.folded = $5 ON CONFLICT DO NOTHING",
     {MUST("id", ID), WORD("role", ROLES), MUST("email", EMAIL), MUST("as_user", BOOL),
     MAY_WORD("moderation_action", ACTION_WORDS("|")), MUST("joined_at", INTEGER), MAY("given_name", NAME),
     MAY("topics", TEXT), MAY("topics_unmatched", BOOL), PREFERENCE_FIELDS}},
    {"bounce_score", true, CARRY_OF_LIST, CARRY_NOTHING,
     "SELECT s.member, s.score, s.last_bounce_at, s.probe_at, s.disabled_at, s.warnings, s.next_at, s.warned_at "
     "FROM bounce_score s JOIN member m ON m.key = s.member WHERE m.list = $1 ORDER BY s.member",
     NULL,
     "INSERT INTO bounce_score (member, score, last_bounce_at, probe_at, disabled_at, warnings, next_at, warned_at) "
     "SELECT m.key, $3, $4, $5, $6, $7, $8, $9 " OF_MEMBER,
     {MUST("member", ID), MUST("score", INTEGER), MUST("last_bounce_at", INTEGER),
     MUST("probe_at", INTEGER), MUST("disabled_at", INTEGER), MUST("warnings", INTEGER),
     MUST("next_at", INTEGER), MUST("warned_at", INTEGER)}},
    {"vacation", true, CARRY_OF_LIST, CARRY_NOTHING,
     "SELECT v.member, v.begins_at, v.ends_at, v.begun FROM vacation v JOIN member m ON m.key = v.member "
     "WHERE m.list = $1 ORDER BY v.member",
     NULL,
     "INSERT INTO vacation (member, begins_at, ends_at, begun) SELECT m.key, $3, $4, $5 " OF_MEMBER,
     {MUST("member", ID), MUST("begins_at", INTEGER), MUST("ends_at", INTEGER),
     MUST("begun", BOOL)}},
    {"stranger", true, CARRY_OF_LIST, CARRY_NOTHING,
     "SELECT s.member, s.seen_at FROM stranger s JOIN member m ON m.key = s.member WHERE m.list = $1 ORDER BY s.member",
     NULL, "INSERT INTO stranger (member, seen_at) SELECT m.key, $3 " OF_MEMBER,
     {MUST("member", ID), MUST("seen_at", INTEGER)}},
    {"digest_last", true, CARRY_OF_LIST, CARRY_NOTHING,
     "SELECT a.email, d.mode FROM digest_last d JOIN address a ON a.key = d.address WHERE d.list = $1 AND "
     "d.issue IS NULL ORDER BY a.folded",
     NULL,
     "INSERT INTO digest_last (list, address, mode) SELECT $1, a.key, $4 FROM address a WHERE a.folded = $3 AND "
     "$2 = $2 ON CONFLICT DO NOTHING",
     {MUST("email", EMAIL), WORD("mode", MODES)}},
    {"bounce", true, CARRY_OF_LIST, CARRY_NOTHING,
     "SELECT email, day, bounces, weight, class, status, reason, source, text, last_at FROM bounce WHERE list = $1 "
     "ORDER BY folded, day",
     NULL,
     "INSERT INTO bounce (list, email, folded, day, bounces, weight, class, status, reason, source, text, last_at) "
     "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING",
     {MUST("email", EMAIL), MUST("day", INTEGER), MUST("bounces", INTEGER),
     MUST("weight", INTEGER), MUST("class", TEXT), MUST("status", TEXT),
     MUST("reason", TEXT), MUST("source", TEXT), MUST("text", TEXT),
     MUST("last_at", INTEGER)}},
    {"bounce_count", true, CARRY_OF_LIST, CARRY_NOTHING,
     "SELECT day, what, number FROM bounce_count WHERE list = $1 ORDER BY day, what", NULL,
     "INSERT INTO bounce_count (list, day, what, number) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
     {MUST("day", INTEGER), MUST("what", TEXT), MUST("number", INTEGER)}},
    {"ban", true, CARRY_OF_LIST, CARRY_NOTHING,
     "SELECT key, email, folded, made_at FROM ban WHERE list = $1 ORDER BY key", NULL,
     "INSERT INTO ban (list, key, email, folded, made_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
     {MUST("id", ID), MUST("email", TEXT), MUST("folded", TEXT),
     MUST("made_at", INTEGER)}},
    {"header_match", true, CARRY_OF_LIST, CARRY_NOTHING,
     "SELECT key, position, header, pattern, target, tag FROM header_match WHERE list = $1 ORDER BY position, key",
     NULL,
     "INSERT INTO header_match (list, key, position, header, pattern, target, tag) "
     "VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
     {MUST("id", ID), MUST("position", INTEGER), MUST("header", TEXT),
     MUST("pattern", TEXT), MAY("target", TEXT), MAY("tag", TEXT)}},
    {"template", true, CARRY_OF_LIST, CARRY_NOTHING,
     TEMPLATE "= (SELECT list_id FROM list WHERE key = $1) ORDER BY place, name, language", NULL,
     "INSERT INTO template (place, name, language, uri, username, password, text, fetched_at, fault) "
     "SELECT l.list_id, $3, $4, $5, $6, COALESCE($7, ''), $8, $9, $10 FROM list l WHERE l.key = $1 AND l.list_id = $2 "
     "ON CONFLICT DO NOTHING",
     {TEMPLATE_FIELDS}},
    {"held", true, CARRY_OF_LIST, CARRY_HELD,
     "SELECT number, list_number, message_id, subject, sender, reason, meta, held_at, message, told, token, "
     "asked_until, "
     "room, stranger FROM held WHERE list = $1 ORDER BY number",
     NULL,
     "INSERT INTO held (list, number, list_number, message_id, subject, sender, reason, meta, held_at, message, told, "
     "token, asked_until, room, stranger) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) "
     "ON CONFLICT DO NOTHING",
     {MUST("number", INTEGER), MUST("list_number", INTEGER), MAY("message_id", TEXT),
     MAY("subject", TEXT), MAY("sender", TEXT), MAY("reason", TEXT),
     MAY("meta", TEXT), MUST("held_at", INTEGER), MUST("message", BYTES),
      WORD("told", "nobody|alone|many"), SECRET_MAY("token", TEXT), MUST("asked_until", INTEGER),
     MUST("room", INTEGER), MUST("stranger", BOOL)}},
    {"scheduled", true, CARRY_OF_LIST, CARRY_SCHEDULED,
     "SELECT number, message_id, subject, sender, author, meta, made_at, due_at, message FROM scheduled "
     "WHERE list = $1 ORDER BY number",
     NULL,
     "INSERT INTO scheduled (list, number, message_id, subject, sender, author, meta, made_at, due_at, message) "
     "SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 WHERE NOT EXISTS (SELECT 1 FROM scheduled s WHERE s.list = $1 AND "
     "s.made_at = $8 AND COALESCE(s.message_id, '') = COALESCE($3, '')) ON CONFLICT DO NOTHING",
     {MUST("number", INTEGER), MAY("message_id", TEXT), MAY("subject", TEXT), MAY("sender", TEXT), MAY("author", TEXT),
     MAY("meta", TEXT), MUST("made_at", INTEGER), MUST("due_at", INTEGER), MUST("message", BYTES)}},
    {"held_notice", true, CARRY_OF_LIST, CARRY_NOTHING, "SELECT told_at FROM held_notice WHERE list = $1", NULL,
     "INSERT INTO held_notice (list, told_at) VALUES ($1, $2) ON CONFLICT DO NOTHING",
     {MUST("told_at", INTEGER)}},
    {"request", true, CARRY_OF_LIST, CARRY_REQUEST,
     "SELECT number, kind, address, display_name, facts, waits_for, token, made_at, asked_at, expires_at, "
     "delivery_mode, "
     "delivery_status, by_person, welcome, detail, way FROM pending WHERE list = $1 ORDER BY number",
     NULL,
     "INSERT INTO pending (list, number, kind, address, folded, display_name, facts, waits_for, token, made_at, "
     "asked_at, "
     "expires_at, delivery_mode, delivery_status, by_person, welcome, detail, way) VALUES ($1, $2, $3, $4, $5, $6, $7, "
     "$8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) ON CONFLICT DO NOTHING",
     {MUST("number", INTEGER), WORD("kind", "join|leave|change_address|set"),
     MUST("email", EMAIL), MAY("display_name", NAME), MUST("facts", INTEGER),
      WORD("waits_for", "person|moderator"), SECRET_MAY("token", TEXT), MUST("made_at", INTEGER),
     MUST("asked_at", INTEGER), MUST("expires_at", INTEGER), MAY_WORD("delivery_mode", MODES),
     MAY_WORD("delivery_status", STATUSES), MUST("as_user", BOOL),
      WORD("welcome", "as_list|yes|no"), MAY("detail", TEXT), WORD("way", WAYS)}},
/* Numbers of another site may be others here, so a letter names held posts by their numbers in the list, and
      requests by
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
    {"moderator_letter", true, CARRY_OF_LIST, CARRY_NOTHING,
     "SELECT token, moderator, " HELD_NUMBER("min") ", " HELD_NUMBER("max") ", " REQUEST_PLACE("min") ", "
     REQUEST_PLACE("max") ", expires_at FROM ticket t WHERE list = $1 ORDER BY token",
     NULL,
     "INSERT INTO ticket (list, token, moderator, first, last, first_request, last_request, expires_at) VALUES ($1, "
     "$2, "
     "$3, " HELD_OF("$4") ", " HELD_OF("$5") ", " REQUEST_OF("$6") ", " REQUEST_OF("$7") ", $8) ON CONFLICT DO NOTHING",
     {SECRET_MUST("token", TEXT), MUST("moderator", TEXT), MUST("first", INTEGER),
     MUST("last", INTEGER), MUST("first_request", INTEGER), MUST("last_request", INTEGER),
     MUST("expires_at", INTEGER)}},
    {"answer", true, CARRY_OF_LIST, CARRY_NOTHING,
     "SELECT kind, address, entry, answered_at FROM autoresponse WHERE list = $1 ORDER BY kind, address", NULL,
     "INSERT INTO autoresponse (list, kind, address, entry, answered_at) VALUES ($1, $2, $3, $4, $5) "
     "ON CONFLICT DO NOTHING",
     {MUST("kind", TEXT), MUST("address", TEXT), MUST("entry", TEXT),
     MUST("answered_at", INTEGER)}},
    {"departure", true, CARRY_OF_LIST, CARRY_NOTHING,
     "SELECT key, address, domain, way, counts, left_at, expires_at, token, by_person, given_name, moderation_action, "
     PREFERENCES("") ", topics, topics_unmatched, vacation_begins_at, vacation_ends_at, vacation_begun FROM departure "
     "WHERE list = $1 ORDER BY key",
     NULL,
     "INSERT INTO departure (list, key, address, folded, domain, way, counts, left_at, expires_at, token, by_person, "
     "given_name, moderation_action, " PREFERENCES("") ", topics, topics_unmatched, vacation_begins_at, "
     "vacation_ends_at, vacation_begun) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, "
     "$17, $18, $19, $20, $21, $22, $23, $24, $25) ON CONFLICT DO NOTHING",
     {MUST("id", ID), MUST("email", EMAIL), MUST("domain", TEXT), WORD("way", WAYS),
     MUST("counts", BOOL), MUST("left_at", INTEGER), MUST("expires_at", INTEGER),
      SECRET_MAY("token", TEXT), MUST("as_user", BOOL), MAY("given_name", NAME),
     MAY_WORD("moderation_action", ACTION_WORDS("|")), PREFERENCE_FIELDS, MAY("topics", TEXT),
     MAY("topics_unmatched", BOOL), MAY("vacation_begins_at", INTEGER),
     MAY("vacation_ends_at", INTEGER), MAY("vacation_begun", BOOL)}},
    {"leave_brake", true, CARRY_OF_LIST, CARRY_NOTHING,
     "SELECT domain, closed_at, closed_until, gone, waiting, told_at FROM leave_brake WHERE list = $1 ORDER BY domain",
     NULL,
     "INSERT INTO leave_brake (list, domain, closed_at, closed_until, gone, waiting, told_at) "
     "VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
     {MUST("domain", TEXT), MUST("closed_at", INTEGER), MUST("closed_until", INTEGER),
     MUST("gone", INTEGER), MUST("waiting", INTEGER), MUST("told_at", INTEGER)}},
    {"pace", true, CARRY_OF_LIST, CARRY_NOTHING,
     "SELECT address, first_at, began_at, posts, past FROM pace WHERE list = $1 ORDER BY address", NULL,
     "INSERT INTO pace (list, address, first_at, began_at, posts, past) VALUES ($1, $2, $3, $4, $5, $6) "
     "ON CONFLICT DO NOTHING",
     {MUST("address", TEXT), MUST("first_at", INTEGER), MUST("began_at", INTEGER),
     MUST("posts", INTEGER), MUST("past", INTEGER)}},
    {"source", true, CARRY_OF_SITE, CARRY_NOTHING,
     "SELECT key, name, kind, place, query, bind_dn, password_file, refresh_interval, welcome, made_at, tried_at, "
     "read_at, due_at, given, kept_out, bad, fault FROM list_source WHERE list = $1 ORDER BY key",
     NULL,
     "INSERT INTO list_source (list, key, name, kind, place, query, bind_dn, password_file, refresh_interval, welcome, "
     "made_at, tried_at, read_at, due_at, given, kept_out, bad, fault, turn) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, "
     "$9, $10, $11, $12, $13, $14, $15, $16, $17, $18, 0) ON CONFLICT DO NOTHING",
     {MUST("id", ID), MUST("name", TEXT), WORD("kind", "file|url|list|sql|ldap"), MUST("place", TEXT),
     MAY("query", TEXT), MAY("bind_dn", TEXT), MAY("password_file", TEXT), MUST("interval", INTEGER),
     MUST("welcome", BOOL), MUST("made_at", INTEGER), MUST("tried_at", INTEGER), MUST("read_at", INTEGER),
     MUST("due_at", INTEGER), MUST("given", INTEGER), MUST("kept_out", INTEGER), MUST("bad", INTEGER),
     MUST("fault", TEXT)}},
    {"source_member", true, CARRY_OF_MANY, CARRY_NOTHING,
     "SELECT source, address, member, made, given_at FROM member_source WHERE list = $1 ORDER BY folded, source", NULL,
     "INSERT INTO member_source (list, folded, source, address, member, made, given_at) SELECT $1, $4, s.key, $3, $5, "
     "$6, $7 FROM list_source s WHERE s.key = $2 AND s.list = $1 ON CONFLICT DO NOTHING",
     {MUST("source", ID), MUST("email", EMAIL), MUST("member", ID), MUST("made", BOOL), MUST("given_at", INTEGER)}},
    {"source_left", true, CARRY_OF_LIST, CARRY_NOTHING,
     "SELECT address, way, left_at FROM source_left WHERE list = $1 ORDER BY folded", NULL,
     "INSERT INTO source_left (list, address, folded, way, left_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
     {MUST("email", EMAIL), MUST("way", TEXT), MUST("left_at", INTEGER)}},
    {"log", true, CARRY_OF_MANY, CARRY_NOTHING,
     "SELECT key, made_at, door, made_by, kind, name, before, after FROM list_log WHERE list = $1 ORDER BY key", NULL,
     "INSERT INTO list_log (list, key, made_at, door, made_by, kind, name, before, after) "
     "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING",
     {MUST("id", ID), MUST("made_at", INTEGER), MUST("door", TEXT), MUST("by", TEXT),
     MUST("kind", TEXT), MUST("name", TEXT), MAY("before", TEXT), MAY("after", TEXT)}},
    {NULL, false, CARRY_UNDECIDED, CARRY_NOTHING, NULL, NULL, NULL, {{NULL, CARRY_TEXT, NULL, false, false}}},
};
/* clang-format on */

static const char *const leaves[] = {
    "domain",
    "list",
    "list_setting",
    "person",
    "address",
    "person_preference",
    "address_preference",
    "member",
    "held",
    "secret",
    "bounce",
    "bounce_score",
    "bounce_count",
    "pending",
    "ban",
    "header_match",
    "vacation",
    "domain_owner",
    "held_notice",
    "ticket",
    "autoresponse",
    "template",
    "digest",
    "digest_post",
    "digest_last",
    "news",
    "token",
    "pace",
    "site_preference",
    "counter",
    "stranger",
    "stranger_address",
    "departure",
    "leave_brake",
    "list_log",
    "list_source",
    "member_source",
    "source_left",
    "scheduled",
    NULL,
};

/* Pairs of a table and the reason. */
static const char *const stays[][2] = {
    {"span", "counts of other rows, which are made with them"},
    {"held_sum", "counts of other rows, which are made with them"},
    {"store_version", "of this database"},
    {"schema_migration", "of this database"},
    {"schema_least", "of this database"},
    {"last_key", "of this database"},
    {"site", "names this installation, and stands in the first line"},
    {"effect", "says what was done about an entry of the spool"},
    {"message_id", "says what was done about an entry of the spool"},
    {"handed", "says what was done about an entry of the spool"},
    {"outbox", "on its way to the spool: stop the site when its queues are empty"},
    {"outbox_unit", "on its way to the spool: stop the site when its queues are empty"},
    {"digest_issue", "being sent by the spool: stop the site when its queues are empty"},
    {"fragment_set", "about entries of the spool: stop the site when its queues are empty"},
    {"fragment_part", "about entries of the spool: stop the site when its queues are empty"},
    {"fragment_waiting", "about entries of the spool: stop the site when its queues are empty"},
    {"bounce_brake", "counts of the last days, which hold back points"},
    {"account", "counts of the last hours, which bound strangers"},
    {"job", "when the timer of this installation did what"},
    {"host", "the hosts of this installation"},
    {"claim", "the hosts of this installation"},
    {"canary", "mails of the watch of this installation"},
    {"moved", "says what was imported into this installation"},
    {"removed_list", "names archives of removed lists, which stay with their files"},
    {"event", "told to programs that know this installation"},
    {"session", "people sign in again"},
    {"spent_token", "only says why an old token is no longer good"},
};

const CarryKind *carry_kind(const char *name)
{
    const CarryKind *kind = carry_kinds;
    while (kind->name && !g_str_equal(kind->name, name))
        kind++;
    return kind->name ? kind : NULL;
}

bool carry_table(const char *table, const char **why)
{
    *why = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(stays); i++)
        if (g_str_equal(stays[i][0], table))
            *why = stays[i][1];
    return g_strv_contains(leaves, table);
}
