// SPDX-License-Identifier: MIT

package agent

import "strings"

// template replaces the identifiers in a path-like name and cuts its query off, as the adapter for
// OTLP does (engine/trace): "GET /users/17?page=2" becomes "GET /users/{id}".
func template(name string) string {
	if !strings.Contains(name, "/") {
		return name
	}
	path, _, _ := strings.Cut(name, "?")
	elements := strings.Split(path, "/")
	for i := 1; i < len(elements); i++ {
		if isIdentifier(elements[i]) {
			elements[i] = "{id}"
		}
	}
	if path = strings.Join(elements, "/"); path == "" {
		return name
	}
	return path
}

// isIdentifier is true for a number, a UUID, and 16 hexadecimal digits or more.
func isIdentifier(element string) bool {
	digits, hex, dashes := 0, 0, 0
	for i := 0; i < len(element); i++ {
		switch c := element[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F':
			hex++
		case c == '-' && (i == 8 || i == 13 || i == 18 || i == 23):
			dashes++
		default:
			return false
		}
	}
	if dashes > 0 {
		return dashes == 4 && len(element) == 36
	}
	return digits > 0 && hex == 0 || digits+hex >= 16
}

// sound makes text as it arrives by OTLP: valid UTF-8, without NUL.
func sound(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// pointID joins what is not empty of service, scope and templated name with colons.
func pointID(service, scope, name string) string {
	id := template(sound(name))
	if scope != "" {
		id = sound(scope) + ":" + id
	}
	if service != "" {
		id = service + ":" + id
	}
	if id == "" {
		return "(unnamed)"
	}
	return id
}

// isSound is true for ids that pythiad takes: 512 bytes at most, without control characters.
func isSound(id string) bool {
	for i := 0; i < len(id); i++ {
		if id[i] < ' ' || id[i] == 0x7f {
			return false
		}
	}
	return len(id) <= idMax
}
