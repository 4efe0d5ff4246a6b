-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- Mails that a host sends through its MTA and back, one row a way that they go (store/hosts/canary.h): the kind of address of
-- the relay ("ipv4", "ipv6"; "" where it has one), and the slices of the queues out and in. mail is the Message-ID of the
-- last one as lists record it; missing_since is 0 when it is back.
-- The table canary is the older form, which the version before writes; a later version drops it.
CREATE TABLE canary_way (
    host @text@ NOT NULL,
    family @text@ NOT NULL,
    out_slice @integer@ NOT NULL,
    in_slice @integer@ NOT NULL,
    mail @text@ NOT NULL,
    sent_at @integer@ NOT NULL,
    back_at @integer@ NOT NULL,
    missing_since @integer@ NOT NULL,
    PRIMARY KEY (host, family, out_slice, in_slice)
) @clustered@;

-- A program that does not know of the table can work.
INSERT INTO schema_least (number, least) VALUES (42, 40);
