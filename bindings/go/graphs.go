// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

// GraphForm is an output format of Graph.
type GraphForm int

// The formats.
const (
	GraphFormDOT GraphForm = C.QUOIT_GRAPH_FORM_DOT // for Graphviz: `dot -Tsvg`
	GraphFormJGF GraphForm = C.QUOIT_GRAPH_FORM_JGF // the JSON graph format that Fluxion's resource-query reads
)

var graphFormNames = map[GraphForm]string{GraphFormDOT: "DOT", GraphFormJGF: "JGF"}

// String returns the name of the format.
func (f GraphForm) String() string { return nameOf(graphFormNames, f) }

// Graph returns the fleet as a graph. Vertices are the fleet, sources, pools, slices, nodes, the chips of nodes, and
// live groups. Edges are `contains`, `ici` (between chips of a slice, one edge per link), `dcn` (between the slices of
// a group) and `holds` (from a group to its nodes). Equal states give equal text. The graph has one vertex per chip and
// at most three edges per chip: a fleet of 100,000 chips takes about 100 MB.
//
// It fails with Invalid for a form that libquoit does not know, and after Close.
func (s *Snapshot) Graph(form GraphForm) (text string, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		var gerror *C.GError
		graph := C.quoit_snapshot_dup_graph(c, C.QuoitGraphForm(form), &gerror)
		if err := errorFromC(gerror); err != nil {
			return err
		}
		text = moveString(graph)
		return nil
	})
	return text, err
}
