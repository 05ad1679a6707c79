# Every public name and where it lives, once: read by type checkers, and by __init__.py to import a name on first use.
from .comparison import LossComparison as LossComparison
from .data import Examples as Examples
from .data import read_examples as read_examples
from .estimator import Estimator as Estimator
from .functions import compare as compare
from .functions import export as export
from .functions import qrels as qrels
from .functions import score as score
from .functions import train as train
from .functions import tune as tune
from .ranker import FRanker as FRanker
from .search import Search as Search
from .settings import Settings as Settings
