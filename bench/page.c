/* SPDX-License-Identifier: Apache-2.0 */
/* Writes tables of the results into a page. A line "<!-- bench:NAME begin -->" and a line "<!-- bench:NAME end -->"
 * enclose a table. NAME is "met" or "missed", for the goals that are met or missed, or the name of a family, for all of
 * its rows. */
#include "bench-private.h"

#include <math.h>
#include <string.h>

/* --- texts of cells --- */

/* Formats the value with at least three significant digits, and commas between thousands. */
static char *
format_number (double value)
{
  g_autofree char *digits = g_strdup_printf (fabs (value) >= 99.95   ? "%.0f"
                                             : fabs (value) >= 9.995 ? "%.1f"
                                                                     : "%.2f",
                                             value);
  const char *point = strchr (digits, '.');
  gsize n_whole = point == NULL ? strlen (digits) : (gsize) (point - digits);
  GString *text = g_string_new (NULL);

  for (gsize i = 0; digits[i] != '\0'; i++)
    {
      if (i > 0 && i < n_whole && (n_whole - i) % 3 == 0 && digits[i - 1] != '-')
        g_string_append_c (text, ',');
      g_string_append_c (text, digits[i]);
    }
  return g_string_free (text, FALSE);
}

/* Millions have three digits, because the counts of two runs differ slightly. */
static char *
format_count (double value)
{
  g_autofree char *millions = value < 1e6 ? NULL : format_number (value / 1e6);

  return millions == NULL ? format_number (value) : g_strconcat (millions, " million", NULL);
}

static const struct {
  const char *unit;
  double factor;
  const char *larger;
} units[] = { { "ns", 1000, "us" }, { "us", 1000, "ms" }, { "ms", 1000, "s" } };

/* Converts @value from @unit to the largest unit in which it is at least 1, and returns that unit. */
static const char *
scale (const char *unit, double *value)
{
  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    if (strcmp (units[i].unit, unit) == 0 && fabs (*value) >= units[i].factor)
      {
        *value /= units[i].factor;
        unit = units[i].larger;
      }
  return unit;
}

static char *
format_value (double value, const char *unit)
{
  const char *scaled = scale (unit, &value);
  g_autofree char *number = format_number (value);

  return *scaled == '\0' ? g_steal_pointer (&number) : g_strdup_printf ("%s %s", number, scaled);
}

/* "1.20 us", "950 ns to 1.20 us" or "1.20 to 1.30 us". */
static char *
format_range (double low, double high, const char *unit)
{
  double scaled_low = low, scaled_high = high;
  const char *low_unit = scale (unit, &scaled_low), *high_unit = scale (unit, &scaled_high);
  g_autofree char *first = format_value (low, unit), *last = format_value (high, unit);

  if (strcmp (first, last) == 0)
    return g_steal_pointer (&last);
  if (strcmp (low_unit, high_unit) == 0)
    {
      g_free (first);
      first = format_number (scaled_low);
    }
  return g_strdup_printf ("%s to %s", first, last);
}

/* Limits are round numbers: "at most 200 ns", "at least 0.8 times". */
static char *
format_limit (BenchLimit limit, const char *unit)
{
  double value = limit.value;
  const char *scaled = scale (unit, &value);
  g_autofree char *number = value >= 1000 ? format_number (value) : g_strdup_printf ("%g", value);

  return g_strdup_printf ("%s %s%s%s", limit.relation == BENCH_AT_MOST ? "at most" : "at least", number,
                          *scaled == '\0' ? "" : " ", scaled);
}

/* --- fleets --- */

/* The fleets of one line that have the same first part: "100k nodes: 0 % full, 50 % full". */
typedef struct {
  GString *firsts, *rests;
} FleetGroup;

static void
fleet_group_clear (gpointer data)
{
  FleetGroup *group = data;

  g_string_free (group->firsts, TRUE);
  g_string_free (group->rests, TRUE);
}

static void
append_item (GString *text, const char *item)
{
  g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", item);
}

