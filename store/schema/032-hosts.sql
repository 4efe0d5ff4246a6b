-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- The spool in which the entries of a unit are, and the parent of an entry that is kept: hosts that share the database
-- have one each. Empty in rows from before, which are of the only host there was.
ALTER TABLE outbox_unit ADD COLUMN spool @text@ NOT NULL DEFAULT '';
ALTER TABLE outbox ADD COLUMN spool @text@ NOT NULL DEFAULT '';

-- The id of the site, which its spools bear, too.
CREATE TABLE site (
    id @text@ NOT NULL PRIMARY KEY
) @clustered@;

-- Hosts, and until when each may do what only one may (store/hosts/host.h). Times are of the database's clock. boot names the
-- run of the machine's kernel, state is what the host says of itself, in JSON.
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
    draining @integer@ NOT NULL
) @clustered@;

-- What only one host does at a time ("task"). A claim is worth as much as the lease of its host in that epoch.
CREATE TABLE claim (
    what @text@ NOT NULL PRIMARY KEY,
    host @text@ NOT NULL,
    epoch @integer@ NOT NULL,
    since @integer@ NOT NULL
) @clustered@;
