# Libraries that bring two dozen others, and cost 10 ms of each start, or the C++ library, which costs half a millisecond, are loaded
# when they are needed.
LD_DEBUG=files pythia --version 2>&1 >/dev/null | grep -oE 'lib(curl|openblas|lapack|gnutls|krb5|ldap|simdjson)[^ ]*' | sort -u
# A command that needs them loads them: this one reads JSON and uses LAPACK, and the next one libcurl.
LD_DEBUG=files pythia replay --quiet "$ROOT/datasets/openstack/contention.jsonl.zst" 2>&1 >/dev/null |
    grep -oE 'calling init: .*/lib(curl|openblas|lapacke|simdjson)' | sed 's,.*/,,' | sort -u
LD_DEBUG=files pythia ctl --address 127.0.0.1:1 status 2>&1 >/dev/null | grep -oE 'calling init: .*/lib(curl|openblas|lapacke)' |
    sed 's,.*/,,' | sort -u
