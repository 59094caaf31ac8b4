/* SPDX-License-Identifier: Apache-2.0 */
#include "resource-view.h"

#include "decimal.h"

static const Column columns[] = {
  { "resource", "RESOURCE", CELL_TEXT }, { "used", NULL, CELL_AMOUNT },  { "total", NULL, CELL_AMOUNT },
  { NULL, "USED", CELL_AMOUNT },         { NULL, "TOTAL", CELL_AMOUNT },
};

Table *
resources_table (void)
{
  return table_new (columns, G_N_ELEMENTS (columns));
}

/* Ray counts these two in bytes. */
static bool
is_memory (const char *name)
{
  return g_str_equal (name, "memory") || g_str_equal (name, "object_store_memory");
}

static char *
format_for_people (const char *name, const char *amount)
{
  return is_memory (name) ? decimal_format_size (decimal_parse (amount)) : g_strdup (amount);
}

void
resources_take (Table *resources, const char *name, char *used, char *total)
{
  table_add_text (resources, name);
  table_take_text (resources, used);
  table_take_text (resources, total);
  table_take_text (resources, format_for_people (name, used));
  table_take_text (resources, format_for_people (name, total));
}
