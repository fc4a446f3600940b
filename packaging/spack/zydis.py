# The recipe of Zydis, for versions of Spack that have none.
from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage


class Zydis(CMakePackage):
    """A library that decodes instructions of x86."""

    homepage = "https://zydis.re"
    git = "https://github.com/zyantific/zydis.git"

    license("MIT")

    version("4.1.1", tag="v4.1.1", commit="a2278f1d254e492f6a6b39f6cb5d1f5d515659dc", submodules=True)

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.15:", type="build")

    def cmake_args(self):
        return [
            self.define("ZYDIS_BUILD_SHARED_LIB", True),
            self.define("ZYDIS_BUILD_EXAMPLES", False),
            self.define("ZYDIS_BUILD_TOOLS", False),
        ]
