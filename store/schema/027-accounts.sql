-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- The account of what strangers cost (store/people/account.h): how much of a kind was counted for somebody in the time that ends_at. The
-- tables answer and guess counted before; nobody reads them any more.
CREATE TABLE account (
    kind @text@ NOT NULL,
    who @text@ NOT NULL,
    ends_at @integer@ NOT NULL,
    total @integer@ NOT NULL,
    PRIMARY KEY (kind, who)
) @clustered@;
CREATE INDEX account_ends_at ON account (ends_at);
DELETE FROM answer;
DELETE FROM guess;
