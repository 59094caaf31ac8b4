/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of one process as lines that a shell evaluates. A manifest decides the names and values of many
 * variables, and some names change what the shell itself does. */
#include <stdio.h>

#include "env.h"
#include "text.h"

typedef enum { NOT_OMITTED, OMIT_NOT_FOR_TPU, OMIT_READ_ONLY, OMIT_INVALID_NAME, N_OMISSIONS } Omission;

// clang-format off
static const struct {
  const char *severity, *reason; /* on stderr */
  const char *label; /* in the output for people */
} omissions[N_OMISSIONS] = {
  [OMIT_NOT_FOR_TPU]  = { "note",    "not a variable for TPU jobs; --all-variables writes it",   "only with --all-variables" },
  [OMIT_READ_ONLY]    = { "warning", "a shell does not allow setting it",                           "read-only in a shell" },
  [OMIT_INVALID_NAME] = { "warning", "not a valid name in a shell",                                 "invalid name in a shell" },
};
// clang-format on

/* The families of variables that quoit, webhooks and GKE set: prefixes if they end in '_', otherwise names. */
static const char *const families[] = {
  "CLOUD_TPU_", "JAX_", "JOB_COMPLETION_INDEX", "LIBTPU_", "LWS_", "MEGASCALE_", "RAY_", "TPU_", "XLA_",
};

/* Variables that are read-only in bash, mksh or zsh. Setting one ends the evaluation, so that the later variables would
 * be missing. OPTIND is in the list because dash accepts only a number. */
static const char *const read_only[] = {
  "ARGC",         "BASHOPTS", "BASH_VERSINFO",    "EGID",
  "EUID",         "GID",      "HISTCMD",          "KSHEGID",
  "KSHGID",       "KSHUID",   "KSH_VERSION",      "OPTIND",
  "PGRP",         "PPID",     "SHELLOPTS",        "TTYIDLE",
  "UID",          "USERNAME", "USER_ID",          "ZSH_EVAL_CONTEXT",
  "ZSH_SUBSHELL", "status",   "zsh_eval_context", NULL,
};

/* Kubernetes allows names that are not names in a shell. A shell would execute such a line as a command. */
static bool
is_shell_name (const char *name)
{
  if (!g_ascii_isalpha (name[0]) && name[0] != '_')
    return false;
  while (g_ascii_isalnum (*name) || *name == '_')
    name++;
  return *name == '\0';
}

static bool
is_in_family (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (families); i++)
    if (g_str_has_suffix (families[i], "_") ? g_str_has_prefix (name, families[i]) : g_str_equal (name, families[i]))
      return true;
  return false;
}

static Omission
get_omission (const EnvView *view, const char *name)
{
  if (!is_shell_name (name))
    return OMIT_INVALID_NAME;
  if (g_strv_contains (read_only, name))
    return OMIT_READ_ONLY;
  return view->has_all_variables || is_in_family (name) ? NOT_OMITTED : OMIT_NOT_FOR_TPU;
}

const char *
env_omission_reason (const EnvView *view, const char *name)
{
  return omissions[get_omission (view, name)].label;
}

/* --- omitted variables --- */

/* Prints at most one line for each reason. */
static void
report_omitted (const GPtrArray *const *omitted)
{
  enum { MAX_NAMES = 10 };

  for (guint i = OMIT_NOT_FOR_TPU; i < N_OMISSIONS; i++)
    {
      const GPtrArray *names = omitted[i];
      g_autoptr (GString) list = g_string_new (NULL);

      if (names->len == 0)
        continue;
      for (guint n = 0; n < MIN (names->len, MAX_NAMES); n++)
        {
          g_autofree char *shown = text_for_terminal (names->pdata[n]);

          g_string_append_printf (list, "%s'%s'", n == 0 ? "" : ", ", shown);
        }
      if (names->len > MAX_NAMES)
        g_string_append_printf (list, " and %u more", names->len - MAX_NAMES);
      fprintf (stderr, "quoit: env: %s: %s left out: %s\n", omissions[i].severity, list->str, omissions[i].reason);
    }
}

static void
append_variables (GString *text, const EnvView *view, uint32_t process)
{
  const QuoitTopology *topology = view->topology;
  GPtrArray *omitted[N_OMISSIONS];

  for (guint i = 0; i < N_OMISSIONS; i++)
    omitted[i] = g_ptr_array_new ();
  for (uint32_t i = 0; i < quoit_topology_get_n_variables (topology, process); i++)
    {
      const char *name = quoit_topology_get_variable_name (topology, process, i);
      g_autofree char *value = g_shell_quote (quoit_topology_get_variable_value (topology, process, i));
      Omission omission = get_omission (view, name);

      if (omission == NOT_OMITTED)
        g_string_append_printf (text, "%s=%s\n", name, value);
      else
        g_ptr_array_add (omitted[omission], (char *) name);
    }
  report_omitted ((const GPtrArray *const *) omitted);
  for (guint i = 0; i < N_OMISSIONS; i++)
    g_ptr_array_unref (omitted[i]);
}

/* --- output --- */

/* Prints the notes on stderr, because a shell reads only the variables. A job that starts without a lost slice would
 * wait for it. */
static void
warn_about_losses (const EnvView *view)
{
  if (quoit_group_get_state (view->group) != QUOIT_GROUP_RESCHEDULING)
    return;
  for (uint32_t i = 0; i < quoit_topology_get_n_notes (view->topology); i++)
    {
      g_autofree char *note = text_for_terminal (quoit_topology_get_note (view->topology, i));

      fprintf (stderr, "quoit: env: warning: %s\n", note);
    }
}

bool
env_print_for_shell (Session *session, const EnvView *view, const GArray *chosen, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);

  /* A shell that evaluates several environments would keep the last one, and silently start the wrong worker. */
  if (chosen->len > 1)
    {
      g_autofree char *options = env_differing_options (view, chosen);

      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                   "-o env writes one process, but %u match: select one with %s--process%s", chosen->len, options,
                   quoit_group_get_n_bundles (view->group) > 0 ? " or --bundle" : "");
      return false;
    }
  warn_about_losses (view);
  append_variables (text, view, g_array_index (chosen, uint32_t, 0));
  return session_write (session, text->str, error);
}
