/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics.h"
#include "output-file.h"
#include "text.h"
#include "verbs.h"

static bool
is_metrics (const char *head)
{
  return g_str_has_prefix (head, "# HELP quoit_");
}

static bool
run (Session *session, GError **error)
{
  g_autofree char *path = NULL;
  gboolean is_forced = FALSE;
  const GOptionEntry entries[] = {
    { "file", 0, 0, G_OPTION_ARG_FILENAME, &path, "write this file, such as one of node_exporter's textfile collector",
      "FILE" },
    { "force", 0, 0, G_OPTION_ARG_NONE, &is_forced, "replace FILE even if it has other content", NULL },
    G_OPTION_ENTRY_NULL,
  };
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autofree char *text = NULL;
  gint64 now_ms;

  if (!session_parse (session, entries, error) || !session_check (session, error)
      || (is_forced && path == NULL && !text_refuse_usage (error, "--force requires --file FILE")))
    return false;
  snapshot = session_snapshot (session, error);
  if (snapshot == NULL || !session_now (session, &now_ms, error))
    return false;
  if (session->at != NULL)
    now_ms = quoit_snapshot_get_clock_ms (snapshot);
  text = metrics_format (snapshot, now_ms);
  return path == NULL
             ? session_write (session, text, error)
             : output_file_write (&(const OutputFile) { "--file", path, "text of metrics", is_metrics, is_forced },
                                  text, error);
}

const Verb verb_metrics = {
  "metrics",
  "",
  "print the state of the ledger for Prometheus",
  "Classes, nodes, groups, leases, fragmentation, and the groups that wait by reason. All are gauges, and the\n"
  "number of samples depends on the number of classes and sources only.",
  0,
  0,
  run,
};
