-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors
--
-- Words between @ signs are the driver's: @integer@ is a 64-bit integer,
-- @text@ text that compares by octets, @blob@ octets; @clustered@ ends a table
-- kept in the order of its primary key where the database can do that,
-- @table@ any other. Booleans are 0 and 1, enumerations the numbers of the
-- headers, times microseconds since 1970.

CREATE TABLE counter (
    name @text@ NOT NULL PRIMARY KEY,
    value @integer@ NOT NULL
) @clustered@;
INSERT INTO counter (name, value) VALUES ('held', 0);

CREATE TABLE domain (
    mail_host @text@ NOT NULL PRIMARY KEY,
    description @text@ NOT NULL,
    alias_domain @text@ UNIQUE
) @clustered@;

CREATE TABLE list (
    key @integer@ NOT NULL PRIMARY KEY,
    list_id @text@ NOT NULL UNIQUE,
    mail_host @text@ NOT NULL REFERENCES domain (mail_host),
    list_name @text@ NOT NULL,
    created_at @integer@ NOT NULL,
    last_post_at @integer@ NOT NULL,
    post_id @integer@ NOT NULL,
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

-- A user; that word is reserved in SQL.
CREATE TABLE person (
    key @integer@ NOT NULL PRIMARY KEY,
    display_name @text@,
    created_at @integer@ NOT NULL
) @table@;

-- folded is what addresses are compared by: domain, blank, local part, in
-- lower case. email is as it was first written.
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

-- Preferences have tables of their own, with rows only for those who set
-- something: the recipient query looks here once for every member.
CREATE TABLE person_preference (
    person @integer@ NOT NULL PRIMARY KEY REFERENCES person (key) ON DELETE CASCADE,
    acknowledge_posts @integer@,
    hide_address @integer@,
    receive_list_copy @integer@,
    receive_own_postings @integer@,
    delivery_mode @integer@,
    delivery_status @integer@
) @table@;

CREATE TABLE address_preference (
    address @integer@ NOT NULL PRIMARY KEY REFERENCES address (key) ON DELETE CASCADE,
    acknowledge_posts @integer@,
    hide_address @integer@,
    receive_list_copy @integer@,
    receive_own_postings @integer@,
    delivery_mode @integer@,
    delivery_status @integer@
) @table@;

-- address is the one in effect; with by_person it follows what the person
-- prefers. The rows lie in the order in which recipients are wanted, with all
-- that the query needs: folded, email and person repeat the address's row,
-- and user.c keeps them so.
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
    PRIMARY KEY (list, role, folded, by_person)
) @clustered@;
CREATE UNIQUE INDEX member_key ON member (key);
CREATE INDEX member_person ON member (person);

CREATE TABLE held (
    number @integer@ NOT NULL PRIMARY KEY,
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    message_id @text@,
    subject @text@,
    sender @text@,
    reason @text@,
    meta @text@,
    held_at @integer@ NOT NULL,
    message @blob@ NOT NULL
) @table@;
CREATE INDEX held_list ON held (list);

CREATE TABLE effect (
    entry @text@ NOT NULL PRIMARY KEY,
    number @integer@ NOT NULL,
    recorded_at @integer@ NOT NULL
) @clustered@;
CREATE INDEX effect_recorded_at ON effect (recorded_at);

-- How many automatic answers an address got on a day, counted from 1970.
CREATE TABLE answer (
    day @integer@ NOT NULL,
    address @text@ NOT NULL,
    answers @integer@ NOT NULL,
    PRIMARY KEY (day, address)
) @clustered@;

CREATE TABLE message_id (
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    message_id @text@ NOT NULL,
    entry @text@ NOT NULL,
    seen_at @integer@ NOT NULL,
    PRIMARY KEY (list, message_id)
) @clustered@;
CREATE INDEX message_id_seen_at ON message_id (seen_at);