static void
add_fleet (GArray *groups, const char *fleet)
{
  const char *comma = strstr (fleet, ", ");
  g_autofree char *first = comma == NULL ? g_strdup (fleet) : g_strndup (fleet, (gsize) (comma - fleet));
  const char *rest = comma == NULL ? "" : comma + 2;
  FleetGroup *last = groups->len == 0 ? NULL : &g_array_index (groups, FleetGroup, groups->len - 1);

  if (last == NULL || strcmp (last->firsts->str, first) != 0 || *rest == '\0')
    {
      FleetGroup group = { g_string_new (first), g_string_new (rest) };

      g_array_append_val (groups, group);
    }
  else
    append_item (last->rests, rest);
}

/* Merges adjacent groups whose fleets only differ in the first part. */
static void
merge_groups (GArray *groups)
{
  for (guint i = 1; i < groups->len;)
    {
      FleetGroup *before = &g_array_index (groups, FleetGroup, i - 1), *group = before + 1;

      if (strcmp (before->rests->str, group->rests->str) != 0)
        {
          i++;
          continue;
        }
      append_item (before->firsts, group->firsts->str);
      g_array_remove_index (groups, i);
    }
}

static char *
format_fleets (const GPtrArray *fleets)
{
  g_autoptr (GArray) groups = g_array_new (FALSE, FALSE, sizeof (FleetGroup));
  GString *text = g_string_new (NULL);

  if (fleets->len == 1)
    g_string_append (text, g_ptr_array_index (fleets, 0));
  g_array_set_clear_func (groups, fleet_group_clear);
  for (guint i = 0; i < fleets->len && fleets->len > 1; i++)
    add_fleet (groups, g_ptr_array_index (fleets, i));
  merge_groups (groups);
  for (guint i = 0; i < groups->len; i++)
    {
      const FleetGroup *group = &g_array_index (groups, FleetGroup, i);

      g_string_append_printf (text, "%s%s%s%s", i > 0 ? "; " : "", group->firsts->str,
                              group->rests->len > 0 ? ": " : "", group->rests->str);
    }
  return g_string_free (text, FALSE);
}

/* --- tables of goals --- */

/* Rows of the same scenario and goal. They differ in their fleets. */
typedef struct {
  const char *scenario, *unit;
  gboolean is_count; /* of instructions */
  BenchLimit limit;
  double low, high;
  GPtrArray *fleets;
} Goal;

static void
goal_clear (gpointer data)
{
  Goal *goal = data;

  g_ptr_array_unref (goal->fleets);
}

static void
add_to_goal (GArray *goals, const BenchRow *row, gboolean is_count)
{
  double value = is_count ? row->instructions : row->value;
  BenchLimit limit = is_count ? row->instructions_limit : row->limit;
  Goal added = { row->scenario, is_count ? "" : row->unit, is_count, limit, value, value, NULL };
  Goal *goal = NULL;

  for (guint i = 0; i < goals->len && goal == NULL; i++)
    {
      Goal *other = &g_array_index (goals, Goal, i);

      if (strcmp (other->scenario, added.scenario) == 0 && strcmp (other->unit, added.unit) == 0
          && other->limit.value == limit.value)
        goal = other;
    }
  if (goal == NULL)
    {
      added.fleets = g_ptr_array_new ();
      g_array_append_val (goals, added);
      goal = &g_array_index (goals, Goal, goals->len - 1);
    }
  goal->low = MIN (goal->low, value);
  goal->high = MAX (goal->high, value);
  g_ptr_array_add (goal->fleets, row->fleet);
}

