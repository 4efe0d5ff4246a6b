-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- A domain or list that is made again under its old name is another one. A domain has a key for that, as a list has: 0
-- is the one that was there before this column.
ALTER TABLE domain ADD COLUMN key @integer@ NOT NULL DEFAULT 0;

-- The mail host, and the keys of the list and of its domain, at the time of the event (store/event_row.h). mail_host is
-- empty where nobody noted them, as in all events from before these columns: those are the site's alone.
ALTER TABLE event ADD COLUMN mail_host @text@ NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN list_key @integer@ NOT NULL DEFAULT 0;
ALTER TABLE event ADD COLUMN domain_key @integer@ NOT NULL DEFAULT 0;

-- The name that came with this membership, whatever others call the address. Of memberships from before nobody knows;
-- where the address is on one list alone its name is taken to be of that.
ALTER TABLE member ADD COLUMN given_name @text@;
UPDATE member SET given_name = (SELECT display_name FROM address WHERE address.key = member.address)
    WHERE NOT EXISTS (SELECT 1 FROM member other WHERE other.person = member.person AND other.list <> member.list);

-- The room that the held posts of a list take, and those of strangers among them: the sums of held.room, kept with it.
CREATE TABLE held_sum (
    list @integer@ NOT NULL PRIMARY KEY REFERENCES list (key) ON DELETE CASCADE,
    room @integer@ NOT NULL,
    strangers @integer@ NOT NULL
) @clustered@;
INSERT INTO held_sum (list, room, strangers) SELECT list, sum(room), sum(room * stranger) FROM held GROUP BY list;
DROP INDEX held_room;

-- What /metrics counts is found without the rows themselves, of which those of held posts hold the posts.
CREATE INDEX held_moderated ON held (number, held_at) WHERE token IS NULL;
CREATE INDEX pending_moderated ON pending (expires_at, made_at) WHERE waits_for = 1;
DROP INDEX account_ends_at;
CREATE INDEX account_ends_at ON account (ends_at, kind, total);
