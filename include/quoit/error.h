/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_ERROR_H
#define QUOIT_ERROR_H

#include <stdint.h>
#include <glib.h>

#ifndef QUOIT_API
#define QUOIT_API __attribute__ ((visibility ("default")))
#endif

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitErrorCode:
 *
 * Why a call failed. The numbers are permanent: they are also the exit status of the command and the key of the
 * exception class in every binding. Callers must accept values that they do not know.
 */
typedef enum {
  QUOIT_ERROR_FAILED = 1,     /* a bug of quoit, or an unforeseen case: report it */
  QUOIT_ERROR_USAGE = 2,      /* wrong command line; the library does not return it */
  QUOIT_ERROR_INVALID = 3,    /* the input breaks a rule; the message has the place, the value and what was expected */
  QUOIT_ERROR_NOT_FOUND = 4,  /* no such node, slice, group or file */
  QUOIT_ERROR_NOT_NOW = 5,    /* fits the fleet, but not at present: wait, or follow an option of the report */
  QUOIT_ERROR_NEVER = 6,      /* does not fit even an empty fleet with all known nodes alive: change the request */
  QUOIT_ERROR_CONFLICT = 7,   /* the state contradicts the request: read the state, do not retry blindly */
  QUOIT_ERROR_STORE = 8,      /* the disk or the server, its permissions or its space; nothing was written */
  QUOIT_ERROR_VERSION = 9,    /* the database belongs to another version of quoit */
  QUOIT_ERROR_BUSY = 10,      /* another process is writing: wait and retry */
  QUOIT_ERROR_EXPIRED = 11,   /* the lease has ended */
  QUOIT_ERROR_CANCELLED = 12, /* quoit_ledger_interrupt() ended the wait */
  QUOIT_ERROR_DAMAGED = 13,   /* the database contradicts itself or its journal: restore a backup */
  QUOIT_ERROR_UNCONFIRMED = 14, /* perhaps written, but the answer was lost: retry with the same key, or read */
  QUOIT_ERROR_FENCED = 15       /* a later leader has begun its term: this handle must lead again to write */
} QuoitErrorCode;

/**
 * quoit_error_quark:
 *
 * The one error domain of the library, for g_error_matches().
 *
 * Returns: the quark of QUOIT_ERROR
 */
QUOIT_API GQuark quoit_error_quark (void);

/**
 * quoit_error_code_name:
 * @code: one of #QuoitErrorCode
 *
 * The name of @code as the documentation and the bindings write it: "NOT_NOW" for %QUOIT_ERROR_NOT_NOW.
 *
 * Returns: (transfer none): a constant; "FAILED" for a value that this version does not know
 */
QUOIT_API const char *quoit_error_code_name (QuoitErrorCode code);

/* cdef-end */

#define QUOIT_ERROR (quoit_error_quark ())

G_END_DECLS

#endif
