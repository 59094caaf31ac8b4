// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"quoit"
)

// notCalled has the C functions that the module does not call, and the reasons.
var notCalled = map[string]string{
	"quoit_error_quark":             "all errors of libquoit are in its one domain",
	"quoit_launch_get_profile":      "Launch has its profile, and a Topology needs none",
	"quoit_ray_group_get_n_bundles": "the bundles of a Group are a Go slice",
	"quoit_ray_labels_find":         "Labels is a Go slice, which Labels.Get searches",
	"quoit_report_ref":              "the C report has one owner, which all copies of a Report share",
	"quoit_request_copy":            "a Request is a value, and assignment copies it",
	"quoit_snapshot_ref":            "goroutines share a Snapshot by its pointer",
}

var (
	declaration = regexp.MustCompile(`(?m)^QUOIT_API [^;]*?\b(quoit_[a-z0-9_]+) \(`)
	called      = regexp.MustCompile(`\bC\.(quoit_[a-z0-9_]+)\(`)
	constant    = regexp.MustCompile(`\bC\.(QUOIT_[A-Z0-9_]+)\b`)
	enumMember  = regexp.MustCompile(`(?m)\b(QUOIT_[A-Z0-9_]+)(?: *\n? *= [0-9]+)?,?`)
	comment     = regexp.MustCompile(`(?s)/\*.*?\*/`)
)

func headers(t *testing.T) string {
	t.Helper()
	folder := filepath.Join("..", "..", "include", "quoit")
	paths, _ := filepath.Glob(filepath.Join(folder, "*.h"))
	models, _ := filepath.Glob(filepath.Join(folder, "models", "*.h"))
	paths = append(paths, models...)
	if len(paths) == 0 {
		t.Skip("the headers of the source tree are missing")
	}
	return readAll(t, paths)
}

func readAll(t *testing.T, paths []string) string {
	t.Helper()
	var all strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

func goFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, folder := range []string{".", "kuberay", "maxtext", "ray", "webhook", filepath.Join("internal", "cconv")} {
		found, _ := filepath.Glob(filepath.Join(folder, "*.go"))
		for _, path := range found {
			if !strings.HasSuffix(path, "_test.go") {
				files = append(files, path)
			}
		}
	}
	return files
}

func matches(pattern *regexp.Regexp, text string) map[string]bool {
	found := map[string]bool{}
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		found[match[1]] = true
	}
	return found
}

