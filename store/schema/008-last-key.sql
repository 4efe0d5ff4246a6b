-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- The greatest key ever handed out: the next is greater, whatever the clock does. One row.
CREATE TABLE last_key (value @integer@ NOT NULL) @table@;
INSERT INTO last_key (value) SELECT COALESCE(MAX(key), 0) FROM
    (SELECT MAX(key) AS key FROM list UNION ALL SELECT MAX(key) FROM person UNION ALL SELECT MAX(key) FROM address
     UNION ALL SELECT MAX(key) FROM member UNION ALL SELECT MAX(key) FROM secret) AS known;
