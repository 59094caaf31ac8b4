/* SPDX-License-Identifier: Apache-2.0 */
/* The output of a verb: an ordered list of sections, which can be printed as text, as one JSON document, or as CSV.
 *
 * A section has a @key, its name in JSON, and a @title for people. @title is NULL if the document has only this section
 * or needs no heading. The functions document_take_...() append a section and take ownership of its contents. */
#pragma once

#include "table.h"

typedef struct _Document Document;

Document *document_new (void);
void document_free (Document *document);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Document, document_free)

/* A sentence that only the text has. The facts of the document must have the same information for JSON. */
void document_take_sentence (Document *document, char *sentence);

/* Row 0 of @facts: in JSON, members of the document itself. */
void document_take_facts (Document *document, Table *facts);

/* Row 0 of @facts: in JSON, the members of an object. */
void document_take_object (Document *document, const char *key, const char *title, Table *facts);

/* All rows: in JSON, an array of objects. */
void document_take_table (Document *document, const char *key, const char *title, Table *rows);

/* Same as document_take_table(), and makes @rows the table that -o csv prints. A document has at most one such table.
 * Without one, -o csv prints the first table. */
void document_take_csv_table (Document *document, const char *key, const char *title, Table *rows);

/* Rows of two cells, name and value: in JSON, the members of an object. */
void document_take_map (Document *document, const char *key, const char *title, Table *pairs);

/* Lines of text: in JSON, an array of strings. */
void document_take_lines (Document *document, const char *key, const char *title, GPtrArray *lines);

/* Free the results with g_free(). CSV has the rows of one table; it is NULL if the document has no table. */
char *document_format_json (const Document *document);

/* The same JSON in one line, for a <script> of HTML: it has no '<', '>' and '&'. g_free() it. */
char *document_format_script (const Document *document);
char *document_format_text (const Document *document, TextForm form);
char *document_format_csv (const Document *document);

/* Formats the text as one page of HTML, which loads nothing and needs no script. g_free() it. */
char *document_format_html (const Document *document, const char *title);
