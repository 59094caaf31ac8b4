/* SPDX-License-Identifier: Apache-2.0 */
/* Databases for measurements: one of quoit, and a bare one with the same tables that a C loop writes. */
#pragma once

#include <quoit/quoit.h>

/* Makes a new folder below @parent; the caller frees its name. */
char *bench_folder_new (const char *parent);
void bench_folder_remove (const char *folder);

/* A new ledger at @path with that fleet. */
QuoitLedger *bench_database_new (const char *path, const char *fleet);
void bench_database_remove (const char *path);

typedef struct _BenchBare BenchBare;

/* A new database with quoit's tables, in WAL mode with synchronous FULL. */
BenchBare *bench_bare_new (const char *path);
void bench_bare_free (BenchBare *bare);

/* Insert the rows that a reservation of one 4x4 writes, with as many bytes: journal, group, four bundles. */
void bench_bare_insert (BenchBare *bare, unsigned number);
void bench_bare_begin (BenchBare *bare);
void bench_bare_commit (BenchBare *bare);
void bench_bare_reserve (BenchBare *bare, unsigned number); /* all three */

/* Writes the rows of a confirmation in a commit of their own: another entry, and the group's new state. */
void bench_bare_confirm (BenchBare *bare, unsigned number);

/* Inserts @n rows of an import in one transaction. */
void bench_bare_import (BenchBare *bare, unsigned n);

/* Reads the rows of the node table of quoit's database at @path into arrays; returns their number. */
unsigned bench_bare_read (const char *path);

/* Copies the journal rows of quoit's database at @from to a new one at @to in one transaction; returns their number. */
unsigned bench_bare_copy_journal (const char *from, const char *to);
