// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

import (
	"quoit/internal/cconv"
)

// Generation is a TPU generation of libquoit's catalogue. Unpublished numbers are -1.
type Generation struct {
	ID          string   // quoit's own name, "v5e"
	Name        string   // the name in pod types, Ray's if it has one: "v5litepod"
	RayVersion  string   // "v5litepod"; "" if Ray does not support the generation
	RayResource string   // "TPU-V5LITEPOD"; "" if Ray does not support the generation
	GKEPrefix   string   // the prefix in TPU_ACCELERATOR_TYPE, "v5litepod"
	GKELabels   []string // values of cloud.google.com/gke-tpu-accelerator
	JAXKinds    []string // device_kind in JAX, "TPU v5 lite"
	Aliases     []string // colloquial names, "Trillium"
	MaxTopology string   // the largest topology of one job, if the vendor publishes it: "16x16x24"

	Dims              int64 // dimensions of its topologies: 2 or 3
	CoresPerChip      int64
	JAXDevicesPerChip int64
	HBMGB             int64 // per chip, like the next four
	HBMGBytesPerS     int64
	BF16GFLOPS        int64
	ICIGBytesPerS     int64 // to its neighbours in the slice
	DCNGBitPerS       int64 // to other slices
	PodChips          int64
	MaxSliceChips     int64
	OCSCubeChips      int64 // chips of the cube that optical switches connect
	OCSCubeHosts      int64 // hosts of that cube
	MultisliceOnGKE   int64 // 1 if one job can use several slices on GKE, else 0

	c *C.QuoitCatalogueGeneration
}

// Shape is a topology of a generation on hosts of one size, from libquoit's catalogue.
type Shape struct {
	Topology           string // "4x8", x first
	PodType            string // Ray's pod type: "v7x-16"
	GKEAcceleratorType string // TPU_ACCELERATOR_TYPE on GKE: "tpu7x-16"
	MachineType        string // "ct6e-standard-4t"
	HostBlock          string // the grid of chips in one host: "2x2", "2x2x1"
	HostGrid           string // the grid of hosts: "2x4"
	Wrap               string // the axes that form a ring: "", "y", "xyz"
	AcceptedBy         string // letters: K kubectl ray, R Ray, X xpk, M MaxText, T cluster-toolkit; "" if only documented

	Chips        int64
	Hosts        int64
	ChipsPerHost int64
	Cores        int64
	JAXDevices   int64
	Twistable    bool // the hardware can twist the torus
	RayOnly      bool // only Ray accepts this order of the axes
}

// Machine is a machine type of a generation.
type Machine struct {
	Name               string // "ct6e-standard-4t"
	GKELabel           string // "tpu-v6e-slice"
	SingleHostTopology string // the topology of a single machine: "2x2"

	Chips     int64
	VCPUs     int64
	MemoryGB  int64
	MultiHost bool // several of them form one slice
}

// Generations returns all generations, the oldest first.
func Generations() []*Generation {
	var generations []*Generation
	for {
		c := C.quoit_catalogue_get_generation(C.uint32_t(len(generations)))
		if c == nil {
			return generations
		}
		generations = append(generations, generationFromC(c))
	}
}

// LookupGeneration returns the generation with a name in any system's spelling, such as "v6e", "v5litepod", "TPU-V4" or
// "tpu-v5p-slice".
//
// It fails with Invalid for an unknown name; the message lists the known ones.
func LookupGeneration(text string) (*Generation, error) {
	var arguments cconv.Arguments
	var gerror *C.GError
	name := (*C.char)(arguments.Text("accelerator", text))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	c := C.quoit_catalogue_lookup_generation(name, &gerror)
	if err := errorFromC(gerror); err != nil {
		return nil, err
	}
	return generationFromC(c), nil
}

