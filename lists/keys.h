/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Name the metadata keys of queue entries. An entry is a message in a queue, with a JSON object that describes it; the
 * keys of that object stand here, but for the switchboard's own (switchboard/meta.h). Runners write and read them, and
 * so do the functions of lists/ that leave entries for runners. All stand in one file, so that a key means one thing in
 * every queue. Each section names the program that writes its keys, and the queue where only one has them. Addresses
 * are as they came, without angle brackets.
 */

/* Written by intake (lmtp, inject). */
#define KEY_SENDER "sender"         /* string: envelope sender, "" for the null sender */
#define KEY_RECIPIENT "recipient"   /* string: the RCPT address as given */
#define KEY_TO "to"                 /* string: what the address asks for, one of TO_* */
#define KEY_DETAIL "detail"         /* string: VERP part or token after the sub-address, or absent */
#define KEY_PEER "peer"             /* string: who handed it in, "127.0.0.1 mx.example.com", "unix", "inject" */
#define KEY_MESSAGE_ID "message_id" /* string: without angle brackets; cut when long; made up if the mail had none */
#define KEY_SMTPUTF8 "smtputf8"     /* bool: MAIL FROM had SMTPUTF8 */
#define KEY_BODY_8BIT "8bit"        /* bool: BODY=8BITMIME, or bytes over 127 seen */

/* Written by web into command, in place of a mail: a form of a page (lists/people/page_form.h). */
#define KEY_FORM "form"       /* object: address, name, and from where it was sent */

/* The values of KEY_TO. */
#define TO_POSTING "posting"
#define TO_OWNER "owner"
#define TO_BOUNCES "bounces"
#define TO_JOIN "join"
#define TO_SIGN_IN "sign-in" /* by a form of the pages */
#define TO_LEAVE "leave"
#define TO_CONFIRM "confirm"
#define TO_REQUEST "request"
#define TO_SITE "site"     /* no list's address: mail for the people who run the site, in the queue virgin */
#define TO_DIGEST "digest" /* no address: an issue of the list's digest, in the queue pipeline */

/* Written by digest into pipeline, with TO_DIGEST: who gets this issue. */
#define KEY_DIGEST_PLAIN "digest_plain"       /* bool: those who want plain text, else those who want MIME */
#define KEY_DIGEST_LANGUAGE "digest_language" /* string: language of the members who get it, "" where they set none */
#define KEY_DIGEST_MEMBERS "digest_members"   /* integer: number of members who get it */
#define KEY_DIGEST_LAST "digest_last"         /* array: addresses that left this mode and get a last issue, or absent */

/* Written into the queue digest by lists/posts/digest_send.h, in place of a post. */
#define KEY_DIGEST_ASK "digest_ask"       /* bool: the posts that wait are to be sent */
#define KEY_DIGEST_BEFORE "digest_before" /* integer: send only if the oldest came before this time; absent: always */

/* Written by lmtp into defragment, and by defragment. */
#define KEY_DEPTH "fragment_depth"        /* integer: how often the message was put together from parts already */
#define KEY_WAKE "fragment_wake"          /* string: no mail, but a set's key: its parts are to be looked at again */
#define KEY_LEFT "fragment_left"          /* string: why this part goes on alone, one of LEFT_* */
#define KEY_LEFT_REASON "fragment_reason" /* string: a sentence that tells people why */
#define LEFT_EXPIRED "expired"
#define LEFT_REFUSED "refused"
#define LEFT_RELEASED "released"

/* Written by nntp into in, with the articles of a news group. */
#define KEY_FROM_NEWS "from_news" /* string: the group; the post does not go back there */

/* Written into the queue nntp by lists/posts/news.h, in place of a post. */
#define KEY_NEWS_LOOK "news_look" /* bool: the list's news group is to be looked at now */

/* Written into the queue task by a program that wants a job of the timer done at once. */
#define KEY_JOB "job" /* string: the job's name */

/* Written into virgin by lists/letters/letter.h. */
#define KEY_OF_SITE "of_site" /* bool: the site writes, so the letter says of no list that it came from there */

/* Written by inject and REST into in, and by in into the metadata of a held post. */
#define KEY_SEND_AT "send_at" /* integer: when the post is to be sent, us; accepted, it waits until then */

/* Written into pipeline by lists/posts/scheduled_post.h, when the time of a post with KEY_SEND_AT has come. */
#define KEY_SCHEDULED "scheduled" /* bool: the post's field Date is replaced by today's date */

/* Written by in. */
#define KEY_MODERATED "approved" /* bool: a person or a password let it pass */
#define KEY_HITS "hits"          /* array of strings: rules that matched */
#define KEY_MISSES "misses"      /* array of strings: rules that did not match */
#define KEY_MEMBER "member"      /* string: the member's address that made it a member's post */

