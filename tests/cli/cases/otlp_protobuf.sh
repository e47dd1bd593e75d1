# OTLP gives the same report as JSON and as protobuf: as one message, as messages behind their sizes, compressed, from
# standard input, from many files on several threads.
pythia generate --nodes 80 --requests 300 --forks 0.3 --loops 0.2 --causes contention,host > generated.jsonl
pythia generate --nodes 80 --requests 300 --forks 0.3 --loops 0.2 --causes contention,host --format otlp-proto > generated.pb
convert=$ROOT/tests/corpus/otlp-proto/write.py
$convert --convert $DATA/retry.jsonl > retry.pb
$convert --convert $DATA/retry.jsonl --framed > retry.framed
cp $DATA/retry.jsonl .
report() { pythia replay -q --format json "$@" | jq 'del(.input.sources, .input.bytes, .input.files)'; }
for of in generated retry; do
    report $of.jsonl > $of.json
    report $of.pb | cmp - $of.json && echo $of: the same
    pythia replay --verbose -q $of.jsonl | sed 's/([0-9.]* MB)//' > $of.text
    pythia replay --verbose -q $of.pb | sed 's/([0-9.]* MB)//' | cmp - $of.text
done
gzip -k retry.pb
zstd -q retry.framed -o retry.framed.zst
python3 - << 'END'
import struct
import subprocess
all, at = open('retry.framed', 'rb').read(), 0
with open('retry.each.zst', 'wb') as out:  # as the collector writes with "compression: zstd"
    while at < len(all):
        size, = struct.unpack('>I', all[at:at + 4])
        frame = subprocess.run(['zstd', '-qc'], input=all[at + 4:at + 4 + size], stdout=subprocess.PIPE, check=True).stdout
        out.write(struct.pack('>I', len(frame)) + frame)
        at += 4 + size
    out.write(bytes(4))  # a message without spans
END
for file in retry.framed retry.pb.gz retry.framed.zst retry.each.zst; do
    report $file | cmp - retry.json && echo $file: the same
done
report - < retry.pb | cmp - retry.json && echo standard input: the same
pythia replay -q --input-format otlp-proto retry.pb | cmp - <(pythia replay -q retry.pb) && echo by name: the same
split -l 7 retry.jsonl part.
for part in part.*; do
    $convert --convert $part > $part.pb
    rm $part
done
for n in 1 2 4; do
    report --threads $n $(ls -r part.*.pb) | cmp - retry.json && echo $n threads: the same
done
head -c 1000 retry.each.zst > cut.zst # in a frame, and in a size
first=$((16#$(head -c 4 retry.each.zst | od -An -tx1 | tr -d ' ')))
head -c $((4 + first + 2)) retry.each.zst > cut_size.zst
pythia replay --verbose -q cut.zst cut_size.zst > report; echo $?
