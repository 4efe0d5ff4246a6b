-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors
--
-- The database of version 0.1.0. README.md draws the tables and tells of keys, preferences and recipients.
--
-- Words between @ signs are the driver's: @integer@ is a 64-bit integer, @text@ text that compares by bytes, @blob@
-- bytes; @clustered@ ends a table kept in the order of its primary key where the database can do that, @table@ any
-- other. Booleans are 0 and 1, enumerations the numbers of the headers, times microseconds since 1970, days counted
-- from 1970. Columns named folded hold an address as it is compared: domain, blank, local part, in lower case; email is
-- as it was first written. Tokens and passwords of people are never kept, but their SHA-256 in hex, or a hash of
-- crypt(5).

-- ---- the site ----

-- The id of the site, which its spools bear, too.
CREATE TABLE site (
    id @text@ NOT NULL PRIMARY KEY
) @clustered@;

-- Counts the changes of what processes keep in memory (lists, settings, domains, secrets). One row.
CREATE TABLE store_version (value @integer@ NOT NULL) @table@;
INSERT INTO store_version (value) VALUES (1);

-- Which step a program has to know to work on a database that has this later one (README.md, Two versions). A step that
-- is not here wants to be known.
CREATE TABLE schema_least (
    number @integer@ NOT NULL PRIMARY KEY,
    least @integer@ NOT NULL
) @clustered@;

-- The greatest key ever handed out: the next is greater, whatever the clock does. One row.
CREATE TABLE last_key (value @integer@ NOT NULL) @table@;
INSERT INTO last_key (value) VALUES (0);

-- The last number of each kind that people see. None is given twice.
CREATE TABLE counter (
    name @text@ NOT NULL PRIMARY KEY,
    value @integer@ NOT NULL
) @clustered@;
INSERT INTO counter (name, value) VALUES ('held', 0), ('pending', 0), ('outbox', 0), ('event', 0), ('scheduled', 0);

-- What addresses and links are signed with (store/secret.h). The newest signs.
CREATE TABLE secret (
    key @integer@ NOT NULL PRIMARY KEY,
    octets @blob@ NOT NULL,
    replaced_at @integer@ NOT NULL
) @table@;

-- Hosts, and until when each may do what only one may (store/hosts/host.h). Times are of the database's clock. boot names the
-- run of the machine's kernel, state is what the host says of itself, in JSON. The host may use one of so many equal
-- parts of the limits toward other sites' servers (0: none), which no other host takes until share_until. empty_at:
-- when its spool was seen without an entry in its queues, those that wait for a person aside; 0: never. connections:
-- how many to the database it may open; 0: it did not say.
CREATE TABLE host (
    name @text@ NOT NULL PRIMARY KEY,
    spool @text@ NOT NULL,
    boot @text@ NOT NULL,
    epoch @integer@ NOT NULL,
    version @text@ NOT NULL,
    state @text@ NOT NULL,
    started_at @integer@ NOT NULL,
    seen_at @integer@ NOT NULL,
    lease_until @integer@ NOT NULL,
    draining @integer@ NOT NULL,
    parts @integer@ NOT NULL DEFAULT 0,
    share_until @integer@ NOT NULL DEFAULT 0,
    empty_at @integer@ NOT NULL DEFAULT 0,
    connections @integer@ NOT NULL DEFAULT 0
) @clustered@;

-- What only one host does at a time ("task"). A claim is worth as much as the lease of its host in that epoch.
CREATE TABLE claim (
    what @text@ NOT NULL PRIMARY KEY,
    host @text@ NOT NULL,
    epoch @integer@ NOT NULL,
    since @integer@ NOT NULL
) @clustered@;

-- What the timer does: one row a job, written at its end.
CREATE TABLE job (
    name @text@ NOT NULL PRIMARY KEY,
    started_at @integer@ NOT NULL,
    ended_at @integer@ NOT NULL,
    due_at @integer@ NOT NULL,
    done @integer@ NOT NULL,
    runs @integer@ NOT NULL,
    failures @integer@ NOT NULL,
    fault @text@ NOT NULL
) @clustered@;

-- The mail that a host sends through its MTA and back (store/hosts/canary.h). mail is the Message-ID of the last one as
-- lists record it; missing_since is 0 when it is back.
CREATE TABLE canary (
    host @text@ NOT NULL PRIMARY KEY,
    mail @text@ NOT NULL,
    sent_at @integer@ NOT NULL,
    back_at @integer@ NOT NULL,
    missing_since @integer@ NOT NULL
) @clustered@;

-- ---- domains and lists ----

-- A domain or list that is made again under its old name is another one. A domain has a key for that, as a list has.
CREATE TABLE domain (
    mail_host @text@ NOT NULL PRIMARY KEY,
    description @text@ NOT NULL,
    alias_domain @text@ UNIQUE,
    key @integer@ NOT NULL DEFAULT 0
) @clustered@;