func generationFromC(c *C.QuoitCatalogueGeneration) *Generation {
	text := func(which C.QuoitGenerationText) string {
		return moveString(C.quoit_catalogue_generation_dup_text(c, which, 0))
	}
	number := func(which C.QuoitGenerationNumber) int64 {
		return int64(C.quoit_catalogue_generation_get_number(c, which))
	}
	return &Generation{
		ID:          text(C.QUOIT_GENERATION_TEXT_ID),
		Name:        text(C.QUOIT_GENERATION_TEXT_NAME),
		RayVersion:  text(C.QUOIT_GENERATION_TEXT_RAY_VERSION),
		RayResource: text(C.QUOIT_GENERATION_TEXT_RAY_RESOURCE),
		GKEPrefix:   text(C.QUOIT_GENERATION_TEXT_GKE_PREFIX),
		GKELabels:   generationTexts(c, C.QUOIT_GENERATION_TEXT_GKE_LABEL),
		JAXKinds:    generationTexts(c, C.QUOIT_GENERATION_TEXT_JAX_KIND),
		Aliases:     generationTexts(c, C.QUOIT_GENERATION_TEXT_ALIAS),
		MaxTopology: text(C.QUOIT_GENERATION_TEXT_MAX_TOPOLOGY),

		Dims:              number(C.QUOIT_GENERATION_NUMBER_DIMS),
		CoresPerChip:      number(C.QUOIT_GENERATION_NUMBER_CORES_PER_CHIP),
		JAXDevicesPerChip: number(C.QUOIT_GENERATION_NUMBER_JAX_DEVICES_PER_CHIP),
		HBMGB:             number(C.QUOIT_GENERATION_NUMBER_HBM_GB),
		HBMGBytesPerS:     number(C.QUOIT_GENERATION_NUMBER_HBM_GBYTES_PER_S),
		BF16GFLOPS:        number(C.QUOIT_GENERATION_NUMBER_BF16_GFLOPS),
		ICIGBytesPerS:     number(C.QUOIT_GENERATION_NUMBER_ICI_GBYTES_PER_S),
		DCNGBitPerS:       number(C.QUOIT_GENERATION_NUMBER_DCN_GBIT_PER_S),
		PodChips:          number(C.QUOIT_GENERATION_NUMBER_POD_CHIPS),
		MaxSliceChips:     number(C.QUOIT_GENERATION_NUMBER_MAX_SLICE_CHIPS),
		OCSCubeChips:      number(C.QUOIT_GENERATION_NUMBER_OCS_CUBE_CHIPS),
		OCSCubeHosts:      number(C.QUOIT_GENERATION_NUMBER_OCS_CUBE_HOSTS),
		MultisliceOnGKE:   number(C.QUOIT_GENERATION_NUMBER_MULTISLICE_ON_GKE),

		c: c,
	}
}

// generationTexts returns all values of a text that a generation can have several times.
func generationTexts(c *C.QuoitCatalogueGeneration, which C.QuoitGenerationText) []string {
	var texts []string
	for {
		text := C.quoit_catalogue_generation_dup_text(c, which, C.uint32_t(len(texts)))
		if text == nil {
			return texts
		}
		texts = append(texts, moveString(text))
	}
}

// Shapes returns all topologies of the generation, one entry for each host size. It returns nil for a Generation that
// this package did not create.
func (g *Generation) Shapes() []Shape {
	var shapes []Shape
	if g.c == nil {
		return nil
	}
	for {
		c := C.quoit_catalogue_get_topology(g.c, C.uint32_t(len(shapes)))
		if c == nil {
			return shapes
		}
		shapes = append(shapes, shapeFromC(c))
	}
}

// LookupShape returns a topology, such as "4x8", on hosts with chipsPerHost chips. A chipsPerHost of 0 stands for Ray's
// default.
//
// It fails with Invalid for text that is not a topology, and for a topology that the generation does not have.
func (g *Generation) LookupShape(topology string, chipsPerHost int64) (Shape, error) {
	var arguments cconv.Arguments
	var gerror *C.GError
	text := (*C.char)(arguments.Text("topology", topology))
	if err := arguments.Err(); err != nil {
		return Shape{}, err
	}
	if g.c == nil {
		return Shape{}, cconv.InvalidError("generation: expected a value that Generations or LookupGeneration returned")
	}
	if err := checkUnsigned("chips per host", chipsPerHost); err != nil {
		return Shape{}, err
	}
	c := C.quoit_catalogue_lookup_topology(g.c, text, C.uint32_t(chipsPerHost), &gerror)
	if err := errorFromC(gerror); err != nil {
		return Shape{}, err
	}
	return shapeFromC(c), nil
}

