/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON: always valid, always the same bytes for the same values. */
#pragma once

#include "base/amount.h"
#include "formats/formats.h"
#include "fleet/fleet.h"

/* The form of the documents that quoit writes: the value of "schema" in each. */
#define QUOIT_SCHEMA "quoit/1"

typedef struct _QuoitWriter QuoitWriter;

QuoitWriter *quoit_writer_new (void);
void quoit_writer_free (QuoitWriter *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitWriter, quoit_writer_free)

/* @key: NULL inside arrays and for the document itself. NULL texts are written as null. Text that is not UTF-8 has its
 * wrong bytes replaced by U+FFFD. */
void quoit_writer_open_object (QuoitWriter *writer, const char *key);
void quoit_writer_open_array (QuoitWriter *writer, const char *key);
void quoit_writer_close (QuoitWriter *writer);
void quoit_writer_text (QuoitWriter *writer, const char *key, const char *value);
void quoit_writer_integer (QuoitWriter *writer, const char *key, int64_t value);
void quoit_writer_boolean (QuoitWriter *writer, const char *key, gboolean value);
/* Decimal text: a double would not keep it. */
void quoit_writer_amount (QuoitWriter *writer, const char *key, QuoitAmount value);
void quoit_writer_sum (QuoitWriter *writer, const char *key, QuoitSum value);

/* Ends the document with a newline and frees the writer; everything must be closed. */
char *quoit_writer_finish (QuoitWriter *writer);

/* Members of a node's object: what its kind says. */
void quoit_write_kind (QuoitWriter *writer, const QuoitNodeKind *kind);
/* And "assumed", of QuoitNodeFlags: what its source did not say. */
void quoit_write_assumed (QuoitWriter *writer, guint8 flags);

/* Everything of a fleet as one document: equal fleets give equal text. */
char *quoit_write_fleet_json (const QuoitFleet *fleet);

/* The claims of one source as a document, nodes in natural order of their names. */
char *quoit_write_claims_json (const QuoitClaims *claims);
