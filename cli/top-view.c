/* SPDX-License-Identifier: Apache-2.0 */
#include "top-view.h"

#include <string.h>

#include "fleet-view.h"
#include "group-view.h"
#include "text.h"
#include "top-map.h"
#include "words.h"

/* The lines of the screen above the body: title, numbers and pages; below it: what is selected, and keys. Low screens
 * have fewer of them. */
enum { LINES_ABOVE = 3, LINES_BELOW = 2, LOW = 10, LOWEST = 4 };

static const char *const page_names[N_TOP_PAGES] = { "Map", "Classes", "Groups", "Problems", "Queue" };

static guint
count_lines_above (guint height)
{
  return height < LOWEST ? MIN (height, 1) : height < LOW ? 1 : LINES_ABOVE;
}

static guint
count_lines_below (guint height)
{
  return height < LOW ? 0 : LINES_BELOW;
}

static guint
count_body_lines (guint height)
{
  const guint others = count_lines_above (height) + count_lines_below (height);

  return height > others ? height - others : 0;
}

void
top_view_clear (TopView *view)
{
  g_free (view->detail_name);
  g_free (view->detail_key);
  g_strfreev (view->detail_lines);
  g_free (view->reason);
  g_free (view->reason_name);
  g_free (view->origin);
  g_free (view->remark);
}

/* --- rows of the other pages --- */

static guint
count_rows (const TopState *state, TopPage page)
{
  switch (page)
    {
    case TOP_MAP:
      return quoit_snapshot_get_n_slices (state->snapshot);
    case TOP_CLASSES:
      return quoit_snapshot_get_n_classes (state->snapshot);
    case TOP_GROUPS:
      return state->groups->len;
    case TOP_PROBLEMS:
      return state->problems->len;
    case TOP_QUEUE:
      return state->waiting->len;
    case N_TOP_PAGES:
      break;
    }
  return 0;
}

static const char *const headings[N_TOP_PAGES] = {
  [TOP_MAP] = NULL,
  [TOP_CLASSES] = "ACCELERATOR TOPOLOGY  CHIPS/HOST SLICES   FREE   HELD PARTLY DRAINING DEGRADED",
  [TOP_GROUPS] = "GROUP                     STATE         SLICES BUNDLES  LEASE ENDS  OWNER",
  [TOP_PROBLEMS] = "PROBLEM",
  [TOP_QUEUE] = "GROUP                     STATE         SOURCE      WAITS      REQUEST",
};

static char *
format_class (const QuoitSnapshot *snapshot, uint32_t class)
{
  g_autofree char *topology = quoit_snapshot_dup_class_topology (snapshot, class);
  const uint32_t n = quoit_snapshot_count_slices_of_class (snapshot, class, (QuoitSliceFlags) 0);

  return g_strdup_printf ("%-11s %-9s %10u %6u %6u %6u %6u %8u %8u",
                          quoit_snapshot_get_class_accelerator (snapshot, class), topology,
                          quoit_snapshot_get_class_chips_per_host (snapshot, class), n,
                          quoit_snapshot_count_slices_of_class (snapshot, class, QUOIT_SLICE_FREE),
                          quoit_snapshot_count_slices_of_class (snapshot, class, QUOIT_SLICE_ALLOCATED),
                          quoit_snapshot_count_slices_of_class (snapshot, class, QUOIT_SLICE_PARTLY),
                          quoit_snapshot_count_slices_of_class (snapshot, class, QUOIT_SLICE_DRAINING),
                          n - quoit_snapshot_count_slices_of_class (snapshot, class, QUOIT_SLICE_INTACT));
}

