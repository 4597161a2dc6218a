"""Reads the easyconfig with EasyBuild's own parser: parameters that neither EasyBuild nor its
easyblock knows are errors.

    check.py FILE.eb
"""

import sys

from easybuild.easyblocks.generic.configuremake import ConfigureMake
from easybuild.framework.easyconfig.default import DEFAULT_CONFIG
from easybuild.framework.easyconfig.parser import EasyConfigParser

config = EasyConfigParser(sys.argv[1]).get_config_dict()
known = set(DEFAULT_CONFIG) | set(ConfigureMake.extra_options())
unknown = set(config) - known
assert not unknown, f"{sys.argv[1]}: EasyBuild knows no {', '.join(sorted(unknown))}"
assert config["easyblock"] == "ConfigureMake" and config["version"] in sys.argv[1]
needed = [name for name, *_ in config["builddependencies"] + config["dependencies"]]
assert not any("MPI" in name.upper() for name in needed), needed
print(f"  {config['name']}-{config['version']} needs {', '.join(needed)}")
