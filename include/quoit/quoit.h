/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libquoit: who gets which TPU slices?
 *
 * Memory: libquoit allocates with GLib, and GLib ends the process with abort() when malloc() fails. No function of this
 * library reports a lack of memory; a program that must survive it has to keep its own state elsewhere. SQLite does not
 * abort: its failures, lack of memory included, come back as QUOIT_ERROR_STORE and leave the database untouched.
 *
 * This header includes all others. A call that can fail takes a GError ** as its last argument (or NULL), returns its
 * failure as NULL or false, and on failure has changed nothing and written no other output. The codes are in
 * quoit/error.h. Types are opaque; a const result is borrowed and lives as long as its owner, any other pointer is
 * yours and its documentation names the function that frees it. The library prints nothing, reads no clock and no
 * environment.
 */
#ifndef QUOIT_QUOIT_H
#define QUOIT_QUOIT_H

#include <quoit/error.h>
#include <quoit/amount.h>
#include <quoit/catalogue.h>
#include <quoit/request.h>
#include <quoit/report.h>
#include <quoit/group.h>
#include <quoit/input.h>
#include <quoit/snapshot.h>
#include <quoit/fork.h>
#include <quoit/journal.h>
#include <quoit/ledger.h>
#include <quoit/topology.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * quoit_version:
 *
 * The version of the library that is running, as "MAJOR.MINOR.PATCH". It may be newer than the headers that the caller
 * was compiled with.
 *
 * Returns: (transfer none): a constant, "0.1.0"
 * Since: 0.1
 */
QUOIT_API const char *quoit_version (void);

/* cdef-end */

G_END_DECLS

#endif