/* "2h 3m"; "-" for no time. */
static char *
format_span (gint64 span_ms)
{
  const gint64 s = MAX (span_ms, 0) / 1000;

  return s >= 86400  ? g_strdup_printf ("%" G_GINT64_FORMAT "d %" G_GINT64_FORMAT "h", s / 86400, s % 86400 / 3600)
         : s >= 3600 ? g_strdup_printf ("%" G_GINT64_FORMAT "h %" G_GINT64_FORMAT "m", s / 3600, s % 3600 / 60)
         : s >= 60   ? g_strdup_printf ("%" G_GINT64_FORMAT "m %" G_GINT64_FORMAT "s", s / 60, s % 60)
                     : g_strdup_printf ("%" G_GINT64_FORMAT "s", s);
}

static char *
format_group (const QuoitGroup *group, gint64 now_ms)
{
  const gint64 until_ms = quoit_group_get_until_ms (group);
  g_autofree char *left = until_ms == 0 ? g_strdup ("-") : format_span (until_ms - now_ms);

  return g_strdup_printf ("%-25s %-13s %6u  %6u  %-10s  %s", quoit_group_get_handle (group),
                          group_state_word (quoit_group_get_state (group)), quoit_group_get_n_slices (group),
                          quoit_group_get_n_bundles (group), left,
                          *quoit_group_get_owner (group) == '\0' ? "-" : quoit_group_get_owner (group));
}

static char *
format_waiting (const QuoitGroup *group, gint64 now_ms)
{
  g_autofree char *waits = format_span (now_ms - quoit_group_get_created_ms (group));

  return g_strdup_printf ("%-25s %-13s %-10s  %-9s  %s", quoit_group_get_handle (group),
                          group_state_word (quoit_group_get_state (group)),
                          *quoit_group_get_source (group) == '\0' ? "-" : quoit_group_get_source (group), waits,
                          quoit_group_get_request (group));
}

static char *
format_problem (const TopState *state, const TopProblem *problem)
{
  const QuoitGroup *group;
  g_autofree char *first = NULL;
  guint n_more = 0;

  if (!problem->is_group)
    {
      g_autofree char *name = slice_display_name (state->snapshot, problem->index);
      g_autofree char *text = quoit_snapshot_dup_slice_problem (state->snapshot, problem->index);

      return g_strdup_printf ("slice %s: %s", name, text);
    }
  group = top_state_get_group (state, problem->index);
  for (uint32_t i = 0; i < quoit_group_get_n_slices (group); i++)
    {
      char *text = group_slice_problem (group, i);

      n_more += first != NULL && text != NULL;
      if (first == NULL)
        first = text;
      else
        g_free (text);
    }
  if (first == NULL)
    return g_strdup_printf ("group %s: bundles are on dead or draining nodes, or not placed",
                            quoit_group_get_handle (group));
  return n_more == 0 ? g_strdup_printf ("group %s: %s", quoit_group_get_handle (group), first)
                     : g_strdup_printf ("group %s, %u slices: %s", quoit_group_get_handle (group), n_more + 1, first);
}

static char *
format_row (const TopState *state, TopPage page, guint row, gint64 now_ms)
{
  switch (page)
    {
    case TOP_CLASSES:
      return format_class (state->snapshot, row);
    case TOP_GROUPS:
      return format_group (top_state_get_group (state, row), now_ms);
    case TOP_PROBLEMS:
      return format_problem (state, &g_array_index (state->problems, TopProblem, row));
    case TOP_QUEUE:
      return format_waiting (top_state_get_group (state, g_array_index (state->waiting, uint32_t, row)), now_ms);
    case TOP_MAP:
    case N_TOP_PAGES:
      break;
    }
  return g_strdup ("");
}

/* --- what is selected --- */

/* Keeps the cursor within the rows, and on the screen. */
static void
settle (TopView *view, const TopState *state, guint width, guint n_lines)
{
  const guint n = count_rows (state, view->page);
  guint *cursor = &view->cursor[view->page], *first = &view->first[view->page];
  guint row, n_rows = n;

  *cursor = n == 0 ? 0 : MIN (*cursor, n - 1);
  row = *cursor;
  if (view->page == TOP_MAP)
    row = top_map_find_row (state->snapshot, *cursor, MAX (width, 1), *first, &n_rows);
  if (row < *first)
    *first = row;
  if (n_lines > 0 && row >= *first + n_lines)
    *first = row - n_lines + 1;
  *first = MIN (*first, n_rows > n_lines ? n_rows - n_lines : 0);
}

