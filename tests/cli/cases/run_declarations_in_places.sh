# A declaration is enabled where its patterns match the name of this machine and the service: one file for many machines.
cat > points.json <<'END'
[{"name": "here", "function": "read", "enabled": "/app"},
 {"name": "there", "function": "write", "enabled": "another-machine-*/app"},
 {"name": "other", "function": "close", "enabled": "*/shop*"}]
END
printf '%s' 'some text' > text
pythia run --points points.json --service app --records app.records -- cat text > /dev/null 2> said
sed -n 's/.*\(Hooked [0-9]* of [0-9]*\).*/\1/p' said
pythia profile -q --by name --format json app.records | jq -c '[.rows[].callpath[-1]]'
pythia run --points points.json --service shop-1 --records shop.records -- cat text > /dev/null 2> /dev/null
pythia profile -q --by name --format json shop.records | jq -c '[.rows[].callpath[-1]]'
