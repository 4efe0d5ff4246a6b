-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- How many members a list has in each role, how many addresses and users there are, in spans of at most 1,000 in the order
-- of their keys: nobody counts a million rows, nor steps over them to one in their middle. list is 0 for addresses and
-- users; kind is a role, 4 for addresses or 5 for users; the first span begins with ''. store/people/span.h tells more.
CREATE TABLE span (
    list @integer@ NOT NULL,
    kind @integer@ NOT NULL,
    begins @text@ NOT NULL,
    total @integer@ NOT NULL,
    PRIMARY KEY (list, kind, begins)
) @clustered@;

INSERT INTO span (list, kind, begins, total)
    SELECT list, role, CASE WHEN part = 0 THEN '' ELSE min(folded) END, count(*)
    FROM (SELECT list, role, folded, rank() OVER (PARTITION BY list, role ORDER BY folded) / 500 AS part FROM member) AS m
    GROUP BY list, role, part;
INSERT INTO span (list, kind, begins, total)
    SELECT 0, 4, CASE WHEN part = 0 THEN '' ELSE min(folded) END, count(*)
    FROM (SELECT folded, rank() OVER (ORDER BY folded) / 500 AS part FROM address) AS a GROUP BY part;
INSERT INTO span (list, kind, begins, total)
    SELECT 0, 5, CASE WHEN part = 0 THEN '' ELSE min(digits) END, count(*)
    FROM (SELECT substr('0000000000000000000', 1, 19 - length(CAST(key AS @text@))) || CAST(key AS @text@) AS digits,
                 rank() OVER (ORDER BY key) / 500 AS part
          FROM person WHERE stands_in = 0) AS p
    GROUP BY part;
-- The first one of each, also where nothing is.
INSERT INTO span (list, kind, begins, total)
    SELECT list.key, kinds.kind, '', 0
    FROM list CROSS JOIN (SELECT 0 AS kind UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3) AS kinds
    UNION ALL SELECT 0, 4, '', 0 UNION ALL SELECT 0, 5, '', 0
    ON CONFLICT DO NOTHING;

DROP TABLE member_total;
