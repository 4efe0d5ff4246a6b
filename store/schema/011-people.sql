-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- password is a hash of crypt(5). stands_in is 1 for the person behind an address that belongs to no user: it holds the
-- place of one, and is not shown.
ALTER TABLE person ADD COLUMN password @text@;
ALTER TABLE person ADD COLUMN server_owner @integer@ NOT NULL DEFAULT 0;
ALTER TABLE person ADD COLUMN stands_in @integer@ NOT NULL DEFAULT 0;

CREATE INDEX person_server_owner ON person (key) WHERE server_owner = 1;

ALTER TABLE person_preference ADD COLUMN preferred_language @text@;
ALTER TABLE address_preference ADD COLUMN preferred_language @text@;
ALTER TABLE member ADD COLUMN preferred_language @text@;

-- How many members a list has in each role, so that nobody counts a million rows. A list without these rows is counted.
CREATE TABLE member_total (
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    role @integer@ NOT NULL,
    total @integer@ NOT NULL,
    PRIMARY KEY (list, role)
) @clustered@;
INSERT INTO member_total (list, role, total)
    SELECT list.key, roles.role, (SELECT count(*) FROM member WHERE member.list = list.key AND member.role = roles.role)
    FROM list CROSS JOIN (SELECT 0 AS role UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3) AS roles;

-- A member wants no mail from begins_at to ends_at. Between the two, begun is 1.
CREATE TABLE vacation (
    member @integer@ NOT NULL PRIMARY KEY REFERENCES member (key) ON DELETE CASCADE,
    begins_at @integer@ NOT NULL,
    ends_at @integer@ NOT NULL,
    begun @integer@ NOT NULL
) @table@;
CREATE INDEX vacation_begins_at ON vacation (begins_at);
CREATE INDEX vacation_ends_at ON vacation (ends_at);

-- What a request asks for besides: how mail is to come, by the user instead of the address, whether a welcome is sent
-- (0: as the list says, 1: yes, 2: no); detail is the new address, or the options to set.
ALTER TABLE pending ADD COLUMN delivery_mode @integer@;
ALTER TABLE pending ADD COLUMN delivery_status @integer@;
ALTER TABLE pending ADD COLUMN by_person @integer@ NOT NULL DEFAULT 0;
ALTER TABLE pending ADD COLUMN welcome @integer@ NOT NULL DEFAULT 0;
ALTER TABLE pending ADD COLUMN detail @text@;
CREATE INDEX pending_folded ON pending (folded);
