/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* One row a dialect: what is made for programs first, what is read most freely last. */
#include "mail/recognise/report.h"

extern const Dialect dialect_feedback, dialect_delivery_status, dialect_delivery_text, dialect_amazon, dialect_exim;
extern const Dialect dialect_postfix, dialect_sendmail, dialect_qmail, dialect_yahoo, dialect_exchange;
extern const Dialect dialect_outlook, dialect_domino, dialect_groupwise, dialect_aol, dialect_opensmtpd;
extern const Dialect dialect_dragonfly, dialect_imail, dialect_interscan, dialect_kddi, dialect_zoho;
extern const Dialect dialect_james, dialect_phquery, dialect_plain, dialect_sentence, dialect_returned, dialect_success;

const Dialect *const dialects[] = {
    &dialect_feedback,
    &dialect_delivery_status,
    &dialect_delivery_text,
    &dialect_success,
    &dialect_amazon,
    &dialect_exim,
    &dialect_postfix,
    &dialect_sendmail,
    &dialect_qmail,
    &dialect_yahoo,
    &dialect_exchange,
    &dialect_outlook,
    &dialect_domino,
    &dialect_groupwise,
    &dialect_aol,
    &dialect_opensmtpd,
    &dialect_dragonfly,
    &dialect_imail,
    &dialect_interscan,
    &dialect_kddi,
    &dialect_zoho,
    &dialect_james,
    &dialect_phquery,
    &dialect_plain,
    &dialect_sentence,
    &dialect_returned,
    NULL,
};
