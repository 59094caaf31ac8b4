/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_GRAPH_H
#define QUOIT_GRAPH_H

#include <quoit/snapshot.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitGraphForm:
 *
 * How a graph is written.
 *
 * %QUOIT_GRAPH_FORM_DOT: for Graphviz: `dot -Tsvg`.
 *
 * %QUOIT_GRAPH_FORM_JGF: the JSON graph that Fluxion's resource-query reads with `--load-format=jgf`.
 *
 * Since: 0.1
 */
typedef enum { QUOIT_GRAPH_FORM_DOT = 1, QUOIT_GRAPH_FORM_JGF = 2 } QuoitGraphForm;

/**
 * quoit_snapshot_dup_graph:
 * @snapshot: the snapshot
 * @form: how it is written
 * @error: (out) (optional): set on failure
 *
 * The fleet as a graph. Vertices are the fleet, sources, pools, slices, nodes, the chips of nodes, and live groups;
 * edges are `contains` (fleet to source, pool, slice, node and chip), `ici` (between chips of a slice, once a link, for
 * nodes that stand in their slice's places), `dcn` (between the slices of a group, of more than 64 each to the next)
 * and `holds` (a group to its nodes, with the chips where it has not all). Vertices have names and states; of nodes
 * also address and worker id, of chips their coordinates, x first. Equal states give equal text. It has a vertex a chip
 * and three edges at most: a fleet of 100,000 chips is some 100 MB.
 *
 * In JGF each of the four is a subsystem of its own, `contains` being Fluxion's "containment"; nodes that are not alive
 * are down. Types are the words above.
 *
 * Fails with %QUOIT_ERROR_INVALID for a form that this version does not know.
 *
 * Returns: (transfer full): the text; g_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API char *quoit_snapshot_dup_graph (const QuoitSnapshot *snapshot, QuoitGraphForm form, GError **error);

/* cdef-end */

G_END_DECLS

#endif
