/* SPDX-License-Identifier: Apache-2.0 */
#include "window.h"

#include "text.h"

void
window_options_clear (WindowOptions *options)
{
  for (guint scope = 0; scope < G_N_ELEMENTS (options->targets); scope++)
    g_free (options->targets[scope]);
  g_free (options->from);
  g_free (options->until);
}

GOptionEntry *
window_entries (WindowOptions *options)
{
  const GOptionEntry entries[] = {
    { "node", 0, 0, G_OPTION_ARG_FILENAME, &options->targets[QUOIT_WINDOW_NODE], "with add: a node", "NAME" },
    { "slice", 0, 0, G_OPTION_ARG_FILENAME, &options->targets[QUOIT_WINDOW_SLICE], "with add: the nodes of a slice",
      "NAME" },
    { "pool", 0, 0, G_OPTION_ARG_FILENAME, &options->targets[QUOIT_WINDOW_POOL], "with add: the nodes of a pool",
      "NAME" },
    { "zone", 0, 0, G_OPTION_ARG_FILENAME, &options->targets[QUOIT_WINDOW_ZONE],
      "with add: the nodes of an availability zone", "NAME" },
    { "from", 0, 0, G_OPTION_ARG_FILENAME, &options->from,
      "with add: when the window begins, for example 2026-05-01T09:30:00Z", "TIME" },
    { "until", 0, 0, G_OPTION_ARG_FILENAME, &options->until, "with add: when the window ends", "TIME" },
    G_OPTION_ENTRY_NULL,
  };

  return g_memdup2 (entries, sizeof entries);
}

uint32_t
window_count_targets (const WindowOptions *options)
{
  uint32_t n = 0;

  for (guint scope = QUOIT_WINDOW_NODE; scope <= QUOIT_WINDOW_ZONE; scope++)
    n += options->targets[scope] != NULL;
  return n;
}

bool
window_check (const WindowOptions *options, GError **error)
{
  if (window_count_targets (options) != 1)
    return text_refuse_usage (error, "expected one of --node, --slice, --pool and --zone");
  return (options->from != NULL && options->until != NULL)
         || text_refuse_usage (error, "expected --from TIME and --until TIME: for example --from 2026-05-01T09:30:00Z");
}

bool
window_parse (const WindowOptions *options, const char *name, Window *window, GError **error)
{
  *window = (Window) { .name = name };
  for (guint scope = QUOIT_WINDOW_NODE; scope <= QUOIT_WINDOW_ZONE; scope++)
    if (options->targets[scope] != NULL)
      {
        window->scope = (QuoitWindowScope) scope;
        window->target = options->targets[scope];
      }
  if (!text_parse_time (options->from, "--from", &window->from_ms, error)
      || !text_parse_time (options->until, "--until", &window->until_ms, error))
    return false;
  if (window->until_ms > window->from_ms)
    return true;
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID, "--until '%s': expected a time after that of --from",
               options->until);
  return false;
}
