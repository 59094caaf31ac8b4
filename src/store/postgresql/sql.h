/* SPDX-License-Identifier: Apache-2.0 */
/* All SQL of the PostgreSQL engine in one place (sql.c). */
#pragma once

/* How much one result has at most: entries, and bytes of effects before the last entry. A literal for SQL. */
#define QUOIT_PG_ROWS_AT_ONCE 4096
#define QUOIT_PG_BYTES_AT_ONCE 8388608
/* An entry may be at most this much ahead of the server's clock, so that one wrong clock does not move the clock of the
 * ledger. */
#define QUOIT_PG_MAX_AHEAD_MS 5000
enum { QUOIT_PG_SCHEMA_VERSION = 1 };

/* The prepared statements of a connection. Their names are their numbers. */
typedef enum {
  PG_APPEND,       /* fleet, seq before, chain before, term, seq after, chain after, last time, and arrays of rows */
  PG_SINCE,        /* fleet, seq, first: entries from seq on, as many as fit into one result, and then the head.
                    * Entries before `first` come without their effects */
  PG_LOCK,         /* fleet: waits until no other transaction appends to it */
  PG_LEAD,         /* fleet, leader: begins the next term */
  PG_CHAIN_AT,     /* fleet, seq: the link of one entry */
  PG_IMAGE,        /* fleet, most: the newest image whose entry is at most that */
  PG_BASE,         /* fleet: the entry and the time of the checkpoint */
  PG_IMAGES,       /* fleet: the entries of all images */
  PG_IMAGE_INSERT, /* fleet, seq, is base, time of the request, bytes */
  PG_IMAGES_DROP,  /* fleet, seq: drops the images before it */
  PG_JOURNAL_DROP, /* fleet, seq: drops the entries up to it */
  PG_BASE_SET,     /* fleet, seq, term */
  PG_TIME,         /* fleet, seq: the time of one entry */
  PG_ADD_ROWS,     /* fleet, seq before the first row, and arrays of rows */
  PG_REWRITE_HEAD, /* fleet: changes nothing, but its commit waits for the standby, and so for all earlier commits */
  PG_SET_HEAD,     /* fleet, seq, chain, identity: of a copy */
  PG_FIRST_AFTER,  /* fleet, first, last, time: the first entry of that range that is not before the time */
  N_PG
} QuoitPgStatement;

extern const char *const quoit_pg_statements[N_PG];
extern const char quoit_pg_schema[];
