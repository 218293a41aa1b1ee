"""The files of a corpus folder."""

INFO, TOKENS, DOCUMENTS, CHUNKS = "corpus.json", "tokens.npy", "documents.npy", "chunks.npy"
TOKENIZER, TOKEN_BYTES, TOKEN_OFFSETS = "tokenizer.json", "token_bytes.npy", "token_offsets.npy"
CONTENT = (TOKENS, DOCUMENTS, CHUNKS, TOKENIZER, TOKEN_BYTES, TOKEN_OFFSETS)
"""Those that the corpus' digest stands for, in its order."""
