/* SPDX-License-Identifier: Apache-2.0 */
/* Findings as workflow commands, which GitHub Actions shows at the lines of a change:
 * "::error file=a.yaml,line=3,col=5,title=quoit numofhosts-topology::numOfHosts '3': expected 4". */
#include "findings.h"

#include <string.h>

#include "text.h"

void
findings_init (Findings *findings)
{
  *findings = (Findings) { .findings = g_array_new (FALSE, FALSE, sizeof (Finding)),
                           .unread = g_array_new (FALSE, FALSE, sizeof (UnreadFile)),
                           .rules = g_ptr_array_new () };
}

void
findings_clear (Findings *findings)
{
  g_clear_pointer (&findings->findings, g_array_unref);
  g_clear_pointer (&findings->unread, g_array_unref);
  g_clear_pointer (&findings->rules, g_ptr_array_unref);
}

static const char *
command_of (QuoitSeverity severity)
{
  switch (severity)
    {
    case QUOIT_SEVERITY_ERROR:
      return "error";
    case QUOIT_SEVERITY_WARNING:
      return "warning";
    case QUOIT_SEVERITY_NOTE:
    default:
      return "notice";
    }
}

/* GitHub reads a command from one line, in which '%' begins an escape. Properties end at ',' and their list at ':'. */
static void
append_escaped (GString *out, const char *text, const char *escaped_bytes)
{
  g_autofree char *line = text_in_one_line (text);

  for (const char *p = line; *p != '\0'; p++)
    if (strchr (escaped_bytes, *p) != NULL)
      g_string_append_printf (out, "%%%02X", (guchar) *p);
    else
      g_string_append_c (out, *p);
}

static void
append_property (GString *out, const char *name, const char *value)
{
  g_string_append_printf (out, "%s%s=", out->str[out->len - 1] == ' ' ? "" : ",", name);
  append_escaped (out, value, "%:,");
}

static void
append_number (GString *out, const char *name, gint64 number)
{
  if (number > 0)
    g_string_append_printf (out, ",%s=%" G_GINT64_FORMAT, name, number);
}

static void
append_command (GString *out, const Finding *finding)
{
  g_autofree char *title = g_strconcat ("quoit ", finding->rule, NULL);

  g_string_append_printf (out, "::%s ", command_of (finding->severity));
  if (finding->file != NULL)
    {
      append_property (out, "file", finding->file);
      append_number (out, "line", finding->line);
      append_number (out, "col", finding->line > 0 ? finding->column : 0);
    }
  append_property (out, "title", title);
  g_string_append (out, "::");
  append_escaped (out, finding->message, "%");
  g_string_append_c (out, '\n');
}

char *
findings_format_github (const Findings *findings)
{
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < findings->unread->len; i++)
    {
      const UnreadFile *unread = &g_array_index (findings->unread, UnreadFile, i);

      append_command (out, &(Finding) { .file = unread->file,
                                        .severity = QUOIT_SEVERITY_ERROR,
                                        .rule = "unreadable-file",
                                        .message = unread->message });
    }
  for (guint i = 0; i < findings->findings->len; i++)
    append_command (out, &g_array_index (findings->findings, Finding, i));
  return g_string_free (out, FALSE);
}

bool
findings_print (Session *session, const Findings *findings, bool *is_printed, GError **error)
{
  bool is_sarif = g_strcmp0 (session->output, "sarif") == 0, is_github = g_strcmp0 (session->output, "github") == 0;
  g_autofree char *text = NULL;

  *is_printed = is_sarif || is_github;
  if (!*is_printed)
    return true;
  text = is_sarif ? findings_format_sarif (findings) : findings_format_github (findings);
  return session_write (session, text, error);
}
