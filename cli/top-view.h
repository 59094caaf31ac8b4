/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of quoit top: what is selected, and how it is drawn. */
#pragma once

#include "top-canvas.h"
#include "top-state.h"

typedef enum { TOP_MAP, TOP_CLASSES, TOP_GROUPS, TOP_PROBLEMS, TOP_QUEUE, N_TOP_PAGES } TopPage;

typedef enum { TOP_NO_DETAIL, TOP_DETAIL_SLICE, TOP_DETAIL_GROUP, TOP_DETAIL_HELP } TopDetail;

typedef enum {
  TOP_KEY_NONE,
  TOP_KEY_UP,
  TOP_KEY_DOWN,
  TOP_KEY_LEFT,
  TOP_KEY_RIGHT,
  TOP_KEY_PAGE_UP,
  TOP_KEY_PAGE_DOWN,
  TOP_KEY_HOME,
  TOP_KEY_END,
  TOP_KEY_ENTER,
  TOP_KEY_BACK,
  TOP_KEY_NEXT_PAGE,
  TOP_KEY_PREVIOUS_PAGE,
  TOP_KEY_HELP,
  TOP_KEY_QUIT,
  TOP_KEY_FIRST_PAGE /* and the following ones */
} TopKey;

typedef struct {
  TopPage page;
  guint cursor[N_TOP_PAGES]; /* a slice of the map, or a row */
  guint first[N_TOP_PAGES];  /* the first row on the screen */
  TopDetail detail;
  TopDetail behind_help; /* what the help covers */
  char *detail_name;     /* the full name of the slice, or the handle of the group */
  guint detail_first, detail_left;
  char **detail_lines; /* the details of that object, key and state; NULL: none yet */
  char *detail_key;
  guint64 detail_state;
  char *reason, *reason_name; /* why that group waits, in that state */
  guint64 reason_state;
  char *origin; /* what is shown: the path of a ledger, or a source */
  char *remark; /* why it cannot be read at present; NULL: it can */
} TopView;

void top_view_clear (TopView *view);

/* Draws the screen. Moves what is selected to what exists. */
void top_view_draw (TopView *view, const TopState *state, gint64 now_ms, TopCanvas *canvas);

/* Returns false if the key ends the program. @width and @height are those of the screen. */
bool top_view_press (TopView *view, const TopState *state, TopKey key, guint width, guint height);
