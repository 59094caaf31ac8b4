/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON documents. Equal values always give equal bytes. */
#pragma once

#include "base/amount.h"
#include "formats/formats.h"
#include "fleet/fleet.h"

/* The version of the documents that quoit writes: the value of "schema" in each of them. */
#define QUOIT_SCHEMA "quoit/1"

typedef struct _QuoitWriter QuoitWriter;

QuoitWriter *quoit_writer_new (void);
void quoit_writer_free (QuoitWriter *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitWriter, quoit_writer_free)

/* Pass NULL as @key inside arrays and for the document itself. A NULL text is written as null. Invalid UTF-8 bytes are
   replaced by U+FFFD. */
void quoit_writer_open_object (QuoitWriter *writer, const char *key);
void quoit_writer_open_array (QuoitWriter *writer, const char *key);
void quoit_writer_close (QuoitWriter *writer);
void quoit_writer_text (QuoitWriter *writer, const char *key, const char *value);
void quoit_writer_integer (QuoitWriter *writer, const char *key, int64_t value);
void quoit_writer_boolean (QuoitWriter *writer, const char *key, gboolean value);
/* These two write the value as decimal text, because a JSON number is a double in most readers and would lose
   digits. */
void quoit_writer_amount (QuoitWriter *writer, const char *key, QuoitAmount value);
void quoit_writer_sum (QuoitWriter *writer, const char *key, QuoitSum value);

/* Ends the document with a newline, frees the writer and returns the text; free it with g_free(). All objects and
   arrays must be closed. */
char *quoit_writer_finish (QuoitWriter *writer);

/* Writes the members of a node that come from its kind: generation, topology, labels, resources. */
void quoit_write_kind (QuoitWriter *writer, const QuoitNodeKind *kind);
/* Writes the member "assumed": the fields that the source did not state. @flags are QuoitNodeFlags. */
void quoit_write_assumed (QuoitWriter *writer, guint8 flags);

/* Returns a whole fleet as one document; free it with g_free(). Equal fleets give equal text. */
char *quoit_write_fleet_json (const QuoitFleet *fleet);
/* Writes the slices and groups as fleet text. Fails with NOT_FOUND if no slice has a class. */
char *quoit_write_fleet_text (const QuoitFleet *fleet, GError **error);

/* Returns the claims of one source as a document, with the nodes in natural order of their names; free it with
   g_free(). */
char *quoit_write_claims_json (const QuoitClaims *claims);
