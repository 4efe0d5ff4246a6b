-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors

-- Users who may do everything with a domain.
CREATE TABLE domain_owner (
    mail_host @text@ NOT NULL REFERENCES domain (mail_host) ON DELETE CASCADE,
    person @integer@ NOT NULL REFERENCES person (key) ON DELETE CASCADE,
    PRIMARY KEY (mail_host, person)
) @clustered@;
CREATE INDEX domain_owner_person ON domain_owner (person);
