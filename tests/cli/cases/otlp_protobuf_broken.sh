# What is wrong with protobuf is told with its byte, and the rest is read; a file that looks like no traces is told.
convert=$ROOT/tests/corpus/otlp-proto/write.py
invalid=$ROOT/tests/corpus/otlp-proto/invalid
$convert --convert $DATA/retry.jsonl > retry.pb
python3 - << 'END'
all = open('retry.pb', 'rb').read()[:20000]
parts = all.split(b'\x12\x08')  # what stands in front of each span id
open('cut.pb', 'wb').write(b'\x12\x08'.join(parts[:3]) + b'\x12\x07' + b'\x12\x08'.join(parts[3:]))
END
pythia replay --verbose cut.pb | grep '^[0-9]* requests of'
echo ${PIPESTATUS[0]}
cp $invalid/metrics/input metrics.pb
cp $DATA/retry.jsonl .
pythia replay --verbose metrics.pb > report
echo $?
pythia replay --input-format otlp-proto metrics.pb retry.jsonl > report
echo $?