/* Shows the first slice of the class on the map. */
static void
show_class (TopView *view, const TopState *state, uint32_t class)
{
  const uint32_t n = quoit_snapshot_get_n_slices (state->snapshot);
  uint32_t slice = 0;

  while (slice < n && quoit_snapshot_get_slice_class (state->snapshot, slice) != class)
    slice++;
  if (slice == n)
    return;
  view->page = TOP_MAP;
  view->cursor[TOP_MAP] = slice;
}

/* Opens the details of what is selected. */
static void
open_detail (TopView *view, const TopState *state)
{
  const guint at = view->cursor[view->page];
  const TopProblem *problem = view->page == TOP_PROBLEMS && at < state->problems->len
                                  ? &g_array_index (state->problems, TopProblem, at)
                                  : NULL;
  int64_t slice = -1, group = -1;

  if (at >= count_rows (state, view->page))
    return;
  if (view->page == TOP_CLASSES)
    {
      show_class (view, state, at);
      return;
    }
  if (view->page == TOP_MAP || (problem != NULL && !problem->is_group))
    slice = problem != NULL ? problem->index : at;
  else if (view->page == TOP_GROUPS || problem != NULL)
    group = problem != NULL ? problem->index : at;
  else if (view->page == TOP_QUEUE)
    group = g_array_index (state->waiting, uint32_t, at);
  if (slice < 0 && group < 0)
    return;
  g_free (view->detail_name);
  view->detail = slice >= 0 ? TOP_DETAIL_SLICE : TOP_DETAIL_GROUP;
  view->detail_name = slice >= 0 ? quoit_snapshot_dup_slice_full_name (state->snapshot, (uint32_t) slice)
                                 : g_strdup (quoit_group_get_handle (top_state_get_group (state, (uint32_t) group)));
  view->detail_first = view->detail_left = 0;
}

static void
press_in_detail (TopView *view, TopKey key, guint n_lines)
{
  const guint page = MAX (n_lines, 2) - 1;

  switch (key)
    {
    case TOP_KEY_UP:
      view->detail_first -= view->detail_first > 0;
      break;
    case TOP_KEY_DOWN:
      view->detail_first++;
      break;
    case TOP_KEY_PAGE_UP:
      view->detail_first -= MIN (view->detail_first, page);
      break;
    case TOP_KEY_PAGE_DOWN:
      view->detail_first += page;
      break;
    case TOP_KEY_HOME:
      view->detail_first = view->detail_left = 0;
      break;
    case TOP_KEY_END:
      view->detail_first = G_MAXUINT / 2;
      break;
    case TOP_KEY_LEFT:
      view->detail_left -= MIN (view->detail_left, 8);
      break;
    case TOP_KEY_RIGHT:
      view->detail_left += view->detail_left < 1000 ? 8 : 0;
      break;
    case TOP_KEY_ENTER:
    case TOP_KEY_BACK:
      view->detail = view->behind_help;
      view->behind_help = TOP_NO_DETAIL;
      view->detail_first = view->detail_left = 0;
      break;
    default:
      break;
    }
}

static void
move_in_list (TopView *view, guint n, gint64 by)
{
  guint *cursor = &view->cursor[view->page];

  *cursor = (guint) CLAMP ((gint64) *cursor + by, 0, n == 0 ? 0 : (gint64) n - 1);
}

