/* SPDX-License-Identifier: Apache-2.0 */
/* The options after --else and --with, which describe alternatives of a request, and groups that are reserved together.
 * They are separated from the command line before GOption parses it, because each part has its own options. */
#include "request-parts.h"

#include <string.h>

#include "group-names.h"
#include "text.h"

static void
part_free (gpointer data)
{
  RequestPart *part = data;

  g_free (part->name);
  g_strfreev (part->words);
  request_options_clear (&part->options);
  g_free (part);
}

void
request_parts_clear (RequestParts *parts)
{
  g_clear_pointer (&parts->list, g_ptr_array_unref);
}

/* --- separating --- */

/* Begins a part at word @at of @words, and moves @at to the last word that names the part. */
static bool
begin_part (RequestParts *parts, char *const *words, guint *at, GError **error)
{
  const bool is_member = !g_str_equal (words[*at], "--else");
  const char *equals = strchr (words[*at], '=');
  RequestPart *part;

  if (is_member && equals == NULL && words[*at + 1] == NULL)
    return text_refuse_usage (error, "--with: expected the NAME of a group");
  part = g_new0 (RequestPart, 1);
  part->is_member = is_member;
  if (is_member)
    part->name = g_strdup (equals != NULL ? equals + 1 : words[++*at]);
  g_ptr_array_add (parts->list, part);
  return true;
}

static bool
begins_part (const RequestParts *parts, const char *word)
{
  return g_str_equal (word, "--else")
         || (parts->accepts_members && (g_str_equal (word, "--with") || g_str_has_prefix (word, "--with=")));
}

bool
request_parts_take (RequestParts *parts, Session *session, GError **error)
{
  guint n = 0;

  parts->list = g_ptr_array_new_with_free_func (part_free);
  while (session->words[n] != NULL && !begins_part (parts, session->words[n]) && !g_str_equal (session->words[n], "--"))
    n++;
  if (session->words[n] == NULL || g_str_equal (session->words[n], "--"))
    return true;
  for (guint i = n; session->words[i] != NULL; i++)
    {
      RequestPart *part;
      guint n_words;

      if (begins_part (parts, session->words[i]))
        {
          if (!begin_part (parts, session->words, &i, error))
            return false;
          continue;
        }
      part = parts->list->pdata[parts->list->len - 1];
      n_words = part->words == NULL ? 0 : g_strv_length (part->words);
      part->words = g_renew (char *, part->words, n_words + 2);
      part->words[n_words] = g_strdup (session->words[i]);
      part->words[n_words + 1] = NULL;
    }
  for (guint i = n; session->words[i] != NULL; i++)
    g_clear_pointer (&session->words[i], g_free);
  return true;
}

/* --- parsing --- */

static const char *
part_option (const RequestPart *part)
{
  return part->is_member ? "--with" : "--else";
}

static bool
parse_part (RequestPart *part, Session *session, GError **error)
{
  g_autofree GOptionEntry *entries = part->is_member ? request_entries_for_member (&part->options)
                                                     : request_entries_for_alternative (&part->options);

  if (part->words != NULL && !session_parse_part (session, &part->words, entries, error))
    return g_prefix_error (error, "%s: ", part_option (part)), false;
  return true;
}

bool
request_parts_parse (RequestParts *parts, Session *session, RequestOptions *options, GError **error)
{
  for (guint i = 0; i < parts->list->len; i++)
    {
      RequestPart *part = parts->list->pdata[i];

      if (!parse_part (part, session, error))
        return false;
      if (part->options.dry_run && !parts->accepts_dry_run)
        return text_refuse_usage (error, "unknown option '--dry-run'");
      options->dry_run |= part->options.dry_run;
    }
  return true;
}

bool
request_parts_complete_near (const RequestParts *parts, RequestOptions *options, Session *session,
                             const QuoitSnapshot *snapshot, GError **error)
{
  g_autoptr (QuoitSnapshot) present = NULL;

  for (guint i = 0; i <= parts->list->len; i++)
    {
      char **near = i == 0 ? &options->near : &((RequestPart *) parts->list->pdata[i - 1])->options.near;
      char *whole;

      if (*near == NULL || !group_name_is_short (*near))
        continue;
      if (snapshot == NULL)
        snapshot = present = session_snapshot (session, error);
      whole = snapshot == NULL ? NULL : group_name_complete (snapshot, *near, error);
      if (whole == NULL)
        return g_prefix_error (error, "--near: "), false;
      g_free (*near);
      *near = whole;
    }
  return true;
}

/* --- building --- */

/* Adds the alternatives from part @next on to @request, up to the next member. */
static bool
add_alternatives (const RequestParts *parts, guint next, const char *name, QuoitRequest *request, GError **error)
{
  for (; next < parts->list->len; next++)
    {
      const RequestPart *part = parts->list->pdata[next];
      g_autoptr (QuoitRequest) alternative = NULL;

      if (part->is_member)
        return true;
      alternative = request_build (&part->options, name, error);
      if (alternative == NULL || !quoit_request_add_alternative (request, alternative, error))
        return g_prefix_error (error, "--else: "), false;
    }
  return true;
}

bool
request_parts_add_alternatives (const RequestParts *parts, const char *name, QuoitRequest *request, GError **error)
{
  return add_alternatives (parts, 0, name, request, error);
}

/* A retry returns all groups only if each has a key. */
static bool
check_keys (const RequestOptions *options, const RequestPart *part, GError **error)
{
  return (options->key == NULL) == (part->options.key == NULL)
         || text_refuse_usage (error,
                               "--key: expected it for each group of --with and for the first group, or for none");
}

GPtrArray *
request_parts_build_members (const RequestParts *parts, const RequestOptions *options, GError **error)
{
  g_autoptr (GPtrArray) requests = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_request_free);

  for (guint i = 0; i < parts->list->len; i++)
    {
      const RequestPart *part = parts->list->pdata[i];
      QuoitRequest *request;

      if (!part->is_member)
        continue;
      if (!check_keys (options, part, error))
        return NULL;
      request = request_build_with_lease (&part->options, part->name, error);
      if (request == NULL)
        return g_prefix_error (error, "--with '%s': ", part->name), NULL;
      g_ptr_array_add (requests, request);
      if (!add_alternatives (parts, i + 1, part->name, request, error))
        return g_prefix_error (error, "--with '%s': ", part->name), NULL;
    }
  return g_steal_pointer (&requests);
}
