"""Runs Spack's recipe with stand-ins for Spack's own names: what it declares, and what its install
step calls. Spack itself is in no registry that tests use.

    check.py package.py
"""

import sys
import types

said = {"version": [], "depends_on": []}
called = []


class Prefix(str):
    def __getattr__(self, name):
        return Prefix(f"{self}/{name}")


class Package:
    prefix = Prefix("/opt/treepie")
    stage = types.SimpleNamespace(path="/tmp/stage")


def which(name, required=False):
    return lambda *words, **options: called.append((name, *words))


def decorator(*_, **__):
    return lambda function: function


names = {
    "version": lambda *words, **options: said["version"].append((words, options)),
    "depends_on": lambda *words, **options: said["depends_on"].append(words[0]),
    "maintainers": lambda *_: None,
    "license": lambda *_, **__: None,
    "which": which,
    "join_path": lambda *parts: "/".join(parts),
    "run_after": decorator,
    "on_package_attributes": decorator,
    "Executable": lambda path: path,
}
spack_package = types.ModuleType("spack.package")
spack_package.__dict__.update(names)
generic = types.ModuleType("spack_repo.builtin.build_systems.generic")
generic.Package = Package
for module in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
    sys.modules[module] = types.ModuleType(module)
sys.modules["spack.package"] = spack_package
sys.modules["spack_repo.builtin.build_systems.generic"] = generic

recipe = {}
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), recipe)
package = recipe["Treepie"]()
package.install(None, Package.prefix)
assert called == [
    ("bash", "scripts/build", "--product"),
    ("bash", "scripts/install", "--no-debug", "--prefix", "/opt/treepie"),
], called
settings = []
environment = types.SimpleNamespace(
    set=lambda *pair: settings.append(pair), unset=lambda name: settings.append((name, None))
)
package.setup_build_environment(environment)
package.setup_run_environment(environment)
assert ("RUSTFLAGS", None) in settings
assert ("TREEPIE_LIBRARY", "/opt/treepie/lib/treepie/libtreepie.so") in settings
assert not any(name.startswith("mpi") for name in said["depends_on"]), said
print(f"  depends on {', '.join(said['depends_on'])}")
