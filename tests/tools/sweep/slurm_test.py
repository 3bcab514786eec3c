"""The job array script on a single-machine Slurm cluster, which the test starts and stops.

Usage: slurm_test.py EQUARX_SIM SWEEP_ARRAY_SH
Skipped (exit code 77) if Slurm cannot be installed or started. Both need root.
"""
import csv
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
PACKAGES = ["slurmctld", "slurmd", "slurm-client", "munge"]
START_SECONDS = 30
JOB_SECONDS = 120


class Skip(Exception):
    pass


def install():
    if all(shutil.which(name) for name in ("slurmctld", "slurmd", "sbatch", "munged")):
        return
    if os.geteuid() != 0:
        raise Skip(f"needs root to install {' '.join(PACKAGES)}")
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *PACKAGES]
    done = subprocess.run(command, capture_output=True, text=True,
                          env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    if done.returncode != 0:
        raise Skip(f"cannot install {' '.join(PACKAGES)}: {done.stderr.strip().splitlines()[-1:]}")


def free_port():
    with socket.socket() as one:
        one.bind(("", 0))
        return one.getsockname()[1]


class Cluster:
    """A controller, a node and their key server, all in a folder of the test."""

    def __init__(self, folder):
        self.folder = folder
        self.processes = []
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        if os.geteuid() != 0:
            raise Skip("needs root to start slurmd")
        socket_path = self.folder / "munge.socket"
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        self.configure(socket_path)
        self.launch("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={socket_path}",
                    f"--pid-file={self.folder}/munged.pid", f"--seed-file={self.folder}/munged.seed",
                    f"--log-file={self.folder}/munged.log", f"--origin=127.0.0.1")
        self.wait(socket_path.exists, "munged")
        self.launch("slurmctld", "-D", "-i")
        self.launch("slurmd", "-D", "-N", "here")
        self.wait(lambda: "idle" in self.output("sinfo", "-h", "-o", "%T"), "slurmd")

    def configure(self, socket_path):
        cores = os.cpu_count()
        host = socket.gethostname().split(".")[0]
        (self.folder / "state").mkdir()
        (self.folder / "spool").mkdir()
        (self.folder / "slurm.conf").write_text(f"""
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
AuthType=auth/munge
AuthInfo=socket={socket_path}
CredType=cred/munge
StateSaveLocation={self.folder}/state
SlurmdSpoolDir={self.folder}/spool
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/slurmd.pid
SlurmctldLogFile={self.folder}/slurmctld.log
SlurmdLogFile={self.folder}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SchedulerParameters=sched_interval=1
ReturnToService=2
MpiDefault=none
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
NodeName=here NodeHostname={host} NodeAddr=127.0.0.1 CPUs={cores} State=UNKNOWN
PartitionName=all Nodes=here Default=YES MaxTime=INFINITE State=UP
""")

    def launch(self, *command):
        with (self.folder / f"{command[0]}.out").open("wb") as out:
            path = shutil.which(command[0], path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
            self.processes.append(subprocess.Popen([path, *command[1:]], stdout=out, stderr=out,
                                                   env=self.environment))

    def wait(self, ready, what):
        end = time.monotonic() + START_SECONDS
        while not ready():
            if time.monotonic() > end or any(p.poll() is not None for p in self.processes):
                logs = [f.read_text(errors="replace")[-500:] for f in self.folder.glob("*.out")]
                raise Skip(f"{what} does not start here: {' '.join(logs).strip()}")
            time.sleep(0.1)

    def output(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True).stdout

    def submit(self, *arguments, environment=()):
        done = subprocess.run(["sbatch", "--wait", *arguments], capture_output=True, text=True,
                              timeout=JOB_SECONDS, env={**self.environment, **dict(environment)},
                              cwd=self.folder)
        return done

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def sweep_text():
    return json.dumps({
        "base": {
            "hardware": "tpu-v5e",
            "topology": {"slice": "2x2"},
            "tensor": {"bytes": "64 KiB"},
            "collectives": [{"algorithm": "ring"}, {"label": "int8", "algorithm": "equarx"}],
            "numerics": "off",
        },
        "axes": [{"key": "/tensor/bytes",
                  "range": {"from": "64 KiB", "to": "1280 KiB", "step": "64 KiB"}}],
    })


def rows(file):
    with file.open(newline="") as text:
        return list(csv.DictReader(text))


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def test(cluster, program, script):
    sweep = cluster.folder / "sweep.json"
    sweep.write_text(sweep_text())
    out = cluster.folder / "out"
    job = ["--output", f"{cluster.folder}/job-%a.txt", str(script), str(sweep), str(out)]
    program_at = [("EQUARX_SIM", str(program))]

    done = cluster.submit("--array=1-3", *job, environment=program_at)
    texts = "".join(file.read_text() for file in cluster.folder.glob("job-*.txt"))
    check(done.returncode == 0, f"the array failed: {done.stderr}{texts}")
    shards = sorted(out.glob("shard-*-of-3/results.jsonl"))
    check(len(shards) == 3, f"found the shards {shards}")

    merged = out / "all"
    merged.mkdir()
    (merged / "results.jsonl").write_bytes(b"".join(shard.read_bytes() for shard in shards))
    run = [program, "sweep", sweep, "-o"]
    output = subprocess.run([*run, merged], capture_output=True, text=True, check=True).stdout
    check("20 points, 0 computed now, 0 failed" in output, output)
    subprocess.run([*run, out / "single"], capture_output=True, check=True)
    check(rows(merged / "results.csv") == rows(out / "single" / "results.csv"),
          "the merged shards are not the whole sweep")

    done = cluster.submit("--array=2-3", *job, environment=program_at)
    texts = (cluster.folder / "job-2.txt").read_text()
    check(done.returncode != 0 and "must be 1 to N" in texts, f"gaps were accepted: {texts}")


def main():
    program, script = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    with tempfile.TemporaryDirectory(prefix="equarx-slurm-") as folder:
        os.chmod(folder, 0o755)
        try:
            install()
            with Cluster(pathlib.Path(folder)) as cluster:
                test(cluster, program, script)
        except Skip as reason:
            print(f"skipped: {reason}")
            return SKIPPED
    print("the job array computed the whole sweep")
    return 0


if __name__ == "__main__":
    sys.exit(main())