// LookupCubes returns how many cubes a slice of a topology, such as "4x4x8", has.
//
// It fails with Invalid if the slices of the generation do not consist of cubes, and for text that is not a topology of
// the generation, or is smaller than a cube.
func (g *Generation) LookupCubes(topology string) (int64, error) {
	var arguments cconv.Arguments
	var gerror *C.GError
	text := (*C.char)(arguments.Text("topology", topology))
	if err := arguments.Err(); err != nil {
		return 0, err
	}
	if g.c == nil {
		return 0, cconv.InvalidError("generation: expected a value that Generations or LookupGeneration returned")
	}
	n := C.quoit_catalogue_lookup_cubes(g.c, text, &gerror)
	return int64(n), errorFromC(gerror)
}

func shapeFromC(c *C.QuoitCatalogueTopology) Shape {
	text := func(which C.QuoitTopologyText) string {
		return moveString(C.quoit_catalogue_topology_dup_text(c, which))
	}
	number := func(which C.QuoitTopologyNumber) int64 {
		return int64(C.quoit_catalogue_topology_get_number(c, which))
	}
	return Shape{
		Topology:           text(C.QUOIT_TOPOLOGY_TEXT_SHAPE),
		PodType:            text(C.QUOIT_TOPOLOGY_TEXT_POD_TYPE),
		GKEAcceleratorType: text(C.QUOIT_TOPOLOGY_TEXT_GKE_ACCELERATOR_TYPE),
		MachineType:        text(C.QUOIT_TOPOLOGY_TEXT_MACHINE_TYPE),
		HostBlock:          text(C.QUOIT_TOPOLOGY_TEXT_HOST_BLOCK),
		HostGrid:           text(C.QUOIT_TOPOLOGY_TEXT_HOST_GRID),
		Wrap:               text(C.QUOIT_TOPOLOGY_TEXT_WRAP),
		AcceptedBy:         text(C.QUOIT_TOPOLOGY_TEXT_ACCEPTED_BY),
		Chips:              number(C.QUOIT_TOPOLOGY_NUMBER_CHIPS),
		Hosts:              number(C.QUOIT_TOPOLOGY_NUMBER_HOSTS),
		ChipsPerHost:       number(C.QUOIT_TOPOLOGY_NUMBER_CHIPS_PER_HOST),
		Cores:              number(C.QUOIT_TOPOLOGY_NUMBER_CORES),
		JAXDevices:         number(C.QUOIT_TOPOLOGY_NUMBER_JAX_DEVICES),
		Twistable:          number(C.QUOIT_TOPOLOGY_NUMBER_TWISTABLE) == 1,
		RayOnly:            number(C.QUOIT_TOPOLOGY_NUMBER_RAY_ONLY) == 1,
	}
}

// Machines returns all machine types of the generation. It returns nil for a Generation that this package did not
// create.
func (g *Generation) Machines() []Machine {
	var machines []Machine
	if g.c == nil {
		return nil
	}
	for {
		c := C.quoit_catalogue_get_machine(g.c, C.uint32_t(len(machines)))
		if c == nil {
			return machines
		}
		machines = append(machines, machineFromC(c))
	}
}

func machineFromC(c *C.QuoitCatalogueMachine) Machine {
	text := func(which C.QuoitMachineText) string {
		return moveString(C.quoit_catalogue_machine_dup_text(c, which))
	}
	number := func(which C.QuoitMachineNumber) int64 {
		return int64(C.quoit_catalogue_machine_get_number(c, which))
	}
	return Machine{
		Name:               text(C.QUOIT_MACHINE_TEXT_NAME),
		GKELabel:           text(C.QUOIT_MACHINE_TEXT_GKE_LABEL),
		SingleHostTopology: text(C.QUOIT_MACHINE_TEXT_SINGLE_HOST_TOPOLOGY),
		Chips:              number(C.QUOIT_MACHINE_NUMBER_CHIPS),
		VCPUs:              number(C.QUOIT_MACHINE_NUMBER_VCPUS),
		MemoryGB:           number(C.QUOIT_MACHINE_NUMBER_MEMORY_GB),
		MultiHost:          number(C.QUOIT_MACHINE_NUMBER_MULTI_HOST) == 1,
	}
}
