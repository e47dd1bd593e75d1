// SPDX-License-Identifier: MIT

// Command pythia-go is the go command with switches for the spans of the program that it builds: see the script
// pythia-go, which builds and calls it with the folder of this module before the arguments of go.
//
// `go build -overlay` would need no copy, and refuses files of the module cache; so the SDK is copied, and a workspace
// replaces it. What the compiler does not take of the copy is not used: the program is then built as by go.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

func main() {
	if self, err := os.Executable(); err == nil {
		os.Remove(self) // the script builds it for each call
	}
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: pythia-go build|run|install|test|vet [ARGUMENT]...")
		os.Exit(2)
	}
	arguments, err := enterFolder(os.Args[2:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "pythia-go: %v\n", err)
		os.Exit(2)
	}
	workspace, err := makeWorkspace(os.Args[1], os.Getenv("PYTHIA_GO_CACHE"))
	if err != nil {
		fmt.Fprintf(os.Stderr, "pythia-go: spans cannot be switched: %v\n", err)
	}
	if err = becomeGo(workspace, arguments); err != nil {
		fmt.Fprintf(os.Stderr, "pythia-go: %v\n", err)
		os.Exit(1)
	}
}

// becomeGo runs the go command in place of this one, in a workspace if there is one: signals and the exit status are then
// those of go.
func becomeGo(workspace string, arguments []string) error {
	name, err := exec.LookPath("go")
	if err != nil {
		return err
	}
	environment := os.Environ()
	if workspace != "" {
		environment = workspaceEnvironment(workspace)
	}
	return syscall.Exec(name, append([]string{"go"}, arguments...), environment)
}

// enterFolder goes to the folder that -C names, which must be the first flag, and gives the arguments without it.
func enterFolder(arguments []string) ([]string, error) {
	if len(arguments) < 2 {
		return arguments, nil
	}
	flag, rest := arguments[1], arguments[2:]
	folder, isNamed := strings.CutPrefix(flag, "-C=")
	if flag == "-C" && len(rest) > 0 {
		folder, isNamed, rest = rest[0], true, rest[1:]
	}
	if !isNamed {
		return arguments, nil
	}
	return append([]string{arguments[0]}, rest...), os.Chdir(folder)
}