-- held_last is the last number that a held post of the list was given (held.list_number). archive tells under which of
-- several names the posts are kept: 0 is the List-Id itself; one more for a list with the List-Id of one that was
-- removed.
CREATE TABLE list (
    key @integer@ NOT NULL PRIMARY KEY,
    list_id @text@ NOT NULL UNIQUE,
    mail_host @text@ NOT NULL REFERENCES domain (mail_host),
    list_name @text@ NOT NULL,
    created_at @integer@ NOT NULL,
    last_post_at @integer@ NOT NULL,
    post_id @integer@ NOT NULL,
    held_last @integer@ NOT NULL DEFAULT 0,
    archive @integer@ NOT NULL DEFAULT 0,
    UNIQUE (mail_host, list_name)
) @table@;
-- Has all that RCPT asks for, so that the table itself is not touched.
CREATE INDEX list_address ON list (mail_host, list_name, list_id);

CREATE TABLE list_setting (
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    name @text@ NOT NULL,
    value @text@ NOT NULL,
    PRIMARY KEY (list, name)
) @clustered@;
-- For the few lists that have a news group, among many that have none.
CREATE INDEX list_setting_newsgroup ON list_setting (list) WHERE name = 'linked_newsgroup';

-- List-Ids of lists that were removed, and the first number (list.archive) that none of them had.
CREATE TABLE removed_list (
    list_id @text@ NOT NULL PRIMARY KEY,
    archive @integer@ NOT NULL
) @clustered@;

-- The log of each list (store/lists/list_log.h): who changed what, when and by which door. name is in lower case where it is
-- an address. before and after are NULL where there was, or is, nothing.
CREATE TABLE list_log (
    key @integer@ NOT NULL PRIMARY KEY,
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    made_at @integer@ NOT NULL,
    door @text@ NOT NULL,
    made_by @text@ NOT NULL,
    kind @text@ NOT NULL,
    name @text@ NOT NULL,
    before @text@,
    after @text@
) @table@;
CREATE INDEX list_log_list ON list_log (list, key);
CREATE INDEX list_log_name ON list_log (name, list);
CREATE INDEX list_log_made_at ON list_log (made_at);
-- Members who come and go fill the log of a list; rows of one kind among them are found without reading all.
CREATE INDEX list_log_kind ON list_log (list, kind, key);

-- Texts of letters of a list (place is its List-Id), a domain (its name) or the site (""), by Mailman's names. uri says
-- where the text comes from, and text is what was there when it was fetched; without uri, text is all there is.
CREATE TABLE template (
    name @text@ NOT NULL,
    place @text@ NOT NULL,
    language @text@ NOT NULL,
    uri @text@ NOT NULL,
    username @text@ NOT NULL,
    password @text@ NOT NULL,
    text @text@,
    fetched_at @integer@ NOT NULL,
    fault @text@ NOT NULL,
    PRIMARY KEY (place, name, language)
) @clustered@;

-- Where a list stands in its news group (store/lists/news.h): all articles up to number watermark are on the list, or were
-- left out for good. A row of another news group than the list's setting names says nothing.
CREATE TABLE news (
    list @integer@ NOT NULL PRIMARY KEY REFERENCES list (key) ON DELETE CASCADE,
    newsgroup @text@ NOT NULL,
    watermark @integer@ NOT NULL,
    looked_at @integer@ NOT NULL,
    fault @text@ NOT NULL
) @clustered@;

-- What an import from another list system has finished (store/moving/carry.h), so that the same import changes nothing when it
-- is run again. name is the system, the site of it, and the part; list is the one that the part belongs to, NULL: none.
CREATE TABLE moved (
    name @text@ NOT NULL PRIMARY KEY,
    list @integer@ REFERENCES list (key) ON DELETE CASCADE,
    moved_at @integer@ NOT NULL
) @clustered@;
CREATE INDEX moved_list ON moved (list);

-- ---- people ----

-- A user; that word is reserved in SQL. stands_in is 1 for the person behind an address that belongs to no user: it
-- holds the place of one, and is not shown.
CREATE TABLE person (
    key @integer@ NOT NULL PRIMARY KEY,
    display_name @text@,
    created_at @integer@ NOT NULL,
    password @text@,
    server_owner @integer@ NOT NULL DEFAULT 0,
    stands_in @integer@ NOT NULL DEFAULT 0
) @table@;
CREATE INDEX person_server_owner ON person (key) WHERE server_owner = 1;

CREATE TABLE address (
    key @integer@ NOT NULL PRIMARY KEY,
    folded @text@ NOT NULL UNIQUE,
    email @text@ NOT NULL,
    person @integer@ NOT NULL REFERENCES person (key),
    preferred @integer@ NOT NULL,
    display_name @text@,
    registered_at @integer@ NOT NULL,
    verified_at @integer@ NOT NULL
) @table@;
CREATE INDEX address_person ON address (person);

