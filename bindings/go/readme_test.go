// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// normalizedLines returns the lines of a text that are not empty, with single blanks.
func normalizedLines(text string) []string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		// gofmt aligns trailing comments, so the number of blanks before them can differ.
		if words := strings.Join(strings.Fields(line), " "); words != "" {
			lines = append(lines, words)
		}
	}
	return lines
}

func TestReadmeProgramIsTheExample(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	if len(blocks) != 1 {
		t.Fatalf("%d programs: expected one", len(blocks))
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(example), "func Example() {\n")
	exampleBody := strings.Join(normalizedLines(body), "\n")
	if !strings.Contains(exampleBody, strings.Join(normalizedLines(blocks[0][1]), "\n")) {
		t.Error("the program of README.md is not in the body of Example")
	}
}

// publicFiles returns the source text of the package in a folder, without its tests.
func publicFiles(t *testing.T, folder string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(content)
	}
	return text.String()
}

// publicFolders returns "." and the folders of the other public packages.
func publicFolders(t *testing.T) []string {
	t.Helper()
	documented, err := filepath.Glob("*/doc.go")
	if err != nil || len(documented) == 0 {
		t.Fatal(documented, err)
	}
	folders := []string{"."}
	for _, name := range documented {
		folders = append(folders, filepath.Dir(name))
	}
	return folders
}

func TestReadmeListsEveryPackageAndEveryTypeWithClose(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(strings.Join(strings.Fields(string(readme)), " "), "has `Close`: ")
	list, _, _ = strings.Cut(list, ". ")
	parts := strings.Split(list, "; in `quoit/")
	closers := 0
	for _, folder := range publicFolders(t) {
		part := parts[0]
		if folder != "." {
			part = ""
			for _, other := range parts[1:] {
				if strings.HasPrefix(other, folder+"` ") {
					part = other
				}
			}
			if !strings.Contains(string(readme), "`quoit/"+folder+"`") || !strings.Contains(string(doc), "quoit/"+folder+" ") {
				t.Errorf("package quoit/%s: expected it in README.md and in doc.go", folder)
			}
		}
		for _, found := range regexp.MustCompile(`func \(\w+ \*(\w+)\) Close\(`).FindAllStringSubmatch(publicFiles(t, folder), -1) {
			closers++
			if !strings.Contains(part, "`"+found[1]+"`") {
				t.Errorf("%s in %s has Close: expected it in the list of README.md", found[1], folder)
			}
		}
	}
	if closers != strings.Count(list, "`")/2-(len(parts)-1) {
		t.Errorf("%d types have Close: expected as many in the list of README.md: %s", closers, list)
	}
}
