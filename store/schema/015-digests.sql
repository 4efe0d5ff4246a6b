-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors
--
-- What a list collects for its digest (store/posts/digest.h). waiting, octets and first_at tell of the posts that belong to no
-- issue yet; volume and next_number are those of the next issue, unless its volume is over by then.

CREATE TABLE digest (
    list @integer@ NOT NULL PRIMARY KEY REFERENCES list (key) ON DELETE CASCADE,
    volume @integer@ NOT NULL,
    next_number @integer@ NOT NULL,
    sent_at @integer@ NOT NULL,
    waiting @integer@ NOT NULL,
    octets @integer@ NOT NULL,
    first_at @integer@ NOT NULL
) @clustered@;

-- An issue that is being made by an entry of the queue digest; host is where that entry is.
CREATE TABLE digest_issue (
    entry @text@ NOT NULL PRIMARY KEY,
    host @text@ NOT NULL,
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    volume @integer@ NOT NULL,
    number @integer@ NOT NULL,
    made_at @integer@ NOT NULL
) @clustered@;
CREATE INDEX digest_issue_list ON digest_issue (list);

-- The posts, octet for octet; issue is the entry of digest_issue, NULL: they wait for the next one.
CREATE TABLE digest_post (
    key @integer@ NOT NULL PRIMARY KEY,
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    issue @text@,
    message @blob@ NOT NULL
) @table@;
CREATE INDEX digest_post_issue ON digest_post (list, issue, key);

-- Who left a digest mode while posts waited: they get one last digest of the mode that they had.
CREATE TABLE digest_last (
    list @integer@ NOT NULL REFERENCES list (key) ON DELETE CASCADE,
    address @integer@ NOT NULL REFERENCES address (key) ON DELETE CASCADE,
    mode @integer@ NOT NULL,
    issue @text@,
    PRIMARY KEY (list, address)
) @clustered@;
CREATE INDEX digest_last_address ON digest_last (address);

-- For the question whether a list has members in a digest mode, which is asked for every post.
CREATE INDEX member_digest ON member (list) WHERE delivery_mode > 0;
