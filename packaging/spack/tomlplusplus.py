# The recipe of toml++, for versions of Spack that have none.
from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage


class Tomlplusplus(CMakePackage):
    """Headers that read and write TOML, for C++17."""

    homepage = "https://marzer.github.io/tomlplusplus/"
    git = "https://github.com/marzer/tomlplusplus.git"

    license("MIT")

    version("3.4.0", tag="v3.4.0", commit="30172438cee64926dc41fdd9c11fb3ba5b2ba9de")

    depends_on("cxx", type="build")
    depends_on("cmake@3.14:", type="build")