static void
press_in_page (TopView *view, const TopState *state, TopKey key, guint width, guint n_lines)
{
  const guint n = count_rows (state, view->page);
  const bool is_map = view->page == TOP_MAP;
  const int page = (int) MAX (n_lines, 2) - 1;
  const int rows = key == TOP_KEY_UP          ? -1
                   : key == TOP_KEY_DOWN      ? 1
                   : key == TOP_KEY_PAGE_UP   ? -page
                   : key == TOP_KEY_PAGE_DOWN ? page
                                              : 0;

  if (rows != 0 && is_map)
    view->cursor[TOP_MAP] = top_map_move (state->snapshot, view->cursor[TOP_MAP], MAX (width, 1), rows);
  else if (rows != 0)
    move_in_list (view, n, rows);
  else if (key == TOP_KEY_HOME)
    move_in_list (view, n, -(gint64) n);
  else if (key == TOP_KEY_END)
    move_in_list (view, n, n);
  else if (is_map && (key == TOP_KEY_LEFT || key == TOP_KEY_RIGHT))
    move_in_list (view, n, key == TOP_KEY_LEFT ? -1 : 1);
  else if (key == TOP_KEY_ENTER)
    open_detail (view, state);
}

bool
top_view_press (TopView *view, const TopState *state, TopKey key, guint width, guint height)
{
  const guint n_lines = count_body_lines (height);

  if (key == TOP_KEY_QUIT)
    return false;
  if (key >= TOP_KEY_FIRST_PAGE && key < TOP_KEY_FIRST_PAGE + N_TOP_PAGES)
    {
      view->detail = view->behind_help = TOP_NO_DETAIL;
      view->page = (TopPage) (key - TOP_KEY_FIRST_PAGE);
    }
  else if (key == TOP_KEY_NEXT_PAGE || key == TOP_KEY_PREVIOUS_PAGE)
    {
      view->detail = view->behind_help = TOP_NO_DETAIL;
      view->page = (TopPage) ((view->page + (key == TOP_KEY_NEXT_PAGE ? 1 : N_TOP_PAGES - 1)) % N_TOP_PAGES);
    }
  else if (key == TOP_KEY_HELP && view->detail != TOP_DETAIL_HELP)
    {
      view->behind_help = view->detail;
      view->detail = TOP_DETAIL_HELP;
      view->detail_first = view->detail_left = 0;
    }
  else if (view->detail != TOP_NO_DETAIL)
    press_in_detail (view, key == TOP_KEY_HELP ? TOP_KEY_BACK : key, n_lines);
  else
    press_in_page (view, state, key, width, MAX (n_lines, 1) - 1);
  return true;
}

/* --- drawing --- */

/* Returns the part of a line from a column on. */
static const char *
skip_columns (const char *line, guint n)
{
  for (; n > 0 && *line != '\0'; n--)
    line = g_utf8_next_char (line);
  return line;
}

/* Returns where the second line of a text begins that does not fit one line: behind a blank, or anywhere. */
static const char *
find_second_line (const char *text, guint width)
{
  const char *end = text, *blank = NULL;

  for (guint used = 0; used < width && *end != '\0'; used++, end = g_utf8_next_char (end))
    if (*end == ' ')
      blank = end + 1;
  return *end == '\0' ? end : blank != NULL ? blank : end;
}

/* The reason is often at the end, so it takes the line of the numbers if it needs to. */
static void
draw_remark (const TopView *view, TopCanvas *canvas)
{
  g_autofree char *text = g_strdup_printf ("%s: %s", view->origin, view->remark);
  g_autofree char *shown = text_for_terminal (text);
  const char *second = count_lines_above (canvas->height) < LINES_ABOVE ? shown + strlen (shown)
                                                                        : find_second_line (shown, canvas->width);
  g_autofree char *first = g_strndup (shown, (gsize) (second - shown));

  top_canvas_put (canvas, 0, TOP_BAD, first);
  top_canvas_put (canvas, 1, TOP_BAD, second);
}