func sorted(set map[string]bool) []string {
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func TestEveryCFunctionIsCalledOrExcluded(t *testing.T) {
	declared := matches(declaration, comment.ReplaceAllString(headers(t), ""))
	calls := matches(called, readAll(t, goFiles(t)))
	if len(declared) < 450 {
		t.Errorf("%d functions are declared: expected more than 450", len(declared))
	}
	for _, name := range sorted(declared) {
		reason, excused := notCalled[name]
		switch {
		case calls[name] && excused:
			t.Errorf("%s is called, but is in notCalled: %s", name, reason)
		case !calls[name] && !excused:
			t.Errorf("%s is not called: call it, or add it to notCalled", name)
		}
	}
	for name := range notCalled {
		if !declared[name] {
			t.Errorf("%s is in notCalled, but no header declares it", name)
		}
	}
}

func TestEveryCEnumMemberHasAConstant(t *testing.T) {
	text := comment.ReplaceAllString(headers(t), "")
	used := matches(constant, readAll(t, goFiles(t)))
	count := 0
	for _, body := range regexp.MustCompile(`(?s)typedef enum \{(.*?)\}`).FindAllStringSubmatch(text, -1) {
		for member := range matches(enumMember, body[1]) {
			count++
			if !used[member] {
				t.Errorf("no Go constant has the value of %s", member)
			}
		}
	}
	if count < 140 {
		t.Errorf("%d members: expected more than 140", count)
	}
}

// For enums, String returns the end of the C name of the constant.
func TestStringOfAConstantIsTheEndOfItsCName(t *testing.T) {
	text := readAll(t, goFiles(t))
	cNames := map[string]string{}
	for _, match := range regexp.MustCompile(`(\w+) +\w+ += C\.(QUOIT_\w+)`).FindAllStringSubmatch(text, -1) {
		cNames[match[1]] = match[2]
	}
	pairs := regexp.MustCompile(`\b([A-Z]\w+): "([A-Z_0-9]+)"`).FindAllStringSubmatch(text, -1)
	if len(pairs) < 70 {
		t.Errorf("%d names: expected more than 70", len(pairs))
	}
	for _, pair := range pairs {
		if !strings.HasSuffix(cNames[pair[1]], "_"+pair[2]) {
			t.Errorf("%s is '%s': expected the end of %s", pair[1], pair[2], cNames[pair[1]])
		}
	}
}

func TestStringOfFlagsHasTheEndsOfTheirCNames(t *testing.T) {
	for got, expected := range map[string]string{
		quoit.SliceIntact.String():                        "INTACT",
		(quoit.SliceAllocated | quoit.SliceFree).String(): "ALLOCATED|FREE",
		quoit.SliceDraining.String():                      "DRAINING",
		(quoit.SlicePartly | quoit.SliceFull).String():    "PARTLY|FULL",
		quoit.SliceIdle.String():                          "IDLE",
		quoit.FaultPodType.String():                       "POD_TYPE",
		quoit.FaultTopology.String():                      "TOPOLOGY",
		quoit.FaultTooManyHosts.String():                  "TOO_MANY_HOSTS",
		(quoit.AssumesHostName | 1<<20).String():          "HOST_NAME|UNKNOWN_1048576",
		quoit.GroupState(99).String():                     "UNKNOWN_99",
		quoit.Strategy(99).String():                       "UNKNOWN_99",
		quoit.StrictSpread.String():                       "STRICT_SPREAD",
		quoit.SliceFlags(0).String():                      "",
	} {
		if got != expected {
			t.Errorf("'%s': expected '%s'", got, expected)
		}
	}
}

// The codes of Go have the numbers and the names of the C codes.
func TestCodesEqualThoseOfTheHeader(t *testing.T) {
	members := regexp.MustCompile(`QUOIT_ERROR_([A-Z_]+) = ([0-9]+)`).FindAllStringSubmatch(headers(t), -1)
	codes := []quoit.Code{
		quoit.Failed, quoit.Usage, quoit.Invalid, quoit.NotFound, quoit.NotNow, quoit.Never, quoit.Conflict,
		quoit.Store, quoit.Version, quoit.Busy, quoit.Expired, quoit.Cancelled, quoit.Damaged,
		quoit.Unconfirmed,
		quoit.Fenced,
	}
	if len(members) != len(codes) {
		t.Fatalf("%d codes in the header, %d in Go", len(members), len(codes))
	}
	text := readAll(t, goFiles(t))
	for index, code := range codes {
		if int(code) != index+1 || code.String() != members[index][1] || code.Error() != members[index][1] {
			t.Errorf("code %d is %v: expected %s", int(code), code, members[index][1])
		}
		name := camelCase(members[index][1])
		if !regexp.MustCompile(`\b` + name + ` +Code = C\.QUOIT_ERROR_` + members[index][1] + `\b`).MatchString(text) {
			t.Errorf("no constant %s is QUOIT_ERROR_%s", name, members[index][1])
		}
	}
	if quoit.Code(99).String() != "FAILED" {
		t.Errorf("an unknown code is '%v': expected FAILED", quoit.Code(99))
	}
}

// camelCase converts "NOT_NOW" to "NotNow".
func camelCase(name string) string {
	camel := ""
	for _, word := range strings.Split(name, "_") {
		camel += word[:1] + strings.ToLower(word[1:])
	}
	return camel
}

// The constraints of Go have the numbers and the names of the C enum, and Go has no others.
func TestConstraintsEqualThoseOfTheHeader(t *testing.T) {
	text := readAll(t, goFiles(t))
	members := regexp.MustCompile(`QUOIT_CONSTRAINT_([A-Z_]+) = ([0-9]+)`).FindAllStringSubmatch(headers(t), -1)
	constants := regexp.MustCompile(`\bConstraint\w+ +Constraint += C\.QUOIT_CONSTRAINT_`).FindAllString(text, -1)
	if len(members) == 0 || len(constants) != len(members) {
		t.Errorf("%d constraints in the header, %d in Go", len(members), len(constants))
	}
	for _, member := range members {
		number, err := strconv.Atoi(member[2])
		if constraint := quoit.Constraint(number); err != nil || constraint.String() != member[1] {
			t.Errorf("constraint %s is '%v': expected %s", member[2], constraint, member[1])
		}
		name := "Constraint" + camelCase(member[1])
		if !regexp.MustCompile(`\b` + name + ` +Constraint += C\.QUOIT_CONSTRAINT_` + member[1] + `\b`).MatchString(text) {
			t.Errorf("no constant %s is QUOIT_CONSTRAINT_%s", name, member[1])
		}
	}
}

// undocumented returns the exported names of a file without documentation.
func undocumented(file *ast.File) []string {
	var missing []string
	for _, one := range file.Decls {
		switch decl := one.(type) {
		case *ast.FuncDecl:
			if decl.Name.IsExported() && hasPublicReceiver(decl) && decl.Doc == nil {
				missing = append(missing, decl.Name.Name)
			}
		case *ast.GenDecl:
			missing = append(missing, undocumentedSpecs(decl)...)
		}
	}
	return missing
}

func hasPublicReceiver(decl *ast.FuncDecl) bool {
	if decl.Recv == nil {
		return true
	}
	kind := decl.Recv.List[0].Type
	if star, ok := kind.(*ast.StarExpr); ok {
		kind = star.X
	}
	name, ok := kind.(*ast.Ident)
	return ok && name.IsExported()
}

func undocumentedSpecs(decl *ast.GenDecl) []string {
	var missing []string
	for _, spec := range decl.Specs {
		if one, ok := spec.(*ast.TypeSpec); ok && one.Name.IsExported() && one.Doc == nil && decl.Doc == nil {
			missing = append(missing, one.Name.Name)
		}
		if one, ok := spec.(*ast.ValueSpec); ok && one.Names[0].IsExported() && one.Doc == nil && decl.Doc == nil {
			missing = append(missing, one.Names[0].Name)
		}
	}
	return missing
}

func TestEveryExportedNameIsDocumented(t *testing.T) {
	for _, path := range goFiles(t) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range undocumented(file) {
			t.Errorf("%s: %s has no documentation", path, name)
		}
	}
}

