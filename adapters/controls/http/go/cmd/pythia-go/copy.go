// SPDX-License-Identifier: MIT

package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

const agentPath = "internal/pythiaagent" // in the SDK's folder trace

// patches is what the copies get, by names in them.
type patches struct {
	sdk, api map[string]string
	text     string // all of it
}

// readPatches reads the sources of this module.
func readPatches(source string) (patches, error) {
	p := patches{sdk: map[string]string{}, api: map[string]string{}}
	names := map[string]string{"sdk/start.go.txt": "trace/pythia_start.go", "sdk/types.go.txt": "trace/pythia_types.go",
		"sdk/propagation.go.txt": "propagation/pythia_types.go"}
	own, err := filepath.Glob(filepath.Join(source, "internal/agent/*.go"))
	if err != nil {
		return p, err
	}
	for _, file := range own {
		if base := filepath.Base(file); !strings.HasSuffix(base, "_test.go") {
			names["internal/agent/"+base] = "trace/" + agentPath + "/" + base
		}
	}
	for name, as := range names {
		text, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return p, err
		}
		to := p.sdk
		if strings.HasPrefix(as, "propagation/") {
			to = p.api
		}
		to[as] = string(text)
	}
	for _, name := range sortedKeys(p.sdk, p.api) {
		p.text += name + p.sdk[name] + p.api[name]
	}
	return p, nil
}

// makeCopies makes patched copies of both modules below folder, whole or not at all.
func makeCopies(folder string, sdk, api module, p patches) error {
	temporary, err := os.MkdirTemp(filepath.Dir(folder), "new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	err = errors.Join(copyFolder(sdk.Dir, filepath.Join(temporary, "sdk"), p.sdk),
		copyFolder(api.Dir, filepath.Join(temporary, "otel"), p.api))
	if err == nil {
		err = errors.Join(applyChanges(filepath.Join(temporary, "sdk"), sdkChanges),
			applyChanges(filepath.Join(temporary, "otel"), apiChanges))
	}
	if err != nil {
		return err
	}
	if err = os.Rename(temporary, folder); errors.Is(err, fs.ErrExist) {
		return nil // another pythia-go was faster
	}
	return err
}

func copyFolder(from, to string, more map[string]string) error {
	err := filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(name, "_test.go") {
			return err
		}
		relative, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return writeNew(filepath.Join(to, relative), text)
	})
	for name, text := range more {
		err = errors.Join(err, writeNew(filepath.Join(to, name), []byte(text)))
	}
	return err
}

func writeNew(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}

// change is what is done to one file of a copy: functions get other names, or a statement at their beginning, and structs
// another field.
type change struct {
	file       string
	renames    []atFunction
	statements []atFunction
	fields     map[string]string // by struct
}

// atFunction is what happens to a function; of: the type whose method it is, or "".
type atFunction struct{ of, name, text string }

var sdkChanges = []change{
	{file: "trace/tracer.go", renames: []atFunction{{"tracer", "Start", "startUnswitched"}},
		fields: map[string]string{"tracer": "pythia pythiaTracer"}},
	{file: "trace/provider.go", renames: []atFunction{{"", "NewTracerProvider", "newUnswitchedProvider"},
		{"TracerProvider", "Shutdown", "shutdownUnswitched"}}, fields: map[string]string{"TracerProvider": "pythia pythiaProvider"}},
	{file: "trace/span.go", fields: map[string]string{"recordingSpan": "pythia pythiaPass"}, statements: []atFunction{
		{"recordingSpan", "SetName", "s.becomes(name)"},
		{"recordingSpan", "End", "if s.isTimed() {\n\t\tdefer s.pythia.Ended(pythiaNow())\n\t}"}}},
}

var apiChanges = []change{
	{file: "propagation/trace_context.go", renames: []atFunction{{"TraceContext", "Inject", "injectUntyped"},
		{"TraceContext", "Extract", "extractUntyped"}}},
}

// edit is text that is put at a place of a file, over so many bytes.
type edit struct {
	at, over int
	text     string
}

func applyChanges(folder string, changes []change) error {
	for _, one := range changes {
		if err := one.apply(filepath.Join(folder, one.file)); err != nil {
			return err
		}
	}
	return nil
}

func (c change) apply(name string) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	var edits []edit
	for _, one := range c.renames {
		found := function(file, one.of, one.name)
		if found == nil {
			return fmt.Errorf("there is no %s in %s", one.name, c.file)
		}
		edits = append(edits, edit{files.Position(found.Name.Pos()).Offset, len(one.name), one.text})
	}
	for _, one := range c.statements {
		found := function(file, one.of, one.name)
		if found == nil || found.Body == nil {
			return fmt.Errorf("there is no %s in %s", one.name, c.file)
		}
		edits = append(edits, edit{files.Position(found.Body.Lbrace).Offset + 1, 0, "\n\t" + one.text})
	}
	for of, field := range c.fields {
		fields := structOf(file, of)
		if fields == nil {
			return fmt.Errorf("there is no struct %s in %s", of, c.file)
		}
		edits = append(edits, edit{files.Position(fields.Opening).Offset + 1, 0, "\n\t" + field + "\n"})
	}
	return rewrite(name, edits)
}

// function gives the declaration of a method or function; nil: there is none.
func function(file *ast.File, of, name string) *ast.FuncDecl {
	for _, declaration := range file.Decls {
		if is, ok := declaration.(*ast.FuncDecl); ok && is.Name.Name == name && receiver(is) == of {
			return is
		}
	}
	return nil
}

// receiver gives the type whose method a function is, or "".
func receiver(function *ast.FuncDecl) string {
	if function.Recv == nil || len(function.Recv.List) != 1 {
		return ""
	}
	of := function.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	if identifier, ok := of.(*ast.Ident); ok {
		return identifier.Name
	}
	return ""
}

// structOf gives the fields of a struct; nil: there is none.
func structOf(file *ast.File, name string) *ast.FieldList {
	var fields *ast.FieldList
	ast.Inspect(file, func(node ast.Node) bool {
		if is, ok := node.(*ast.TypeSpec); ok && is.Name.Name == name {
			if body, ok := is.Type.(*ast.StructType); ok {
				fields = body.Fields
			}
		}
		return true
	})
	return fields
}

func rewrite(name string, edits []edit) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	sort.Slice(edits, func(i, j int) bool { return edits[i].at > edits[j].at }) // places before an edit stay
	for _, one := range edits {
		text = append(text[:one.at:one.at], append([]byte(one.text), text[one.at+one.over:]...)...)
	}
	return os.WriteFile(name, text, 0o644)
}

func sortedKeys(maps ...map[string]string) []string {
	var keys []string
	for _, one := range maps {
		for key := range one {
			keys = append(keys, key)
		}
	}
	sort.Strings(keys)
	return keys
}
