"""The sources of NPB: where they lie in a folder, and how a program is built of them, in a folder of our own."""
import os
import re
import shutil
import subprocess

SQUARES = ("BT", "SP")  # their MPI versions take a square number of ranks
# gfortran 10 and newer refuse what NPB 3.3 has: X'FF', and one MPI call with arrays of several types.
FORTRAN = "-O3 -std=legacy -fallow-argument-mismatch -fallow-invalid-boz"
# Names of NPB 3.3 (F77, MPIF77) and of NPB 3.4 (FC, MPIFC).
MAKE_DEF = """F77 = {fortran}
FC = {fortran}
MPIF77 = {fortran}
MPIFC = {fortran}
FLINK = {fortran}
FFLAGS = {fortran_flags} {openmp}
FLINKFLAGS = -O3 {openmp}
CC = {c}
MPICC = {c}
CLINK = {c}
CFLAGS = -O3 {openmp}
CLINKFLAGS = -O3 {openmp}
C_LIB = -lm
UCC = cc
BINDIR = ../bin
RAND = randi8
WTIME = wtime.c
"""


class Compilers:
    """Of one side: which folder of NPB it takes, and what compiles it."""

    def __init__(self, kind, fortran, c, openmp=""):
        self.kind, self.fortran, self.c, self.openmp = kind, fortran, c, openmp

    def are_here(self):
        return shutil.which(self.fortran) is not None and shutil.which(self.c) is not None


SIDES = {"libgomp": Compilers("OMP", "gfortran", "gcc", "-fopenmp"),
         "ours": Compilers("OMP", "terrane-gfortran", "terrane-gcc"),
         "MPI": Compilers("MPI", "mpif90", "mpicc")}


def find(folder):
    """{"OMP": path, "MPI": path} of the newest NPB 3 in a folder; MPI may be missing. A sentence where it has no NPB."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    found = {}
    for name in names:
        match = re.fullmatch(r"NPB3\.(\d+)-(OMP|MPI)", name)
        if match and os.path.isfile(os.path.join(folder, name, "sys", "make.common")):
            found.setdefault(int(match[1]), {})[match[2]] = os.path.join(folder, name)
    versions = [version for version, kinds in found.items() if "OMP" in kinds]
    if not versions:
        return (f"{folder} has no folder NPB3.3-OMP or NPB3.4-OMP with NPB's sources; give the folder that NPB's archive "
                "makes, such as NPB3.4.2")
    return found[max(versions)]


class Sources:
    """Copies of NPB for each side below a folder of ours; what the user gave is only read."""

    def __init__(self, kinds, folder, sides):
        self.folders = {}
        for side in sides:
            kind = SIDES[side].kind
            self.folders[side] = os.path.join(folder, side, os.path.basename(kinds[kind]))
            shutil.copytree(kinds[kind], self.folders[side],
                            ignore=shutil.ignore_patterns("*.o", "*.mod", "*.x", "npbparams.*", "make.def", "bin"))
            os.mkdir(os.path.join(self.folders[side], "bin"))
            with open(os.path.join(self.folders[side], "config", "make.def"), "w", encoding="ascii") as file:
                file.write(MAKE_DEF.format(fortran=SIDES[side].fortran, c=SIDES[side].c, openmp=SIDES[side].openmp,
                                           fortran_flags=FORTRAN))

    def build(self, side, program, size):
        """The path of a program of class `size`; None: this side has no such program. Its compiler's words in an error."""
        if SIDES[side].kind == "MPI" and program in SQUARES:
            return None
        done = subprocess.run(["make", program, f"CLASS={size}", "NPROCS=2"], cwd=self.folders[side],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        binaries = os.path.join(self.folders[side], "bin")
        stem = f"{program.lower()}.{size}"
        for name in (stem, f"{stem}.x", f"{stem}.2"):  # NPB 3.3; 3.3.1 and 3.4; MPI
            if done.returncode == 0 and os.path.exists(os.path.join(binaries, name)):
                return os.path.join(binaries, name)
        raise RuntimeError(f"{program} of {side} was not built: " + " / ".join(done.stdout.splitlines()[-4:]))