-- Preferences have tables of their own, with rows only for those who set something: the recipient query looks here once
-- for every member.
CREATE TABLE person_preference (
    person @integer@ NOT NULL PRIMARY KEY REFERENCES person (key) ON DELETE CASCADE,
    acknowledge_posts @integer@,
    hide_address @integer@,
    receive_list_copy @integer@,
    receive_own_postings @integer@,
    delivery_mode @integer@,
    delivery_status @integer@,
    preferred_language @text@
) @table@;

CREATE TABLE address_preference (
    address @integer@ NOT NULL PRIMARY KEY REFERENCES address (key) ON DELETE CASCADE,
    acknowledge_posts @integer@,
    hide_address @integer@,
    receive_list_copy @integer@,
    receive_own_postings @integer@,
    delivery_mode @integer@,
    delivery_status @integer@,
    preferred_language @text@
) @table@;

-- What counts where neither member, address nor user prefers anything: at most one row, NULL where nothing was set.
CREATE TABLE site_preference (
    one @integer@ NOT NULL PRIMARY KEY CHECK (one = 1),
    acknowledge_posts @integer@,
    hide_address @integer@,
    receive_list_copy @integer@,
    receive_own_postings @integer@,
    delivery_mode @integer@,
    delivery_status @integer@,
    preferred_language @text@
) @clustered@;

-- Users who may do everything with a domain.
CREATE TABLE domain_owner (
    mail_host @text@ NOT NULL REFERENCES domain (mail_host) ON DELETE CASCADE,
    person @integer@ NOT NULL REFERENCES person (key) ON DELETE CASCADE,
    PRIMARY KEY (mail_host, person)
) @clustered@;
CREATE INDEX domain_owner_person ON domain_owner (person);

-- Sessions of people on the pages, and the mailed links that begin them (store/people/session.h). token is the SHA-256 of what
-- a browser or a letter has. kind is 0 for a link and 1 for a session. agent is what the browser says it is.
CREATE TABLE session (
    key @integer@ NOT NULL PRIMARY KEY,
    token @text@ NOT NULL,
    kind @integer@ NOT NULL,
    folded @text@ NOT NULL,
    address @text@ NOT NULL,
    agent @text@ NOT NULL,
    made_at @integer@ NOT NULL,
    seen_at @integer@ NOT NULL,
    expires_at @integer@ NOT NULL
) @table@;
CREATE UNIQUE INDEX session_token ON session (token);
CREATE INDEX session_who ON session (folded, kind);
CREATE INDEX session_expires_at ON session (expires_at);

-- Tokens that programs show to the REST interface (store/people/token.h). digest is the SHA-256 of the secret half; verbs,
-- lists and domains are words separated by blanks, and empty for all.
CREATE TABLE token (
    id @text@ NOT NULL PRIMARY KEY,
    digest @text@ NOT NULL,
    name @text@ NOT NULL,
    verbs @text@ NOT NULL,
    lists @text@ NOT NULL,
    domains @text@ NOT NULL,
    metrics @integer@ NOT NULL,
    made_at @integer@ NOT NULL,
    expires_at @integer@ NOT NULL,
    used_at @integer@ NOT NULL
) @clustered@;

-- ---- members ----

-- address is the one in effect; with by_person it follows what the person prefers. The rows lie in the order in which
-- recipients are wanted, with all that the query needs: folded, email and person repeat the address's row, and user.c
-- keeps them so. topics are those of the list's topics that the member wants, one name a line, NULL: all posts;
-- topics_unmatched tells whether posts of no topic come to who chose some (store/lists/topic.h). given_name is the name that
-- came with this membership, whatever others call the address.
CREATE TABLE member (
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    role @integer@ NOT NULL,
    folded @text@ NOT NULL,
    by_person @integer@ NOT NULL,
    email @text@ NOT NULL,
    address @integer@ NOT NULL REFERENCES address (key),
    person @integer@ NOT NULL REFERENCES person (key),
    acknowledge_posts @integer@,
    hide_address @integer@,
    receive_list_copy @integer@,
    receive_own_postings @integer@,
    delivery_mode @integer@,
    delivery_status @integer@,
    key @integer@ NOT NULL,
    moderation_action @integer@,
    joined_at @integer@ NOT NULL,
    preferred_language @text@,
    topics @text@,
    topics_unmatched @integer@,
    given_name @text@,
    PRIMARY KEY (list, role, folded, by_person)
) @clustered@;
CREATE UNIQUE INDEX member_key ON member (key);
CREATE INDEX member_person ON member (person);
-- An address that goes is looked for among the members: without this, all members of all lists are read.
CREATE INDEX member_address ON member (address);
-- For the question whether a list has members in a digest mode, which is asked for every post.
CREATE INDEX member_digest ON member (list) WHERE delivery_mode > 0;

