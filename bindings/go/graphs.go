// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

// GraphForm is how a graph is written.
type GraphForm int

// The forms of a graph.
const (
	GraphFormDOT GraphForm = C.QUOIT_GRAPH_FORM_DOT // for Graphviz: `dot -Tsvg`
	GraphFormJGF GraphForm = C.QUOIT_GRAPH_FORM_JGF // the JSON graph that Fluxion's resource-query reads
)

var graphFormNames = map[GraphForm]string{GraphFormDOT: "DOT", GraphFormJGF: "JGF"}

// String is the name of the form.
func (f GraphForm) String() string { return named(graphFormNames, f) }

// Graph is the fleet as a graph. Vertices are the fleet, sources, pools, slices, nodes, the chips of nodes, and live
// groups; edges are `contains`, `ici` (between chips of a slice, once a link), `dcn` (between the slices of a group) and
// `holds` (a group to its nodes). Equal states give equal text. It has a vertex a chip and three edges at most: a fleet of
// 100,000 chips is some 100 MB.
//
// It fails with Invalid also for a form that libquoit does not know.
func (s *Snapshot) Graph(form GraphForm) (text string, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		var gerror *C.GError
		graph := C.quoit_snapshot_dup_graph(c, C.QuoitGraphForm(form), &gerror)
		if err := take(gerror); err != nil {
			return err
		}
		text = taken(graph)
		return nil
	})
	return text, err
}
