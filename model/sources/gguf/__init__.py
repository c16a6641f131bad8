"""Files in GGUF, as llama.cpp, Ollama and LM Studio keep a model."""