/* The queue from which the runner out claims first. It has the mail with KEY_PRIORITY, which Listrunner wrote. */
#define NOTICE_QUEUE "notice"

/* Written by pipeline and virgin, read by out. */
#define KEY_ENVELOPE_SENDER "envelope_sender" /* string: MAIL FROM of the copies, "" for null */
#define KEY_TRANSPORT "transport"             /* string: name of [transport.NAME], or absent */
#define KEY_POST_ID "post_id"                 /* integer: number of the post on its list */
#define KEY_COPIES \
    "copies"                    /* string: each recipient gets a copy and a transaction of their own; the holes to
                                       fill in the message, and recipients, as mail/copy.h writes both */
#define KEY_SIGN "sign"         /* object: how copies are signed (runners/posts/copy_sign.h), or absent */
#define KEY_XVERP "xverp"       /* string: the relay is to make the recipients' senders; delimiters, "+=" */
#define KEY_PRIORITY "priority" /* string: "notice" for mail we wrote ourselves, or absent */

/* Written into the queue of what is handed between hosts (runners/handover). */
#define HANDOVER_QUEUE "handover"
#define ARCHIVE_QUEUE "archive"
#define KEY_HAND_TO "hand_to"       /* string: the host that is to work the entry, unless it came from another host */
#define KEY_HAND_QUEUE "hand_queue" /* string: the queue that it is for */
#define KEY_HANDED "handed"         /* string: it came from another host, and is known by this name */
#define KEY_HANDED_AT "handed_at"   /* integer: when it came into the queue, us */

/* Written by whatever writes a post into out, for each of its entries (a block). The blocks are numbered, and the first
 * one with fewer recipients than it might have is the last one. */
#define KEY_BLOCK "block"           /* integer: its number, from 0; absent: nobody can tell whether these are all */
#define KEY_BLOCK_MOST "block_most" /* integer: the recipients that it might have; absent: it is the last one */
#define KEY_BLOCKS "blocks"         /* integer: how many there are, if that is known; KEY_BLOCK_MOST is absent then */

/* Written by out into retry, and into bounces: of a block, when nobody has got the post so far. */
#define KEY_BLOCK_OF "block_of"     /* string: name hash of the entry of out */
#define KEY_BLOCK_SIZE "block_size" /* integer: its recipients; 0: of a block that was left empty */

/* Written by out into retry. */
#define KEY_REACHED "reached"       /* bool: some recipients of the block may have got the post */
#define KEY_ATTEMPTS "attempts"     /* integer: deliveries tried so far */
#define KEY_DOUBTS "doubts"         /* integer: attempts after which nobody knew whether it was delivered */
#define KEY_WARNED "warned"         /* bool: the delay was reported */
#define KEY_LAST_REPLY "last_reply" /* string: the last temporary refusal */
#define KEY_LAST_PHASE "last_phase" /* string: what that was in reply to, as phase of KEY_FAILURES */
#define KEY_EXPIRE "expire"         /* bool, by queue expire: the next attempt is the last */

/* Written by out into bounces: one entry a transaction with refused recipients. */
#define KEY_FAILURES \
    "failures" /* array of {address, status "5.1.1", reply "550 5.1.1 ...", relay, phase: what the reply was to,
                          "connect", "hello", "auth", "mail", "rcpt", "data" or "end"} */
#define KEY_LOST "lost" /* array of strings: addresses to which delivery was given up because of our relay, or by order;
                           nobody is charged. Only with KEY_BLOCK_OF */
#define KEY_LOST_REPLY "lost_reply" /* string: why */

/* Written by bounces into its own queue. */
#define KEY_TAKE_BACK \
    "take_back" /* object {reply, domain (absent: any), day, after}: points of that day for that reply are taken back,
                   from members behind this one */

#define KEY_OF "of"             /* string: name hash of the out entry they belong to */
#define KEY_WRITING \
    "writing" /* integer: a random number, another one each time out writes the entry; after a
                                       crash it may write one a second time under the same name */

/* Written by bounces into its own queue: members for whom something is due. */
#define KEY_DUE "due" /* array of {member: id, address, at: when it was due, us} */

/* Written by pipeline into archive. */
#define KEY_LIST_ADDRESS "list_address"     /* string: posting address of the list */
#define KEY_ARCHIVE_CLOSED "archive_closed" /* bool: not everybody may read the list's archive */
#define KEY_ARCHIVE_NAME "archive_name" /* string: name under which the list's posts are kept; absent: its List-Id */
#define KEY_ARCHIVERS "archivers"       /* array of strings: [archiver.NAME] still to be served */
