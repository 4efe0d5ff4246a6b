-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- REST counts held posts in each list, from 1 on, and uses no number twice: held_last is the last one given.
ALTER TABLE list ADD COLUMN held_last @integer@ NOT NULL DEFAULT 0;
ALTER TABLE held ADD COLUMN list_number @integer@ NOT NULL DEFAULT 0;
UPDATE held SET list_number = numbered.place FROM
    (SELECT number, row_number() OVER (PARTITION BY list ORDER BY number) AS place FROM held) numbered
    WHERE numbered.number = held.number;
UPDATE list SET held_last = (SELECT count(*) FROM held WHERE held.list = list.key);
CREATE UNIQUE INDEX held_list_number ON held (list, list_number);
DROP INDEX held_list;
-- Tokens that programs show to the REST interface (store/people/token.h). digest is the SHA-256 of the secret half in hex; verbs,
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
