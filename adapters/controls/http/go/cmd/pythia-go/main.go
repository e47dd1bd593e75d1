// SPDX-License-Identifier: MIT

// Command pythia-go is the go command with switches for the spans of the program that it builds: see the script
// pythia-go, which builds and calls it with the folder of this module before the arguments of go.
//
// `go build -overlay` would need no copy, and refuses files of the module cache; so the SDK is copied, and a workspace
// replaces it. What the compiler does not take of the copy is not used: the program is then built as by go.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: pythia-go build|run|install|test|vet [ARGUMENT]...")
		os.Exit(2)
	}
	workspace, err := makeWorkspace(os.Args[1], os.Getenv("PYTHIA_GO_CACHE"))
	if err != nil {
		fmt.Fprintf(os.Stderr, "pythia-go: spans cannot be switched: %v\n", err)
	}
	os.Exit(runGo(workspace, os.Args[2:]))
}

// runGo runs the go command, in a workspace if there is one, and gives its exit status.
func runGo(workspace string, arguments []string) int {
	command := exec.Command("go", arguments...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	if workspace != "" {
		command.Env = workspaceEnvironment(workspace)
	}
	signal.Ignore(os.Interrupt) // the program that `go run` started decides
	err := command.Run()
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		return max(ended.ExitCode(), 1)
	case err != nil:
		fmt.Fprintf(os.Stderr, "pythia-go: %v\n", err)
		return 1
	}
	return 0
}
