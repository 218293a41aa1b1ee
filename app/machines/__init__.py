"""Language models as raters: they are asked what people are asked, and kept apart from people everywhere."""
