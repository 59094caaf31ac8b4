// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"errors"
	"testing"

	"quoit"
)

const placesFleet = "v6e 4x4 x2 pool=a zone=x; v6e 4x4 x3 pool=b zone=y; v6e 4x4 x3 pool=c zone=x"

// placesOf reserves on a fork, and returns the names of the slices.
func placesOf(t *testing.T, ledger *quoit.Ledger, request *quoit.Request) ([]string, error) {
	t.Helper()
	fork := must[*quoit.Fork](t)(newSnapshot(t, ledger).Fork())
	defer fork.Close()
	group, err := fork.Reserve(request, now)
	if err != nil {
		return nil, err
	}
	var names []string
	info, err := group.Info()
	if err != nil {
		return nil, err
	}
	for _, slice := range info.Slices {
		names = append(names, slice.Name)
	}
	return names, nil
}

func TestSlicesAreWhereTheRequestWantsThem(t *testing.T) {
	ledger := newLedger(t, placesFleet)
	request := sliceRequest("o", 1)
	request.Pool = "c"
	other := reserve(t, ledger, request)
	for _, test := range []struct {
		request quoit.Request
		want    []string
	}{
		{quoit.Request{Slices: 3, KeepTo: quoit.PoolDomain}, []string{"b-0", "b-1", "b-2"}},
		{quoit.Request{Slices: 4, KeepTo: quoit.ZoneDomain}, []string{"a-0", "a-1", "c-1", "c-2"}},
		{quoit.Request{Slices: 3, SpreadOver: quoit.PoolDomain}, []string{"a-0", "b-0", "c-1"}},
		{quoit.Request{Slices: 2, SpreadOver: quoit.ZoneDomain, MaxSkew: 2, MinDomains: 2}, []string{"a-0", "b-0"}},
		{quoit.Request{Slices: 1, ExcludedNodes: []string{"a-0-3"}}, []string{"a-1"}},
		{quoit.Request{Slices: 1, Near: "o"}, []string{"c-1"}},
		{quoit.Request{Slices: 1, Near: other.Handle()}, []string{"c-1"}},
	} {
		test.request.Name, test.request.Accelerator, test.request.Topology = "t", "v6e", "4x4"
		names, err := placesOf(t, ledger, &test.request)
		if err != nil || len(names) != len(test.want) {
			t.Fatalf("%+v: %v, %v", test.request, names, err)
		}
		for i := range names {
			if names[i] != test.want[i] {
				t.Errorf("%+v: %v", test.request, names)
			}
		}
	}
}

func TestWrongPlacesAreRefused(t *testing.T) {
	ledger := newLedger(t, placesFleet)
	for _, test := range []struct {
		request quoit.Request
		code    quoit.Code
	}{
		{quoit.Request{KeepTo: quoit.PoolDomain, SpreadOver: quoit.PoolDomain}, quoit.Invalid},
		{quoit.Request{KeepTo: 99}, quoit.Invalid},
		{quoit.Request{SpreadOver: quoit.PoolDomain, MaxSkew: -1}, quoit.Invalid},
		{quoit.Request{SpreadOver: quoit.PoolDomain, MinDomains: 1000001}, quoit.Invalid},
		{quoit.Request{Near: "a/b"}, quoit.Invalid},
		{quoit.Request{Near: "nobody"}, quoit.NotFound},
		{quoit.Request{ExcludedNodes: []string{"nothing"}}, quoit.NotFound},
		{quoit.Request{Slices: 9, KeepTo: quoit.ZoneDomain}, quoit.Never},
	} {
		if test.request.Slices == 0 {
			test.request.Slices = 1
		}
		test.request.Name, test.request.Accelerator, test.request.Topology = "t", "v6e", "4x4"
		_, err := placesOf(t, ledger, &test.request)
		wantCode(t, err, test.code)
		var failure *quoit.Error
		if test.code == quoit.Never && (!errors.As(err, &failure) || failure.Report() == nil) {
			t.Errorf("%v has no report", err)
		}
	}
}
