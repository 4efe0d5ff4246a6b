-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors
--
-- What waits is asked for with every batch: it is counted as it changes, host by host.

CREATE TABLE fragment_waiting (
    host @text@ NOT NULL PRIMARY KEY,
    sets @integer@ NOT NULL,
    parts @integer@ NOT NULL,
    octets @integer@ NOT NULL
) @clustered@;
INSERT INTO fragment_waiting (host, sets, parts, octets)
    SELECT host, COUNT(*), SUM(parts), SUM(octets) FROM fragment_set WHERE state = 0 GROUP BY host;

-- For the oldest open set (never settled), and for joins that are not settled. No part that comes changes it.
DROP INDEX fragment_set_host;
CREATE INDEX fragment_set_host ON fragment_set (host, state, settled, opened_at);
-- For what is to be forgotten: ended_at is 0 exactly in an open set.
DROP INDEX fragment_set_ended;
CREATE INDEX fragment_set_ended ON fragment_set (ended_at, expires_at);
