/* SPDX-License-Identifier: Apache-2.0 */
/* The core of libquoit, which decides and records which job gets which TPU slices.
 *
 * This header includes all headers of the core. <quoit/models.h> includes the models of Ray, KubeRay, JAX and MaxText.
 *
 * Errors. A call that can fail has GError **error as its last argument, which can be NULL. On failure it returns NULL,
 * false or 0, sets the error, and changes nothing: neither the ledger (except with QUOIT_ERROR_UNCONFIRMED) nor any
 * other output argument. quoit/error.h has the codes.
 *
 * Memory. Types are opaque. A const result is borrowed and lives as long as its owner. Any other pointer belongs to the
 * caller, and its documentation names the function that frees it. The library allocates with GLib, which ends the
 * process with abort() when malloc() fails; a program that must survive this has to keep its own state elsewhere.
 * SQLite does not abort: its failures, including lack of memory, are QUOIT_ERROR_STORE and leave the database
 * untouched.
 *
 * Environment. The library prints nothing, and reads no clock and no environment variable. Times are milliseconds since
 * 1970-01-01 UTC.
 *
 * Documentation. Comments omit what is always the same: the first argument is the value in the name of the function,
 * and must not be NULL unless it is marked (nullable). Everything without "Since:" exists since 0.1. docs/abi.md
 * describes what happens with an index that is out of range. */
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
#include <quoit/plan.h>
#include <quoit/preemption.h>
#include <quoit/promise.h>
#include <quoit/defragmentation.h>
#include <quoit/fragmentation.h>
#include <quoit/purchase.h>
#include <quoit/slots.h>
#include <quoit/start.h>
#include <quoit/journal.h>
#include <quoit/ledger.h>
#include <quoit/database.h>
#include <quoit/bytes.h>
#include <quoit/feed.h>
#include <quoit/topology.h>
#include <quoit/node-state.h>
#include <quoit/owner.h>
#include <quoit/quota.h>
#include <quoit/window.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * quoit_version:
 *
 * The version of the library that is running, as "MAJOR.MINOR.PATCH". It may be newer than the headers that the caller
 * was compiled with.
 *
 * Returns: (transfer none): a constant, "0.1.0"
 */
QUOIT_API const char *quoit_version (void);

/* cdef-end */

G_END_DECLS

#endif