static void
append_goals (const Bench *bench, const char *verdict, GString *text)
{
  g_autoptr (GArray) goals = g_array_new (FALSE, FALSE, sizeof (Goal));

  g_array_set_clear_func (goals, goal_clear);
  for (guint i = 0; i < bench->rows->len; i++)
    {
      const BenchRow *row = &g_array_index (bench->rows, BenchRow, i);

      if (strcmp (bench_limit_verdict (row->limit, row->value), verdict) == 0)
        add_to_goal (goals, row, FALSE);
      if (strcmp (bench_limit_verdict (row->instructions_limit, row->instructions), verdict) == 0)
        add_to_goal (goals, row, TRUE);
    }
  g_string_append (text, "| what | where | goal | measured |\n| --- | --- | --- | --- |\n");
  for (guint i = 0; i < goals->len; i++)
    {
      const Goal *goal = &g_array_index (goals, Goal, i);
      g_autofree char *fleets = format_fleets (goal->fleets), *limit = format_limit (goal->limit, goal->unit),
                      *measured = format_range (goal->low, goal->high, goal->unit);

      g_string_append_printf (text, "| %s%s | %s | %s | %s |\n", goal->scenario, goal->is_count ? ", instructions" : "",
                              fleets, limit, measured);
    }
}

/* --- tables of families --- */

static void
append_family (const Bench *bench, const char *family, GString *text)
{
  g_string_append (text, "| what | where | measured | instructions |\n| --- | --- | --- | --- |\n");
  for (guint i = 0; i < bench->rows->len; i++)
    {
      const BenchRow *row = &g_array_index (bench->rows, BenchRow, i);
      g_autofree char *value = format_value (row->value, row->unit),
                      *count = isnan (row->instructions) ? g_strdup ("") : format_count (row->instructions);

      if (strcmp (row->family, family) == 0)
        g_string_append_printf (text, "| %s | %s | %s | %s |\n", row->scenario, row->fleet, value, count);
    }
}

static gboolean
has_family (const Bench *bench, const char *family)
{
  for (guint i = 0; i < bench->rows->len; i++)
    if (strcmp (g_array_index (bench->rows, BenchRow, i).family, family) == 0)
      return TRUE;
  return FALSE;
}

/* --- the page --- */

static gboolean
append_table (const Bench *bench, const char *name, GString *text)
{
  gboolean is_of_goals = strcmp (name, "met") == 0 || strcmp (name, "missed") == 0;

  if (is_of_goals)
    append_goals (bench, name, text);
  else if (has_family (bench, name))
    append_family (bench, name, text);
  else
    return FALSE;
  return TRUE;
}

/* The lines around a table. */
static const char mark[] = "\n<!-- bench:", begin[] = " begin -->\n";

/* Replaces the table after the first begin line of @rest, appends the text up to its end line to @text, and returns the
 * text after that. Returns NULL and sets @error if there is no such table. */
static const char *
replace_table (const Bench *bench, const char *rest, GString *text, GError **error)
{
  const char *line = strstr (rest, mark), *name_end, *end;
  g_autofree char *name = NULL, *end_line = NULL;

  if (line == NULL)
    return g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "expected a line '<!-- bench:NAME begin -->'"), NULL;

  line += strlen (mark);
  name_end = line + strcspn (line, " \n");
  name = g_strndup (line, (gsize) (name_end - line));
  end_line = g_strdup_printf ("%s%s end -->\n", mark + 1, name);
  end = strstr (name_end, end_line);
  if (!g_str_has_prefix (name_end, begin) || end == NULL)
    return g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                        "table '%s': expected lines '<!-- bench:%s begin -->' and '<!-- bench:%s end -->'", name, name,
                        name),
           NULL;

  g_string_append_len (text, rest, name_end + strlen (begin) - rest);
  if (!append_table (bench, name, text))
    return g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                        "table '%s': expected 'met', 'missed' or a family that was measured", name),
           NULL;
  g_string_append (text, end_line);
  return end + strlen (end_line);
}

gboolean
bench_write_page (const Bench *bench, const char *path, GError **error)
{
  g_autofree char *page = NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  const char *rest;

  if (!g_file_get_contents (path, &page, NULL, error))
    return FALSE;
  rest = page;
  do
    {
      rest = replace_table (bench, rest, text, error);
      if (rest == NULL)
        return g_prefix_error (error, "%s: ", path), FALSE;
    }
  while (strstr (rest, mark) != NULL);
  g_string_append (text, rest);
  return g_file_set_contents (path, text->str, (gssize) text->len, error);
}