// The documentation of each function that returns an error must list its codes.
func TestEveryFunctionThatCanFailDocumentsItsErrors(t *testing.T) {
	documentsErrors := regexp.MustCompile(`fails? |Fails|[Ff]ailing`)
	for _, path := range goFiles(t) {
		if strings.Contains(path, "internal") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range file.Decls {
			decl, ok := one.(*ast.FuncDecl)
			if !ok || !decl.Name.IsExported() || !hasPublicReceiver(decl) || !returnsError(decl) || isSnapshotMethod(decl) {
				continue
			}
			if decl.Doc != nil && !documentsErrors.MatchString(decl.Doc.Text()) {
				t.Errorf("%s: the documentation of %s does not have the codes with which it fails", path, decl.Name.Name)
			}
		}
	}
}

func returnsError(decl *ast.FuncDecl) bool {
	if decl.Type.Results == nil || decl.Name.Name == "Unwrap" {
		return false
	}
	results := decl.Type.Results.List
	last, ok := results[len(results)-1].Type.(*ast.Ident)
	return ok && last.Name == "error"
}

// isSnapshotMethod reports whether a function is a method of Snapshot. The documentation of that type covers the errors
// of its methods.
func isSnapshotMethod(decl *ast.FuncDecl) bool {
	if decl.Recv == nil {
		return false
	}
	star, ok := decl.Recv.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	name, ok := star.X.(*ast.Ident)
	return ok && name.Name == "Snapshot"
}