-- How many members a list has in each role, how many addresses and users there are, in spans of at most 1,000 in the
-- order of their keys: nobody counts a million rows, nor steps over them to one in their middle. list is 0 for
-- addresses and users; kind is a role, 4 for addresses or 5 for users; the first span begins with '' and is there from
-- the beginning. store/people/span.h tells more.
CREATE TABLE span (
    list @integer@ NOT NULL,
    kind @integer@ NOT NULL,
    begins @text@ NOT NULL,
    total @integer@ NOT NULL,
    PRIMARY KEY (list, kind, begins)
) @clustered@;
INSERT INTO span (list, kind, begins, total) VALUES (0, 4, '', 0), (0, 5, '', 0);

-- A member wants no mail from begins_at to ends_at. Between the two, begun is 1.
CREATE TABLE vacation (
    member @integer@ NOT NULL PRIMARY KEY REFERENCES member (key) ON DELETE CASCADE,
    begins_at @integer@ NOT NULL,
    ends_at @integer@ NOT NULL,
    begun @integer@ NOT NULL
) @table@;
CREATE INDEX vacation_begins_at ON vacation (begins_at);
CREATE INDEX vacation_ends_at ON vacation (ends_at);

-- Nonmembers who are known only because a post of theirs was held, and when the last one was; and addresses that were
-- written down for that alone (store/people/stranger.h).
CREATE TABLE stranger (
    member @integer@ NOT NULL PRIMARY KEY REFERENCES member (key) ON DELETE CASCADE,
    seen_at @integer@ NOT NULL
) @table@;
CREATE INDEX stranger_seen_at ON stranger (seen_at);
CREATE TABLE stranger_address (
    address @integer@ NOT NULL PRIMARY KEY REFERENCES address (key) ON DELETE CASCADE
) @table@;

-- Where members of a list come from beside those who joined themselves (store/people/source.h). kind is a SourceKind.
-- refresh_interval is in microseconds, 0: that of the site. Times are 0 where it was not done yet. fault is that of the
-- last try, '': it went well. turn grows with each refresh that begins, so that an older one sees that it is over.
-- bad_lines are the first few lines of the last try that are no address, each with its number; NULL: there are none.
CREATE TABLE list_source (
    key @integer@ NOT NULL PRIMARY KEY,
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    name @text@ NOT NULL,
    kind @integer@ NOT NULL,
    place @text@ NOT NULL,
    query @text@,
    bind_dn @text@,
    password_file @text@,
    refresh_interval @integer@ NOT NULL,
    welcome @integer@ NOT NULL,
    made_at @integer@ NOT NULL,
    tried_at @integer@ NOT NULL,
    read_at @integer@ NOT NULL,
    due_at @integer@ NOT NULL,
    given @integer@ NOT NULL,
    kept_out @integer@ NOT NULL,
    bad @integer@ NOT NULL,
    fault @text@ NOT NULL,
    turn @integer@ NOT NULL,
    bad_lines @text@
) @table@;
CREATE UNIQUE INDEX list_source_name ON list_source (list, name);
CREATE INDEX list_source_due ON list_source (due_at);

-- Which source gave which member. member is the key of the membership; made is 1 where a source made that, and 0 where
-- the person was a member already.
CREATE TABLE member_source (
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    folded @text@ NOT NULL,
    source @integer@ NOT NULL REFERENCES list_source (key) ON DELETE CASCADE,
    address @text@ NOT NULL,
    member @integer@ NOT NULL,
    made @integer@ NOT NULL,
    given_at @integer@ NOT NULL,
    PRIMARY KEY (list, folded, source)
) @clustered@;
CREATE INDEX member_source_source ON member_source (source, folded);
CREATE INDEX member_source_member ON member_source (member);

-- Who left a list that has sources, or was removed, and is not brought back by them. way is the word of
-- leave_way_text(), '': removed, or nobody knows.
CREATE TABLE source_left (
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    folded @text@ NOT NULL,
    address @text@ NOT NULL,
    way @text@ NOT NULL,
    left_at @integer@ NOT NULL,
    PRIMARY KEY (list, folded)
) @clustered@;

-- Who left a list by a way that can be undone, when, and with which options (store/people/departure.h). token is the SHA-256
-- of what undoes it; NULL: nothing does. An address that was a member twice, by itself and as its user's, has two rows
-- with the same token. counts is 1 where a program may have done it.
CREATE TABLE departure (
    key @integer@ NOT NULL PRIMARY KEY,
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    folded @text@ NOT NULL,
    domain @text@ NOT NULL,
    address @text@ NOT NULL,
    way @integer@ NOT NULL,
    counts @integer@ NOT NULL,
    left_at @integer@ NOT NULL,
    expires_at @integer@ NOT NULL,
    token @text@,
    by_person @integer@ NOT NULL,
    given_name @text@,
    moderation_action @integer@,
    acknowledge_posts @integer@,
    hide_address @integer@,
    receive_list_copy @integer@,
    receive_own_postings @integer@,
    delivery_mode @integer@,
    delivery_status @integer@,
    preferred_language @text@,
    topics @text@,
    topics_unmatched @integer@,
    vacation_begins_at @integer@,
    vacation_ends_at @integer@,
    vacation_begun @integer@
) @table@;
CREATE INDEX departure_counts ON departure (list, domain, left_at) WHERE counts = 1;
CREATE INDEX departure_list ON departure (list, folded);
CREATE INDEX departure_who ON departure (folded);
CREATE INDEX departure_token ON departure (token);
CREATE INDEX departure_expires_at ON departure (expires_at);

