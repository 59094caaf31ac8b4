/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of a verb: sections in order, printed for people, as one JSON document, or as CSV. */
#pragma once

#include "table.h"

typedef struct _Document Document;

Document *document_new (void);
void document_free (Document *document);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Document, document_free)

/* A sentence for people; what it says must be in the document's facts too. */
void document_take_sentence (Document *document, char *sentence);

/* Row 0 of @facts, as members of the document itself. Takes @facts. */
void document_take_facts (Document *document, Table *facts);

/* Row 0 of @facts, as an object of its own. Takes @facts. @title is NULL where the document is just that. */
void document_take_object (Document *document, const char *key, const char *title, Table *facts);

/* All rows, as an array. Takes @rows. @title is NULL where the document is just that. */
void document_take_table (Document *document, const char *key, const char *title, Table *rows);

/* The same, of the table that CSV writes; of a document without such a one it writes the first table. */
void document_take_rows (Document *document, const char *key, const char *title, Table *rows);

/* Rows of two cells, as an object of names and values. Takes @pairs. */
void document_take_map (Document *document, const char *key, const char *title, Table *pairs);

/* Lines of text, as an array of strings. Takes @lines. */
void document_take_lines (Document *document, const char *key, const char *title, GPtrArray *lines);

/* g_free() each result. CSV has the rows of one table only; NULL if the document has no such table. */
char *document_format_json (const Document *document);
char *document_format_text (const Document *document);
char *document_format_csv (const Document *document);