static void
draw_numbers (const TopState *state, TopCanvas *canvas)
{
  top_canvas_printf (canvas, 1, TOP_PLAIN, "slices %u: ", quoit_snapshot_get_n_slices (state->snapshot));
  top_canvas_printf (canvas, 1, TOP_GOOD, "free %u", state->n_free);
  top_canvas_printf (canvas, 1, TOP_USED, "  held %u", state->n_held);
  top_canvas_printf (canvas, 1, state->n_draining > 0 ? TOP_WARNING : TOP_PLAIN, "  draining %u", state->n_draining);
  top_canvas_printf (canvas, 1, state->n_degraded > 0 ? TOP_BAD : TOP_PLAIN, "  degraded %u", state->n_degraded);
  top_canvas_printf (canvas, 1, TOP_PLAIN, "  chips %s/%s", state->chips_used, state->chips_total);
}

static void
draw_above (const TopView *view, const TopState *state, gint64 now_ms, TopCanvas *canvas)
{
  g_autofree char *time = text_format_time (now_ms);
  const guint n = count_lines_above (canvas->height);

  if (view->remark != NULL)
    draw_remark (view, canvas);
  else
    top_canvas_printf (canvas, 0, TOP_BOLD, "quoit %s  entry %" G_GUINT64_FORMAT "  %.19sZ", view->origin,
                       quoit_snapshot_get_seq (state->snapshot), time);
  if (n < LINES_ABOVE)
    return;
  if (view->remark == NULL)
    draw_numbers (state, canvas);
  for (guint page = 0; page < N_TOP_PAGES; page++)
    {
      const TopStyle style = page == view->page ? TOP_CURSOR : TOP_PLAIN;

      top_canvas_put (canvas, 2, TOP_PLAIN, page == 0 ? "" : " ");
      if (page == TOP_MAP)
        top_canvas_printf (canvas, 2, style, "%u %s", page + 1, page_names[page]);
      else
        top_canvas_printf (canvas, 2, style, "%u %s (%u)", page + 1, page_names[page],
                           count_rows (state, (TopPage) page));
    }
}

static void
draw_list (const TopView *view, const TopState *state, gint64 now_ms, TopCanvas *canvas, guint top, guint n_lines)
{
  static const char *const nothing[N_TOP_PAGES] = { "", "no classes", "no groups", "no problems", "no group waits" };
  const guint n = count_rows (state, view->page), first = view->first[view->page];

  if (n_lines == 0)
    return;
  top_canvas_put (canvas, top, TOP_BOLD, n == 0 ? nothing[view->page] : headings[view->page]);
  for (guint i = 0; i + 1 < n_lines && first + i < n; i++)
    {
      const bool is_selected = first + i == view->cursor[view->page];
      const TopStyle style = is_selected ? TOP_CURSOR : view->page == TOP_PROBLEMS ? TOP_BAD : TOP_PLAIN;
      g_autofree char *text = format_row (state, view->page, first + i, now_ms);

      top_canvas_put (canvas, top + 1 + i, style, text);
      if (is_selected)
        top_canvas_fill (canvas, top + 1 + i, style);
    }
}

static const char help[] = "1 2 3 4 5    map, classes, groups, problems, queue\n"
                           "Tab          the next page; Shift+Tab the previous one\n"
                           "arrows       move (also h j k l); in details: scroll\n"
                           "PgUp PgDn    a screen up or down; Home and End: to the first and last\n"
                           "Enter        the details of a slice or group; of a class, its slices on the map\n"
                           "Esc          back (also Backspace)\n"
                           "?            this help\n"
                           "q            end\n";

static char *
describe_detail (const TopView *view, const TopState *state, guint width)
{
  char *text = view->detail == TOP_DETAIL_SLICE   ? top_describe_slice (state, view->detail_name, width)
               : view->detail == TOP_DETAIL_GROUP ? top_describe_group (state, view->detail_name, width)
                                                  : g_strdup (help);

  return text != NULL ? text : g_strdup_printf ("%s is gone", view->detail_name);
}

