// SPDX-License-Identifier: MIT

//go:build tools

// h2spec, of the version in go.mod: it is built from here, and linked to nothing.
package main

import _ "github.com/summerwind/h2spec/cmd/h2spec"
