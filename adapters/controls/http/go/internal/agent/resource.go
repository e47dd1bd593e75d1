// SPDX-License-Identifier: MIT

package agent

import (
	"os"

	"go.opentelemetry.io/otel/attribute"
)

const (
	hostKey = "host.name"
	hostMax = 100 // bytes in the name of an instance
)

// Place says on which host and in which process this is. Spans carry it in their resource, because
// pythiad knows the instance of an agent by it. What the program's resource says itself stays.
func Place() []attribute.KeyValue {
	return []attribute.KeyValue{attribute.String(hostKey, hostName()), attribute.Int("process.pid", os.Getpid())}
}

// HostOf gives the host that a resource names; "": none.
func HostOf(resource *attribute.Set) string {
	host, _ := resource.Value(hostKey)
	return host.AsString()
}

// hostOr gives a host as an instance can be named by it: what spans say, if it has no colon and no
// slash, and else what the system says.
func hostOr(host string) string {
	for i := 0; i < len(host); i++ {
		if c := host[i]; c <= ' ' || c > '~' || c == ':' || c == '/' {
			host = ""
		}
	}
	if host == "" || len(host) > hostMax {
		return hostName()
	}
	return host
}

func hostName() string {
	host, _ := os.Hostname()
	if len(host) > 64 { // of Linux, at most
		host = host[:64]
	}
	return sound(host)
}
