"""The packages of a study; a missing one is reported with the command that installs it."""
from store import QualityError

try:
    import torch  # noqa: F401
except ImportError as error:
    raise QualityError("there is no PyTorch for this interpreter; install it with `apt-get install python3-torch`, and "
                       "run the study with /usr/bin/python3") from error
try:
    import equarx  # noqa: F401
except ImportError as error:
    raise QualityError("there is no package equarx; build it with `bash tools/build.sh release`, and set "
                       "PYTHONPATH=build/release/python") from error
