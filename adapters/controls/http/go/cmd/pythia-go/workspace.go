// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	sdkPath = "go.opentelemetry.io/otel/sdk"
	apiPath = "go.opentelemetry.io/otel"
)

// module is what `go list -m -json` says of one.
type module struct {
	Path, Version, Dir, GoVersion string
	Main                          bool
}

// askGo gives the output of a go command; its errors are the last line of what it says.
func askGo(environment []string, arguments ...string) ([]byte, error) {
	command := exec.Command("go", arguments...)
	command.Env = environment
	var complaint bytes.Buffer
	command.Stderr = &complaint
	output, err := command.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(complaint.String()), "\n")
		return nil, errors.New(strings.TrimPrefix(lines[len(lines)-1], "go: "))
	}
	return output, nil
}

// withoutMod is the environment without a -mod in GOFLAGS, which a workspace does not take.
func withoutMod() []string {
	var flags []string
	for _, flag := range strings.Fields(os.Getenv("GOFLAGS")) {
		if !strings.HasPrefix(strings.TrimLeft(flag, "-"), "mod=") {
			flags = append(flags, flag)
		}
	}
	return with(os.Environ(), "GOFLAGS", strings.Join(flags, " "))
}

func workspaceEnvironment(workspace string) []string {
	return with(withoutMod(), "GOWORK", workspace)
}

// with is an environment with another value of a variable, which is there once: execve(2) takes all, and programs read the first.
func with(environment []string, name, value string) []string {
	out := []string{name + "=" + value}
	for _, variable := range environment {
		if !strings.HasPrefix(variable, name+"=") {
			out = append(out, variable)
		}
	}
	return out
}

func listModules(paths ...string) ([]module, error) {
	output, err := askGo(withoutMod(), append([]string{"list", "-mod=readonly", "-m", "-json"}, paths...)...)
	if err != nil {
		return nil, err
	}
	var modules []module
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var one module
		if err := decoder.Decode(&one); err == io.EOF {
			return modules, nil
		} else if err != nil {
			return nil, err
		}
		modules = append(modules, one)
	}
}

// findModule gives a dependency of the program, with a folder.
func findModule(path string) (module, error) {
	found, err := listModules(path)
	if err == nil && len(found) == 1 && found[0].Dir == "" {
		if _, err = askGo(withoutMod(), "mod", "download", path); err == nil {
			found, err = listModules(path)
		}
	}
	if err != nil {
		return module{}, err
	}
	if len(found) != 1 || found[0].Dir == "" {
		return module{}, fmt.Errorf("%s is not to be had", path)
	}
	return found[0], nil
}

// makeWorkspace gives the go.work of a workspace in which the program's SDK has switches. source is the folder of
// package gate, cache a folder for copies.
func makeWorkspace(source, cache string) (string, error) {
	sdk, err := findModule(sdkPath)
	if err != nil {
		return "", err
	}
	api, err := findModule(apiPath)
	if err != nil {
		return "", err
	}
	patches, err := readPatches(source)
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, keyOf(patches.text, sdk.Version, sdk.Dir, api.Version, api.Dir))
	if _, err := os.Stat(folder); err != nil {
		if err = makeCopies(folder, sdk, api, patches); err != nil {
			return "", fmt.Errorf("%s %s has a shape that is not known: %w", sdkPath, sdk.Version, err)
		}
	}
	workspace, err := writeWorkspace(cache, folder)
	if err != nil {
		return "", err
	}
	// The compiler is the judge of what fits.
	if _, err = askGo(workspaceEnvironment(workspace), "build", sdkPath+"/trace", apiPath+"/propagation"); err != nil {
		return "", fmt.Errorf("%s %s cannot be built with switches; it may have a shape that is not known: %w", sdkPath, sdk.Version, err)
	}
	return workspace, nil
}

func keyOf(parts ...string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(parts, "\x00"))))[:24]
}

// writeWorkspace writes a go.work for the program's modules: those of its own workspace if there is one.
func writeWorkspace(cache, copies string) (string, error) {
	modules, err := listModules()
	if err != nil {
		return "", err
	}
	var text, sums strings.Builder
	goVersion := "1.21"
	for _, one := range modules {
		if version.Compare("go"+one.GoVersion, "go"+goVersion) > 0 {
			goVersion = one.GoVersion
		}
		fmt.Fprintf(&text, "use %q\n", one.Dir)
	}
	own, err := ownReplacements(&sums)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&text, "%sreplace %s => %q\nreplace %s => %q\n", own, sdkPath, filepath.Join(copies, "sdk"), apiPath,
		filepath.Join(copies, "otel"))
	content := "go " + goVersion + "\n" + text.String()
	folder := filepath.Join(cache, "work-"+keyOf(content))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	if sums.Len() > 0 {
		if err := writeFile(filepath.Join(folder, "go.work.sum"), sums.String()); err != nil {
			return "", err
		}
	}
	name := filepath.Join(folder, "go.work")
	return name, writeFile(name, content)
}

// ownReplacements gives the lines of the program's own go.work that replace modules, and adds its go.work.sum.
func ownReplacements(sums *strings.Builder) (string, error) {
	output, err := askGo(withoutMod(), "env", "GOWORK")
	name := strings.TrimSpace(string(output))
	if err != nil || name == "" || name == "off" {
		return "", err
	}
	if text, err := os.ReadFile(name + ".sum"); err == nil {
		sums.Write(text)
	}
	if output, err = askGo(withoutMod(), "work", "edit", "-json", name); err != nil {
		return "", err
	}
	var work struct {
		Replace []struct {
			Old, New struct{ Path, Version string }
		}
	}
	if err := json.Unmarshal(output, &work); err != nil {
		return "", err
	}
	var text strings.Builder
	for _, one := range work.Replace {
		if one.Old.Path == sdkPath || one.Old.Path == apiPath {
			continue
		}
		if one.New.Version == "" && !filepath.IsAbs(one.New.Path) {
			one.New.Path = filepath.Join(filepath.Dir(name), one.New.Path)
		}
		fmt.Fprintf(&text, "replace %s %s => %q %s\n", one.Old.Path, one.Old.Version, one.New.Path, one.New.Version)
	}
	return text.String(), nil
}

// writeFile writes a file that others may read at the same time.
func writeFile(name, content string) error {
	temporary := fmt.Sprintf("%s.%d", name, os.Getpid())
	if err := os.WriteFile(temporary, []byte(content), 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, name)
}
