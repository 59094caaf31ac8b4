// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
)

// metricTexts has the type and the help text of each metric.
var metricTexts = map[string][2]string{
	"quoit_kueue_conflicts_total":    {"counter", "Changes that were based on an old state of an object and are decided again."},
	"quoit_kueue_ending_groups":      {"gauge", "Groups that are to be released, but whose pods have not ended."},
	"quoit_kueue_errors_total":       {"counter", "Passes that failed in some part."},
	"quoit_kueue_groups":             {"gauge", "Groups of this controller."},
	"quoit_kueue_held_nodes":         {"gauge", "Nodes of these groups."},
	"quoit_kueue_leader":             {"gauge", "1 if this process is the leader."},
	"quoit_kueue_nodes":              {"gauge", "Nodes with TPUs in the cluster."},
	"quoit_kueue_pass_seconds_total": {"counter", "Time of all passes."},
	"quoit_kueue_passes_total":       {"counter", "Passes over all Workloads and nodes."},
	"quoit_kueue_refusals_total":     {"counter", "Workloads that got no slices, by verdict."},
	"quoit_kueue_releases_total":     {"counter", "Groups that were released."},
	"quoit_kueue_repairs_total":      {"counter", "Repairs of groups with lost slices, by result."},
	"quoit_kueue_reservations_total": {"counter", "Groups that were reserved."},
	"quoit_kueue_term":               {"gauge", "The term of this leader in a ledger in PostgreSQL."},
}

// Metrics are the controller's counters and gauges. The zero value is ready for use, by any number of goroutines.
type Metrics struct {
	mu     sync.Mutex
	values map[string]map[string]float64 // by name and labels
}

func (m *Metrics) update(name, labels string, update func(float64) float64) {
	if _, ok := metricTexts[name]; !ok {
		panic("unknown metric " + name)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values == nil {
		m.values = map[string]map[string]float64{}
	}
	if m.values[name] == nil {
		m.values[name] = map[string]float64{}
	}
	m.values[name][labels] = update(m.values[name][labels])
}

func (m *Metrics) add(name, labels string, value float64) {
	m.update(name, labels, func(present float64) float64 { return present + value })
}

func (m *Metrics) set(name, labels string, value float64) {
	m.update(name, labels, func(float64) float64 { return value })
}

// CountError counts a pass that failed in some part.
func (m *Metrics) CountError() { m.add("quoit_kueue_errors_total", "", 1) }

// SetLeader reports that this process leads, and the term of the ledger; 0 for a ledger without terms.
func (m *Metrics) SetLeader(term uint64) {
	m.set("quoit_kueue_leader", "", 1)
	m.set("quoit_kueue_term", "", float64(term))
}

// Write writes all metrics in the text format of Prometheus.
func (m *Metrics) Write(to io.Writer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range sortedKeys(metricTexts) {
		text := metricTexts[name]
		if _, err := fmt.Fprintf(to, "# HELP %s %s\n# TYPE %s %s\n", name, text[1], name, text[0]); err != nil {
			return err
		}
		values := m.values[name]
		if values == nil {
			values = map[string]float64{"": 0}
		}
		for _, labels := range sortedKeys(values) {
			row := name
			if labels != "" {
				row += "{" + labels + "}"
			}
			value := strconv.FormatFloat(values[labels], 'g', -1, 64)
			if _, err := fmt.Fprintf(to, "%s %s\n", row, value); err != nil {
				return err
			}
		}
	}
	return nil
}

func sortedKeys[Value any](values map[string]Value) []string {
	return slices.Sorted(maps.Keys(values))
}
