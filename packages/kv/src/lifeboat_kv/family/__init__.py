"""The bundled model family: tokenizer, training, tasks and corpus of the models in `models/`."""