/* Returns the lines of the details. They are made again for another object, state or width: a large group has many. */
static char *const *
update_detail (TopView *view, const TopState *state, guint width)
{
  g_autofree char *key
      = g_strdup_printf ("%d %s %u", view->detail, view->detail == TOP_DETAIL_HELP ? "" : view->detail_name, width);
  g_autofree char *text = NULL;

  if (view->detail_state == state->number && g_strcmp0 (view->detail_key, key) == 0)
    return view->detail_lines;
  text = describe_detail (view, state, width);
  g_strfreev (view->detail_lines);
  view->detail_lines = g_strsplit (g_strchomp (text), "\n", -1);
  g_free (view->detail_key);
  view->detail_key = g_steal_pointer (&key);
  view->detail_state = state->number;
  return view->detail_lines;
}

static void
draw_detail (TopView *view, const TopState *state, TopCanvas *canvas, guint top, guint n_lines)
{
  char *const *lines = update_detail (view, state, canvas->width);
  const guint n = g_strv_length ((char **) lines);

  view->detail_first = MIN (view->detail_first, n > n_lines ? n - n_lines : 0);
  for (guint i = 0; i < n_lines && view->detail_first + i < n; i++)
    top_canvas_put (canvas, top + i, TOP_PLAIN, skip_columns (lines[view->detail_first + i], view->detail_left));
}

/* Returns why a group waits, in a sentence. Finding it can take long, so it is kept for the state and group. */
static const char *
update_reason (TopView *view, const TopState *state, uint32_t group)
{
  const char *handle = quoit_group_get_handle (top_state_get_group (state, group));

  if (view->reason_state == state->number && g_strcmp0 (view->reason_name, handle) == 0)
    return view->reason;
  g_free (view->reason);
  g_free (view->reason_name);
  view->reason = top_describe_reason (state, handle);
  view->reason_name = g_strdup (handle);
  view->reason_state = state->number;
  return view->reason;
}

/* What is selected: a name, the request of a group, or why it waits. */
static void
draw_selected (TopView *view, const TopState *state, TopCanvas *canvas, guint line)
{
  const guint at = view->cursor[view->page];

  if (view->detail != TOP_NO_DETAIL)
    top_canvas_put (canvas, line, TOP_BOLD, view->detail == TOP_DETAIL_HELP ? "help" : view->detail_name);
  else if (at >= count_rows (state, view->page))
    return;
  else if (view->page == TOP_MAP)
    top_map_draw_selected (state->snapshot, at, canvas, line);
  else if (view->page == TOP_GROUPS)
    top_canvas_put (canvas, line, TOP_BOLD, quoit_group_get_request (top_state_get_group (state, at)));
  else if (view->page == TOP_QUEUE)
    top_canvas_put (canvas, line, TOP_BOLD, update_reason (view, state, g_array_index (state->waiting, uint32_t, at)));
}

void
top_view_draw (TopView *view, const TopState *state, gint64 now_ms, TopCanvas *canvas)
{
  const guint top = count_lines_above (canvas->height), n_lines = count_body_lines (canvas->height);
  const guint n_rows = MAX (n_lines, 1) - 1; /* without the headings, or the line that explains the map */

  settle (view, state, canvas->width, n_rows);
  draw_above (view, state, now_ms, canvas);
  if (view->detail != TOP_NO_DETAIL)
    draw_detail (view, state, canvas, top, n_lines);
  else if (view->page == TOP_MAP)
    top_map_draw (state->snapshot, view->cursor[TOP_MAP], view->first[TOP_MAP], canvas, top, n_lines);
  else
    draw_list (view, state, now_ms, canvas, top, n_lines);
  if (count_lines_below (canvas->height) == 0)
    return;
  draw_selected (view, state, canvas, canvas->height - 2);
  top_canvas_put (canvas, canvas->height - 1, TOP_PLAIN,
                  view->detail == TOP_NO_DETAIL ? "arrows move  Enter details  1-5 pages  ? help  q end"
                                                : "arrows scroll  Esc back  ? help  q end");
}
