from .exhibits import Exhibit as Exhibit
from .findings import Finding as Finding
from .forbidden_documents import forbidden_documents as forbidden_documents
from .gain_discount import gain_discount as gain_discount
from .incomplete_judgments import incomplete_judgments as incomplete_judgments
from .negative_labels import negative_labels as negative_labels
from .result import Study as Study
