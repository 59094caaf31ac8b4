// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

// The functions of this file compute how many slices can be promised, if hosts fail independently of each other. They
// count in cubes, which optical circuit switches join to slices: a slice can have any cubes that work. For a fleet
// without cubes, count whole slices instead: cubes is the number of slices, and cubesEach is 1. docs/promise.md
// explains the model.

// PromiseAvailability returns the probability that all hosts of a cube (Generation.OCSCubeHosts), or of a slice, work.
//
// It fails with Invalid if hostAvailability is not from 0 to 1, or hosts not from 1 to 1,000,000.
func PromiseAvailability(hostAvailability float64, hosts int64) (float64, error) {
	var availability C.double
	var gerror *C.GError
	if err := checkUnsigned("hosts", hosts); err != nil {
		return 0, err
	}
	C.quoit_promise_availability(C.double(hostAvailability), C.uint32_t(hosts), &availability, &gerror)
	return float64(availability), errorFromC(gerror)
}

// PromiseCount returns the statistic "count": the greatest number m of slices for which at least held + m * cubesEach
// of the cubes work with this confidence. A probability counts as equal to confidence if rounding of the arguments may
// have made the difference.
//
// It fails with Invalid if cubes is not from 1 to 1,000,000, cubesEach not from 1 to cubes, held not from 0 to cubes,
// or a probability not from 0 to 1.
func PromiseCount(cubes int64, availability float64, cubesEach, held int64, confidence float64) (int64, error) {
	var count C.uint32_t
	var gerror *C.GError
	if err := checkCubes(cubes, cubesEach); err != nil {
		return 0, err
	}
	if err := checkUnsigned("held cubes", held); err != nil {
		return 0, err
	}
	C.quoit_promise_count(C.uint32_t(cubes), C.double(availability), C.uint32_t(cubesEach), C.uint32_t(held),
		C.double(confidence), &count, &gerror)
	return int64(count), errorFromC(gerror)
}

// PromiseProbability returns the probability that at least needed of the cubes work. For m slices beside held cubes,
// pass held + m * cubesEach.
//
// It fails with Invalid if cubes is not from 1 to 1,000,000, needed is negative, or availability is not from 0 to 1.
func PromiseProbability(cubes int64, availability float64, needed int64) (float64, error) {
	var probability C.double
	var gerror *C.GError
	if err := checkUnsigned("cubes", cubes); err != nil {
		return 0, err
	}
	if err := checkUnsigned("needed cubes", needed); err != nil {
		return 0, err
	}
	C.quoit_promise_probability(C.uint32_t(cubes), C.double(availability), C.uint32_t(needed), &probability, &gerror)
	return float64(probability), errorFromC(gerror)
}

// PromiseGoodput returns the statistic "goodput": the mean share of all cubes that are in slices, if the cubes that
// work always form as many slices as possible.
//
// It fails with Invalid if cubes is not from 1 to 1,000,000, cubesEach not from 1 to cubes, or availability not from 0
// to 1.
func PromiseGoodput(cubes int64, availability float64, cubesEach int64) (float64, error) {
	var goodput C.double
	var gerror *C.GError
	if err := checkCubes(cubes, cubesEach); err != nil {
		return 0, err
	}
	C.quoit_promise_goodput(C.uint32_t(cubes), C.double(availability), C.uint32_t(cubesEach), &goodput, &gerror)
	return float64(goodput), errorFromC(gerror)
}

// PromiseStaticGoodput is like PromiseGoodput, for slices that are cabled once: each has its own cubes, and works only
// if all of them work. It fails in the same cases.
func PromiseStaticGoodput(cubes int64, availability float64, cubesEach int64) (float64, error) {
	var goodput C.double
	var gerror *C.GError
	if err := checkCubes(cubes, cubesEach); err != nil {
		return 0, err
	}
	C.quoit_promise_static_goodput(C.uint32_t(cubes), C.double(availability), C.uint32_t(cubesEach), &goodput, &gerror)
	return float64(goodput), errorFromC(gerror)
}

func checkCubes(cubes, cubesEach int64) error {
	if err := checkUnsigned("cubes", cubes); err != nil {
		return err
	}
	return checkUnsigned("cubes of each slice", cubesEach)
}
