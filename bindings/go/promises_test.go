// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"errors"
	"fmt"
	"log"
	"math"
	"strings"
	"testing"

	"quoit"
)

func ExamplePromiseCount() {
	tpu7x, err := quoit.LookupGeneration("tpu7x")
	if err != nil {
		log.Fatal(err)
	}
	each, err := tpu7x.LookupCubes("4x8x8")
	if err != nil {
		log.Fatal(err)
	}
	cube, err := quoit.PromiseAvailability(0.999, tpu7x.OCSCubeHosts)
	if err != nil {
		log.Fatal(err)
	}
	count, err := quoit.PromiseCount(144, cube, each, 0, 0.95)
	fmt.Println(count, "slices of", each, "cubes", err)
	// Output:
	// 34 slices of 4 cubes <nil>
}

func TestPromisesAreThoseOfThePapers(t *testing.T) {
	cube := must[float64](t)(quoit.PromiseAvailability(0.995, 16))
	near := func(got, expected float64) {
		t.Helper()
		if math.Abs(got-expected) > 0.0005 {
			t.Errorf("%v: expected %v", got, expected)
		}
	}
	near(must[float64](t)(quoit.PromiseGoodput(64, cube, 32)), 0.503)
	near(must[float64](t)(quoit.PromiseStaticGoodput(64, cube, 16)), math.Pow(0.995, 256))
	near(must[float64](t)(quoit.PromiseProbability(64, math.Pow(1-0.00782, 16), 56)), 0.659)
	if got := must[int64](t)(quoit.PromiseCount(144, 0.93469, 1, 100, 0.95)); got != 30 {
		t.Errorf("%d: expected 30", got)
	}
}

func TestInvalidPromisesAreRefused(t *testing.T) {
	v6e := must[*quoit.Generation](t)(quoit.LookupGeneration("v6e"))
	count := func(cubes int64, availability float64, each, held int64, confidence float64) error {
		_, err := quoit.PromiseCount(cubes, availability, each, held, confidence)
		return err
	}
	for message, got := range map[string]error{
		"cubes '0': expected 1 to 1000000 cubes":    count(0, 0.5, 1, 0, 0.5),
		"cubes '-1': expected 0 to 4294967295":      count(-1, 0.5, 1, 0, 0.5),
		"cubes '2147483648'":                        count(1<<31, 0.5, 1, 0, 0.5),
		"availability '1.5'":                        count(144, 1.5, 1, 0, 0.5),
		"availability 'nan'":                        count(144, math.NaN(), 1, 0, 0.5),
		"cubes of each slice '145'":                 count(144, 0.5, 145, 0, 0.5),
		"cubes of each slice '-1'":                  count(144, 0.5, -1, 0, 0.5),
		"held cubes '145'":                          count(144, 0.5, 1, 145, 0.5),
		"held cubes '-1'":                           count(144, 0.5, 1, -1, 0.5),
		"confidence '95': expected a probability":   count(144, 0.5, 1, 0, 95),
		"hosts '-1'":                                second(quoit.PromiseAvailability(0.5, -1)),
		"host availability '-0.5'":                  second(quoit.PromiseAvailability(-0.5, 16)),
		"cubes '1000001'":                           second(quoit.PromiseGoodput(1000001, 0.5, 1)),
		"cubes of each slice '0'":                   second(quoit.PromiseStaticGoodput(144, 0.5, 0)),
		"cubes of each slice '4294967296'":          second(quoit.PromiseGoodput(144, 0.5, 1<<32)),
		"cubes '4294967296'":                        second(quoit.PromiseStaticGoodput(1<<32, 0.5, 1)),
		"needed cubes '-1'":                         second(quoit.PromiseProbability(144, 0.5, -1)),
		"cubes '-2'":                                second(quoit.PromiseProbability(-2, 0.5, 1)),
		"accelerator 'v6e': expected a generation":  second(v6e.LookupCubes("4x4")),
		"topology 'a\\x00b': expected text without": second(v6e.LookupCubes("a\x00b")),
		"generation: expected a value that":         second((&quoit.Generation{}).LookupCubes("4x4x4")),
	} {
		if !errors.Is(got, quoit.Invalid) || !strings.Contains(got.Error(), message) {
			t.Errorf("%v: expected Invalid with '%s'", got, message)
		}
	}
}

func second[T any](_ T, err error) error { return err }
