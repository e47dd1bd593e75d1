pythia replay -q --request-type-attribute server.port --format json $DATA/retry.jsonl | jq -r '.request_types[].name'
