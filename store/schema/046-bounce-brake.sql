-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- How many members of a list, or of the list at one mail domain, failed with one reply on a day (store/people/bounce_brake.h).
-- domain '': of the list, then several tells that they are of more than one domain, the first of which is first_domain.
-- reply is what the replies have in common, text the last one as it was said. needed: from how many on the brake closes;
-- 0: not known yet. closed_at: when it closed; 0: it is open.
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

-- A program that does not know of the table can work.
INSERT INTO schema_least (number, least) VALUES (46, 40);
