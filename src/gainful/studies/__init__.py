"""Reproduce the experiments of the papers behind gainful, on any collection: their tables, figures and findings.

Nothing is computed here that the layers below do not compute: a study says what to compute, and puts the published
figures beside it.

>>> import gainful as gf
>>> callable(gf.studies.negative_labels)
True
"""

import lazy_loader

# Bound before any of their modules can be imported, or the packages would stand in the place of the functions.
from gainful.studies.forbidden_documents import forbidden_documents as forbidden_documents
from gainful.studies.gain_discount import gain_discount as gain_discount
from gainful.studies.incomplete_judgments import incomplete_judgments as incomplete_judgments
from gainful.studies.negative_labels import negative_labels as negative_labels

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
