/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/renumbering.h"

QuoitRenumbering *
quoit_renumbering_new (const QuoitTopology *before, const QuoitTopology *after)
{
  return quoit_renumbering_compare (before, after);
}

void
quoit_renumbering_free (QuoitRenumbering *renumbering)
{
  if (renumbering == NULL)
    return;
  g_array_unref (renumbering->rows);
  g_array_unref (renumbering->changes);
  g_free (renumbering);
}

uint32_t
quoit_renumbering_get_n_rows (const QuoitRenumbering *renumbering)
{
  g_return_val_if_fail (renumbering != NULL, 0);

  return renumbering->rows->len;
}

static const QuoitRenumberingRow *
row_at (const QuoitRenumbering *renumbering, uint32_t row)
{
  g_return_val_if_fail (renumbering != NULL && row < renumbering->rows->len, NULL);

  return &g_array_index (renumbering->rows, QuoitRenumberingRow, row);
}

QuoitProcessChange
quoit_renumbering_get_change (const QuoitRenumbering *renumbering, uint32_t row)
{
  const QuoitRenumberingRow *at = row_at (renumbering, row);

  return at == NULL ? QUOIT_PROCESS_SAME : at->change;
}

const char *
quoit_renumbering_get_node_name (const QuoitRenumbering *renumbering, uint32_t row)
{
  const QuoitRenumberingRow *at = row_at (renumbering, row);

  return at == NULL ? NULL : at->node;
}

const char *
quoit_renumbering_get_slice_name (const QuoitRenumbering *renumbering, uint32_t row)
{
  const QuoitRenumberingRow *at = row_at (renumbering, row);

  return at == NULL ? NULL : at->slice;
}

const char *
quoit_renumbering_get_counterpart (const QuoitRenumbering *renumbering, uint32_t row)
{
  const QuoitRenumberingRow *at = row_at (renumbering, row);

  return at == NULL ? NULL : at->counterpart;
}

static const QuoitProcessNumbers *
numbers_at (const QuoitRenumbering *renumbering, uint32_t row, QuoitRenumberingSide side)
{
  const QuoitRenumberingRow *at = row_at (renumbering, row);

  if (at == NULL)
    return NULL;
  return side == QUOIT_RENUMBERING_BEFORE ? &at->before : &at->after;
}

int64_t
quoit_renumbering_get_process (const QuoitRenumbering *renumbering, uint32_t row, QuoitRenumberingSide side)
{
  const QuoitProcessNumbers *numbers = numbers_at (renumbering, row, side);

  return numbers == NULL ? -1 : numbers->process;
}

int64_t
quoit_renumbering_get_slice_id (const QuoitRenumbering *renumbering, uint32_t row, QuoitRenumberingSide side)
{
  const QuoitProcessNumbers *numbers = numbers_at (renumbering, row, side);

  return numbers == NULL ? -1 : numbers->slice_id;
}

int64_t
quoit_renumbering_get_worker_id (const QuoitRenumbering *renumbering, uint32_t row, QuoitRenumberingSide side)
{
  const QuoitProcessNumbers *numbers = numbers_at (renumbering, row, side);

  return numbers == NULL ? -1 : numbers->worker_id;
}

uint32_t
quoit_renumbering_get_n_variables (const QuoitRenumbering *renumbering, uint32_t row)
{
  const QuoitRenumberingRow *at = row_at (renumbering, row);

  return at == NULL ? 0 : at->n_changes;
}

static const QuoitVariableChange *
change_at (const QuoitRenumbering *renumbering, uint32_t row, uint32_t variable)
{
  const QuoitRenumberingRow *at = row_at (renumbering, row);

  g_return_val_if_fail (at != NULL && variable < at->n_changes, NULL);

  return &g_array_index (renumbering->changes, QuoitVariableChange, at->first_change + variable);
}

const char *
quoit_renumbering_get_variable_name (const QuoitRenumbering *renumbering, uint32_t row, uint32_t variable)
{
  const QuoitVariableChange *change = change_at (renumbering, row, variable);

  return change == NULL ? NULL : quoit_variable_change_name (change);
}

static const char *
variable_value (const char *variable)
{
  return variable == NULL ? NULL : quoit_variable_value (variable);
}

const char *
quoit_renumbering_get_variable_value (const QuoitRenumbering *renumbering, uint32_t row, uint32_t variable,
                                      QuoitRenumberingSide side)
{
  const QuoitVariableChange *change = change_at (renumbering, row, variable);

  return change == NULL ? NULL : variable_value (side == QUOIT_RENUMBERING_BEFORE ? change->before : change->after);
}
