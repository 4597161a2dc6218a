"""Reads the recipe with rattler-build, which conda-forge builds with.

    check.py recipe.yaml
"""

import re
import sys

from rattler_build import Stage0Recipe

recipe = Stage0Recipe.from_file(sys.argv[1])
text = open(sys.argv[1]).read()
needed = text[text.index("requirements:") : text.index("tests:")]
assert not re.search(r"\bmpi|openmpi|mpich", needed), needed
print(f"  {type(recipe).__name__} was read")
