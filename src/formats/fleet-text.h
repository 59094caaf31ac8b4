/* SPDX-License-Identifier: Apache-2.0 */
/* Shared parts of the readers of fleet text: fleet-text.c, fleet-text-groups.c and fleet-words.c. */
#pragma once

#include "formats/formats.h"

/* A part of the text. */
typedef struct {
  const char *at; /* NULL: the word is missing */
  gsize length;
} QuoitFleetWord;

/* The state while a text is read. */
typedef struct {
  const char *text, *p, *end; /* p: the next byte to read */
  QuoitClaims *claims;
  GHashTable *next_slice;    /* pool name -> number of slices so far */
  GHashTable *group_names;   /* owned */
  GHashTable *next_position; /* block name -> number of positions that are taken */
  GError **error;
} QuoitFleetReader;

/* Sets the error: the place, the text at @at, and what was expected. Returns FALSE. */
gboolean quoit_fleet_refuse (const QuoitFleetReader *reader, const char *at, gsize length, const char *expected);
/* Adds the place to the error. Returns FALSE. */
gboolean quoit_fleet_prefix_place (const QuoitFleetReader *reader, const char *at);

/* Reads the next word of the item. Its length is 0 at the end of the item. */
QuoitFleetWord quoit_fleet_next_word (QuoitFleetReader *reader);
/* Reads digits from @at up to @end. Returns the end of the digits, or NULL if there are none or the number is too
 * large. */
const char *quoit_fleet_read_number (const char *at, const char *end, guint32 *value);

/* Finds the facts of a slice. @host: the chips of a host; at NULL: Ray's default. */
gboolean quoit_fleet_read_facts (QuoitFleetReader *reader, QuoitFleetWord generation, QuoitFleetWord topology,
                                 QuoitFleetWord host, QuoitSliceFacts *facts);

/* Reads the words after "group" and adds the reservation to the claims. */
gboolean quoit_fleet_read_group (QuoitFleetReader *reader);
