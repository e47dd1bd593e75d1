"""A case of a test with a folder, an environment and a switchboard of its own."""
import os
import subprocess
import sys
import tempfile


def check(holds, what):
    if not holds:
        sys.exit(f"does not hold: {what}")


def run_case(case):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ.update(PYTHIA_DIRECTORY=os.path.join(folder, "shared"), PYTHIA_RING_BYTES=str(64 << 20), TMPDIR=folder, LC_ALL="C")
        for name in ("XDG_RUNTIME_DIR", "PYTHIA_RECORDS", "PYTHIA_SERVICE", "OTEL_SERVICE_NAME", "LD_PRELOAD"):
            os.environ.pop(name, None)
        try:
            case()
            left = [name for name in os.listdir(folder) if name.startswith("pythia-run")]
            check(not left, f"nothing is left behind: {left}")
        finally:
            shared = os.path.join(folder, "shared")
            for name in os.listdir(shared) if os.path.isdir(shared) else []:
                if name.startswith(("switchboard-", "area-")):
                    with open(os.path.join(shared, name), encoding="utf-8") as file:
                        subprocess.run(["ipcrm", "-m", file.read().split()[2]], check=False)
