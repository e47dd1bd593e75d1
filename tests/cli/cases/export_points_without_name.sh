# A recording may know a point by its id only: it is the span's name in Zipkin.
cat > one.spans <<'END'
{"spans":1}
{"point":1,"id":"shop:work","service":"shop"}
{"point":2,"id":"shop:GET /cart","service":"shop","name":"GET /cart"}
{"trace":"1f","span":"a1","start":1000,"duration":7000,"at":2,"kind":2}
{"trace":"1f","span":"a2","parent":"a1","start":2000,"duration":3000,"at":1}
END
pythia export -q --to zipkin one.spans | jq -r '.[] | .id + " " + .name'
