/* SPDX-License-Identifier: Apache-2.0 */
/* The options that say what is wanted: `reserve` and `fits` have the same. */
#pragma once

#include <quoit/quoit.h>

typedef struct {
  char *accelerator, *topology, *slices, *chips_per_host, *key, *owner, *pool, *zone;
  char **selectors, **named, **excluded;
  gboolean dry_run;
} RequestOptions;

void request_options_clear (RequestOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (RequestOptions, request_options_clear)

/* For session_parse(); g_free() it. The second has --dry-run too. */
GOptionEntry *request_entries (RequestOptions *options);
GOptionEntry *request_entries_with_dry_run (RequestOptions *options);

/* quoit_request_free() it. */
QuoitRequest *request_build (const RequestOptions *options, const char *name, GError **error);