-- Of which mail domain too many left a list at once (store/people/departure.h): until closed_until further ones wait.
-- waiting is how many wait since closed_at. told_at: when the owners were last told; 0: not yet.
CREATE TABLE leave_brake (
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    domain @text@ NOT NULL,
    closed_at @integer@ NOT NULL,
    closed_until @integer@ NOT NULL,
    gone @integer@ NOT NULL,
    waiting @integer@ NOT NULL,
    told_at @integer@ NOT NULL,
    PRIMARY KEY (list, domain)
) @clustered@;
CREATE INDEX leave_brake_closed_until ON leave_brake (closed_until);

-- ---- who may join and post ----

-- Who may neither join nor post: on one list, or on all (list is NULL). folded is that of an address ("example.com
-- jo"), or a pattern as it was written, which begins with ^.
CREATE TABLE ban (
    key @integer@ NOT NULL PRIMARY KEY,
    list @integer@ REFERENCES list (key) ON DELETE CASCADE,
    folded @text@ NOT NULL,
    email @text@ NOT NULL,
    made_at @integer@ NOT NULL
) @table@;
CREATE UNIQUE INDEX ban_once ON ban (COALESCE(list, 0), folded);
CREATE INDEX ban_list ON ban (list); -- for the removal of a list

-- Header fields that decide about a post, in the order of position (from 0): of one list, or of all (list is NULL).
-- target is NULL (as the site says), an action, or a chain of the site's own.
CREATE TABLE header_match (
    key @integer@ NOT NULL PRIMARY KEY,
    list @integer@ REFERENCES list (key) ON DELETE CASCADE,
    position @integer@ NOT NULL,
    header @text@ NOT NULL,
    pattern @text@ NOT NULL,
    target @text@,
    tag @text@
) @table@;
CREATE INDEX header_match_order ON header_match (COALESCE(list, 0), position);
CREATE INDEX header_match_text ON header_match (COALESCE(list, 0), header, pattern);
CREATE INDEX header_match_list ON header_match (list); -- for the removal of a list

-- How much somebody, or with an empty address everybody, posts to a list (store/posts/pace.h): the posts of the hour that
-- began_at, and those of the busiest hour before, in thousandths.
CREATE TABLE pace (
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    address @text@ NOT NULL,
    first_at @integer@ NOT NULL,
    began_at @integer@ NOT NULL,
    posts @integer@ NOT NULL,
    past @integer@ NOT NULL,
    PRIMARY KEY (list, address)
) @clustered@;
CREATE INDEX pace_began_at ON pace (began_at);

-- The account of what strangers cost (store/people/account.h): how much of a kind was counted for somebody in the time that
-- ends_at.
CREATE TABLE account (
    kind @text@ NOT NULL,
    who @text@ NOT NULL,
    ends_at @integer@ NOT NULL,
    total @integer@ NOT NULL,
    PRIMARY KEY (kind, who)
) @clustered@;
-- What /metrics counts is found without the rows themselves.
CREATE INDEX account_ends_at ON account (ends_at, kind, total);

-- When an address last got the automatic answer of a list (kind: owner, postings, requests), and for which entry: that
-- entry may come again after a crash, and then gets it again.
CREATE TABLE autoresponse (
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    kind @text@ NOT NULL,
    address @text@ NOT NULL,
    entry @text@ NOT NULL,
    answered_at @integer@ NOT NULL,
    PRIMARY KEY (list, kind, address)
) @clustered@;

-- ---- what waits for somebody ----

-- Posts that wait for a moderator (store/posts/held.h), byte for byte. list_number is the one that REST shows: it counts in
-- each list, from 1 on, and none is used twice. told: no moderator knows of it yet (0), they got a notice about it
-- alone (1), or one about several (2). token and asked_until: the sender was asked to confirm the address, the SHA-256
-- of what the answer brings, and until when it is good; NULL and 0: the post waits for a moderator. room is how much it
-- takes, stranger is 1 for a sender who is one to the list. spool is the one that the post came into, so that it is
-- known what is lost with one (store/hosts/lost_spool.h).
CREATE TABLE held (
    number @integer@ NOT NULL PRIMARY KEY,
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    list_number @integer@ NOT NULL DEFAULT 0,
    message_id @text@,
    subject @text@,
    sender @text@,
    reason @text@,
    meta @text@,
    held_at @integer@ NOT NULL,
    told @integer@ NOT NULL DEFAULT 0,
    token @text@,
    asked_until @integer@ NOT NULL DEFAULT 0,
    room @integer@ NOT NULL DEFAULT 0,
    stranger @integer@ NOT NULL DEFAULT 0,
    spool @text@ NOT NULL DEFAULT '',
    message @blob@ NOT NULL
) @table@;
CREATE UNIQUE INDEX held_list_number ON held (list, list_number);
CREATE INDEX held_untold ON held (list, number) WHERE told = 0;
CREATE INDEX held_token ON held (token) WHERE token IS NOT NULL;
CREATE INDEX held_sender ON held (list, lower(sender));
-- What /metrics counts is found without the rows themselves, which hold the posts.
CREATE INDEX held_moderated ON held (number, held_at) WHERE token IS NULL;

-- The room that the held posts of a list take, and those of strangers among them: the sums of held.room, kept with it.
CREATE TABLE held_sum (
    list @integer@ NOT NULL PRIMARY KEY REFERENCES list (key) ON DELETE CASCADE,
    room @integer@ NOT NULL,
    strangers @integer@ NOT NULL
) @clustered@;

-- When the moderators of a list were last told of a held post.
CREATE TABLE held_notice (
    list @integer@ NOT NULL PRIMARY KEY REFERENCES list (key) ON DELETE CASCADE,
    told_at @integer@ NOT NULL
) @table@;

-- Posts that the rules have let pass and that are to be sent at a time (store/posts/scheduled.h). author is the owner or
-- moderator on whose word one waits; NULL: somebody else's, who was asked for no standing.
CREATE TABLE scheduled (
    number @integer@ NOT NULL PRIMARY KEY,
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    message_id @text@,
    subject @text@,
    sender @text@,
    author @text@,
    meta @text@,
    made_at @integer@ NOT NULL,
    due_at @integer@ NOT NULL,
    message @blob@ NOT NULL
) @table@;
CREATE INDEX scheduled_list ON scheduled (list, due_at);
CREATE INDEX scheduled_due_at ON scheduled (due_at);

-- What somebody asked for and what waits for an answer: of the person (token is the SHA-256 of what was sent) or of a
-- moderator (token is NULL). One row for a person, a list and what is asked. What a request asks for besides: how mail
-- is to come, by the user instead of the address, whether a welcome is sent (0: as the list says, 1: yes, 2: no);
-- detail is the new address, or the options to set. way is the one by which who asked to leave goes (a number of
-- lists/people/leave.h).
CREATE TABLE pending (
    number @integer@ NOT NULL PRIMARY KEY,
    kind @integer@ NOT NULL,
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    folded @text@ NOT NULL,
    address @text@ NOT NULL,
    display_name @text@,
    facts @integer@ NOT NULL,
    waits_for @integer@ NOT NULL,
    token @text@ UNIQUE,
    made_at @integer@ NOT NULL,
    asked_at @integer@ NOT NULL,
    expires_at @integer@ NOT NULL,
    delivery_mode @integer@,
    delivery_status @integer@,
    by_person @integer@ NOT NULL DEFAULT 0,
    welcome @integer@ NOT NULL DEFAULT 0,
    detail @text@,
    way @integer@ NOT NULL DEFAULT 0,
    UNIQUE (list, kind, folded)
) @table@;
CREATE INDEX pending_expires_at ON pending (expires_at);
CREATE INDEX pending_folded ON pending (folded);
-- The requests of a list in the order of their numbers, those that moderators are asked about, and what /metrics
-- counts.
CREATE INDEX pending_list ON pending (list, number);
CREATE INDEX pending_moderator ON pending (made_at, expires_at) WHERE waits_for = 1;
CREATE INDEX pending_moderated ON pending (expires_at, made_at) WHERE waits_for = 1;

-- Tokens of requests (their SHA-256) that are good no more, and why: 1 used, 2 too old or withdrawn, 3 replaced by that
-- of a newer letter. Whoever brings one is told.
CREATE TABLE spent_token (
    token @text@ NOT NULL PRIMARY KEY,
    fate @integer@ NOT NULL,
    spent_at @integer@ NOT NULL
) @clustered@;
CREATE INDEX spent_token_spent_at ON spent_token (spent_at);

-- A notice to a moderator: who answers it has its token (this is the SHA-256) and may decide about the list's held
-- posts with numbers from first to last, and about requests from first_request to last_request; 0: none.
CREATE TABLE ticket (
    token @text@ NOT NULL PRIMARY KEY,
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    moderator @text@ NOT NULL,
    first @integer@ NOT NULL,
    last @integer@ NOT NULL,
    expires_at @integer@ NOT NULL,
    first_request @integer@ NOT NULL DEFAULT 0,
    last_request @integer@ NOT NULL DEFAULT 0
) @clustered@;
CREATE INDEX ticket_list ON ticket (list);

-- ---- digests ----

-- What a list collects for its digest (store/posts/digest.h). waiting, octets and first_at tell of the posts that belong to
-- no issue yet; volume and next_number are those of the next issue, unless its volume is over by then.
CREATE TABLE digest (
    list @integer@ NOT NULL PRIMARY KEY REFERENCES list (key) ON DELETE CASCADE,
    volume @integer@ NOT NULL,
    next_number @integer@ NOT NULL,
    sent_at @integer@ NOT NULL,
    waiting @integer@ NOT NULL,
    octets @integer@ NOT NULL,
    first_at @integer@ NOT NULL
) @clustered@;

-- An issue that is being made by an entry of the queue digest; host is where that entry is.
CREATE TABLE digest_issue (
    entry @text@ NOT NULL PRIMARY KEY,
    host @text@ NOT NULL,
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    volume @integer@ NOT NULL,
    number @integer@ NOT NULL,
    made_at @integer@ NOT NULL
) @clustered@;
CREATE INDEX digest_issue_list ON digest_issue (list);

-- The posts, byte for byte; issue is the entry of digest_issue, NULL: they wait for the next one.
CREATE TABLE digest_post (
    key @integer@ NOT NULL PRIMARY KEY,
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    issue @text@,
    message @blob@ NOT NULL
) @table@;
CREATE INDEX digest_post_issue ON digest_post (list, issue, key);

-- Who left a digest mode while posts waited: they get one last digest of the mode that they had.
CREATE TABLE digest_last (
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    address @integer@ NOT NULL REFERENCES address (key) ON DELETE CASCADE,
    mode @integer@ NOT NULL,
    issue @text@,
    PRIMARY KEY (list, address)
) @clustered@;
CREATE INDEX digest_last_address ON digest_last (address);

-- ---- bounces ----

-- One row a member and day: however many bounces come, the table grows no faster. weight is in hundredths of a point
-- and that of the gravest of the day, which class, status, reason and text are of, too.
CREATE TABLE bounce (
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    folded @text@ NOT NULL,
    day @integer@ NOT NULL,
    email @text@ NOT NULL,
    bounces @integer@ NOT NULL,
    weight @integer@ NOT NULL,
    class @text@ NOT NULL,
    status @text@ NOT NULL,
    reason @text@ NOT NULL,
    source @text@ NOT NULL,
    text @text@ NOT NULL,
    last_at @integer@ NOT NULL,
    PRIMARY KEY (list, folded, day)
) @clustered@;
CREATE INDEX bounce_day ON bounce (day);

-- Where a member stands: only those who bounced have a row. score is in hundredths; next_at is when something is due
-- (warning, removal, the score turning stale), so that nobody else is looked at. warned_at: when the member was last
-- warned that mail bounces; 0: never.
CREATE TABLE bounce_score (
    member @integer@ NOT NULL PRIMARY KEY REFERENCES member (key) ON DELETE CASCADE,
    score @integer@ NOT NULL,
    last_bounce_at @integer@ NOT NULL,
    probe_at @integer@ NOT NULL,
    disabled_at @integer@ NOT NULL,
    warnings @integer@ NOT NULL,
    next_at @integer@ NOT NULL,
    warned_at @integer@ NOT NULL DEFAULT 0
) @table@;
CREATE INDEX bounce_score_next_at ON bounce_score (next_at);

-- What is bounded by list and day: mails to the owners, mails that nobody signed.
CREATE TABLE bounce_count (
    day @integer@ NOT NULL,
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    what @text@ NOT NULL,
    number @integer@ NOT NULL,
    PRIMARY KEY (day, list, what)
) @clustered@;
CREATE INDEX bounce_count_list ON bounce_count (list); -- a list that goes takes its counts with it

-- How many members of a list, or of the list at one mail domain, failed with one reply on a day (store/people/bounce.h).
-- domain '': of the list, then several tells that they are of more than one domain, the first of which is first_domain.
-- reply is what the replies have in common, text the last one as it was said. needed: from how many on the brake
-- closes; 0: not known yet. closed_at: when it closed; 0: it is open.
CREATE TABLE bounce_brake (
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    domain @text@ NOT NULL,
    reply @text@ NOT NULL,
    text @text@ NOT NULL,
    day @integer@ NOT NULL,
    number @integer@ NOT NULL,
    needed @integer@ NOT NULL,
    first_domain @text@ NOT NULL,
    several @integer@ NOT NULL,
    closed_at @integer@ NOT NULL,
    held_until @integer@ NOT NULL,
    last_at @integer@ NOT NULL,
    PRIMARY KEY (list, domain, reply)
) @clustered@;
CREATE INDEX bounce_brake_last_at ON bounce_brake (last_at);
CREATE INDEX bounce_brake_held_until ON bounce_brake (held_until);

-- ---- entries of spools ----

-- Names of entries whose effects are in the database.
CREATE TABLE effect (
    entry @text@ NOT NULL PRIMARY KEY,
    number @integer@ NOT NULL,
    recorded_at @integer@ NOT NULL
) @clustered@;
CREATE INDEX effect_recorded_at ON effect (recorded_at);

-- Posts that a list has seen, by which entry, and the spool that each came into, so that it is known what is lost with
-- one (store/hosts/lost_spool.h).
CREATE TABLE message_id (
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    message_id @text@ NOT NULL,
    entry @text@ NOT NULL,
    seen_at @integer@ NOT NULL,
    spool @text@ NOT NULL DEFAULT '',
    PRIMARY KEY (list, message_id)
) @clustered@;
CREATE INDEX message_id_seen_at ON message_id (seen_at);

-- Entries that a host accepted from another one, so that it is known what is lost with a spool (store/hosts/lost_spool.h).
-- entry is the name under which the effect is recorded, queue the one that it is for.
CREATE TABLE handed (
    entry @text@ NOT NULL PRIMARY KEY,
    spool @text@ NOT NULL,
    queue @text@ NOT NULL,
    list @text@ NOT NULL,
    message_id @text@ NOT NULL,
    handed_at @integer@ NOT NULL
) @clustered@;
CREATE INDEX handed_spool ON handed (spool, handed_at);
CREATE INDEX handed_at ON handed (handed_at);

-- Units of work that left entries (lists/README.md). A row says what was decided about the entries that were prepared
-- under its tag in these queues (names with blanks between): they are to be published or, with given_up, to be removed.
-- asked counts the questions of those who settle what a crash left. spool is the one in which the entries are: hosts
-- that share the database have one each.
CREATE TABLE outbox_unit (
    tag @text@ NOT NULL PRIMARY KEY,
    queues @text@ NOT NULL,
    made_at @integer@ NOT NULL,
    given_up @integer@ NOT NULL,
    asked @integer@ NOT NULL,
    spool @text@ NOT NULL
) @clustered@;

-- Entries that a decision leaves behind, each whole and sealed with the key of the spool (lists/kept.h), until the unit
-- with this tag, or the hop of the entry with this name, a runner's, has brought them to their queues (store/outbox.h).
CREATE TABLE outbox (
    number @integer@ NOT NULL PRIMARY KEY,
    entry @text@ NOT NULL,
    made_at @integer@ NOT NULL,
    spool @text@ NOT NULL,
    sealed @blob@ NOT NULL
) @table@;
CREATE INDEX outbox_entry ON outbox (entry);

-- Parts of messages that are put together (message/partial). A set is kept for a while after it has ended, so that what
-- comes late is known. state 0 is open; ended_at is 0 exactly in an open set.
CREATE TABLE fragment_set (
    key @text@ NOT NULL PRIMARY KEY,
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    sender @text@ NOT NULL,
    id @text@ NOT NULL,
    host @text@ NOT NULL,
    state @integer@ NOT NULL,
    settled @integer@ NOT NULL,
    total @integer@ NOT NULL,
    parts @integer@ NOT NULL,
    octets @integer@ NOT NULL,
    opened_at @integer@ NOT NULL,
    expires_at @integer@ NOT NULL,
    ended_at @integer@ NOT NULL,
    joined_by @text@,
    reason @text@
) @clustered@;
-- For the limits, the oldest open set, and joins that are not settled. Open sets are few beside those that are
-- remembered: indexes of them alone stay small, so that the pages that a batch changes are the same ones over and over.
CREATE INDEX fragment_set_open ON fragment_set (host, state, opened_at) WHERE state = 0;
CREATE INDEX fragment_set_unsettled ON fragment_set (host, state, settled) WHERE state = 1 AND settled = 0;
CREATE INDEX fragment_set_list ON fragment_set (list, state) WHERE state = 0;
CREATE INDEX fragment_set_sender ON fragment_set (sender, state) WHERE state = 0;
-- For what is to be forgotten.
CREATE INDEX fragment_set_ended ON fragment_set (ended_at, expires_at);

CREATE TABLE fragment_part (
    fragment_set @text@ NOT NULL REFERENCES fragment_set (key) ON DELETE CASCADE,
    number @integer@ NOT NULL,
    entry @text@ NOT NULL UNIQUE,
    octets @integer@ NOT NULL,
    digest @text@ NOT NULL,
    PRIMARY KEY (fragment_set, number)
) @clustered@;

-- What waits is asked for with every batch: it is counted as it changes, host by host.
CREATE TABLE fragment_waiting (
    host @text@ NOT NULL PRIMARY KEY,
    sets @integer@ NOT NULL,
    parts @integer@ NOT NULL,
    octets @integer@ NOT NULL
) @clustered@;

-- ---- events ----

-- Events that programs outside are told, in the order in which the runner hooks took them. body is what they get. The
-- mail host, and the keys of the list and of its domain, are those at the time of the event (store/event_row.h);
-- mail_host is empty where the list was gone before they were noted: such events are the site's alone.
CREATE TABLE event (
    number @integer@ NOT NULL PRIMARY KEY,
    id @text@ NOT NULL UNIQUE,
    type @text@ NOT NULL,
    list_id @text@ NOT NULL,
    made_at @integer@ NOT NULL,
    body @text@ NOT NULL,
    mail_host @text@ NOT NULL DEFAULT '',
    list_key @integer@ NOT NULL DEFAULT 0,
    domain_key @integer@ NOT NULL DEFAULT 0
) @table@;
CREATE INDEX event_made_at ON event (made_at);
