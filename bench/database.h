/* SPDX-License-Identifier: Apache-2.0 */
/* Databases to measure with: one of quoit's, and a bare one of the same tables that a C loop writes. */
#pragma once

#include <quoit/quoit.h>

/* A folder of its own below @parent; the caller's. */
char *bench_folder_new (const char *parent);
void bench_folder_remove (const char *folder);

/* A new ledger at @path with that fleet. */
QuoitLedger *bench_database_new (const char *path, const char *fleet);
void bench_database_remove (const char *path);

typedef struct _BenchBare BenchBare;

/* A new database in WAL mode, synchronous FULL, with quoit's tables. */
BenchBare *bench_bare_new (const char *path);
void bench_bare_free (BenchBare *bare);

/* The rows that a reservation of one 4x4 writes, with as many bytes: journal, group, four bundles. */
void bench_bare_insert (BenchBare *bare, unsigned number);
void bench_bare_begin (BenchBare *bare);
void bench_bare_commit (BenchBare *bare);
void bench_bare_reserve (BenchBare *bare, unsigned number); /* all three */

/* The rows that confirming it writes, in a commit of their own: another entry, and the group's new state. */
void bench_bare_confirm (BenchBare *bare, unsigned number);

/* @n rows as an import writes them, in one transaction. */
void bench_bare_import (BenchBare *bare, unsigned n);

/* Reads the rows of the node table of quoit's database at @path into arrays; how many. */
unsigned bench_bare_read (const char *path);

/* Copies the rows of the journal of quoit's database at @from, in one transaction, to that of a new one at @to; how
 * many.
 */
unsigned bench_bare_copy_journal (const char *from, const char *to);
