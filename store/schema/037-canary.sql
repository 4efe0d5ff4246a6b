-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- Mails that a host sends through its MTA and back, one row a slice that they go through (store/hosts/canary.h). mail is the
-- Message-ID of the last one as lists record it; missing_since is 0 when it is back.
CREATE TABLE canary (
    host @text@ NOT NULL,
    slice @integer@ NOT NULL,
    mail @text@ NOT NULL,
    sent_at @integer@ NOT NULL,
    back_at @integer@ NOT NULL,
    missing_since @integer@ NOT NULL,
    PRIMARY KEY (host, slice)
) @clustered@;
