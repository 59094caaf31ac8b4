/* SPDX-License-Identifier: Apache-2.0 */
#include "ray-status.h"
#include "status-view.h"
#include "verbs.h"

typedef struct {
  char *format;
  gboolean verbose;
} Options;

static void
options_clear (Options *options)
{
  g_free (options->format);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static bool
options_check (const Session *session, const Options *options, GError **error)
{
  if (options->format != NULL && !g_str_equal (options->format, "ray"))
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--format '%s': expected ray", options->format);
  else if (options->format != NULL && session->output != NULL)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                 "--format ray writes text: it cannot be combined with --output");
  else if (options->format == NULL && options->verbose)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--verbose requires --format ray");
  else
    return true;
  return false;
}

static bool
run (Session *session, GError **error)
{
  g_auto (Options) options = { 0 };
  const GOptionEntry entries[] = {
    { "format", 0, 0, G_OPTION_ARG_STRING, &options.format, "ray: the output of 'ray status'", "FORMAT" },
    { "verbose", 'v', 0, G_OPTION_ARG_NONE, &options.verbose,
      "with --format ray: also list each node, like 'ray status -v'", NULL },
    G_OPTION_ENTRY_NULL,
  };
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  gint64 now_ms;

  if (!session_parse (session, entries, error) || !session_check (session, error)
      || !options_check (session, &options, error) || !session_now (session, &now_ms, error))
    return false;
  snapshot = session_snapshot (session, error);
  if (snapshot == NULL)
    return false;
  if (session->at != NULL)
    now_ms = quoit_snapshot_get_clock_ms (snapshot);
  if (options.format != NULL)
    {
      g_autofree char *text = ray_status_format (snapshot, options.verbose);

      return session_write (session, text, error);
    }

  return session_print (session, status_document (snapshot, now_ms), error);
}

const Verb verb_status = { "status", "", "show sources, resources, slices, groups and problems", NULL, 0, 0, run };
