/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of bundles on fleets of text, for suites about their processes and devices. */
#pragma once

#include <string.h>

#include <quoit/quoit.h>

#include "suite.h"
#include "../shortcuts.h"

static const int64_t bundles_now_ms = G_GINT64_CONSTANT (1767225600000);

static inline QuoitLedger *
bundles_ledger (const char *fleet)
{
  QuoitLedger *ledger = quoit_ledger_open_memory ();
  GError *error = NULL;

  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_FLEET, fleet, NULL, bundles_now_ms, &error));
  ck_assert_ok (error);
  return ledger;
}

/* Adds one word to a request: "slices:v6e,4x4,2,TPU" for whole slices as bundles of that much TPU, "spread", "slice"
 * (one slice for all), "slices=2", "hosts=4" (chips per host), else the amounts of one more bundle. */
static inline void
bundles_ask (QuoitRequest *request, const char *word)
{
  if (g_str_has_prefix (word, "slices:"))
    {
      g_auto (GStrv) of = g_strsplit (word + strlen ("slices:"), ",", 4);

      ck_assert (quoit_request_set_accelerator (request, of[0], NULL)
                 && quoit_request_set_topology (request, of[1], NULL)
                 && quoit_request_set_slices (request, atoi (of[2]), NULL)
                 && quoit_request_set_tpu_per_bundle (request, of[3], NULL));
    }
  else if (strcmp (word, "spread") == 0)
    ck_assert (quoit_request_set_strategy (request, QUOIT_STRATEGY_STRICT_SPREAD, NULL));
  else if (strcmp (word, "slice") == 0)
    ck_assert (quoit_request_set_topology_label (request, "ray.io/tpu-slice-name", 1, NULL));
  else if (g_str_has_prefix (word, "slices="))
    ck_assert (
        quoit_request_set_topology_label (request, "ray.io/tpu-slice-name", atoi (word + strlen ("slices=")), NULL));
  else if (g_str_has_prefix (word, "hosts="))
    ck_assert (quoit_request_set_chips_per_host (request, atoi (word + strlen ("hosts=")), NULL));
  else
    ck_assert_msg (quoit_request_add_bundles (request, word, 1, NULL), "%s", word);
}

/* The group that the space-separated @words request. */
static inline QuoitGroup *
bundles_reserve (QuoitLedger *ledger, const char *name, const char *words)
{
  g_autoptr (QuoitRequest) request = quoit_request_new (name, NULL);
  g_auto (GStrv) list = g_strsplit (words, " ", -1);
  GError *error = NULL;
  QuoitGroup *group;

  for (char **word = list; *word != NULL; word++)
    bundles_ask (request, *word);
  group = quoit_ledger_reserve (ledger, request, bundles_now_ms, NULL, &error);
  ck_assert_msg (error == NULL, "%s: %s", words, error == NULL ? "" : error->message);
  return group;
}

static inline QuoitGroup *
bundles_find (QuoitLedger *ledger)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);

  ck_assert_uint_gt (quoit_snapshot_get_n_groups (snapshot), 0);
  return quoit_snapshot_dup_group (snapshot, 0);
}
