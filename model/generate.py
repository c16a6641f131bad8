"""Continue a prompt: `python -m model.generate --checkpoint stories --prompt "Once upon"`."""

import time
from argparse import ArgumentParser, Namespace

from model import checkpoint, cli
from model.decoding import Sampling, generate


def _arguments(parser: ArgumentParser) -> None:
    cli.add_checkpoint_arguments(parser)
    parser.add_argument("--prompt", required=True, help="text to continue")
    parser.add_argument("--max-new-tokens", type=int, default=100)
    parser.add_argument("--temperature", type=float, default=0.8, help="above 0")
    parser.add_argument("--top-k", type=int, help="keep the k likeliest tokens (default: all)")
    parser.add_argument("--top-p", type=float, default=0.95, help="above 0, at most 1")
    parser.add_argument("--seed", type=int, default=0, help="same seed, same text")


def _run(arguments: Namespace) -> dict[str, object]:
    sampling = Sampling(
        temperature=arguments.temperature, top_k=arguments.top_k, top_p=arguments.top_p
    )
    loaded = checkpoint.load(arguments.checkpoint, device=arguments.device)
    tokenizer = loaded.tokenizer
    prompt_ids = tokenizer.encode(arguments.prompt)
    started = time.perf_counter()
    new_ids: list[int] = []
    with cli.progress_bar("generate") as on_progress:
        for step in generate(
            loaded.model,
            prompt_ids,
            sampling,
            max_new_tokens=arguments.max_new_tokens,
            seed=arguments.seed,
            end_id=tokenizer.end_id,
        ):
            new_ids.append(step.token_id)
            on_progress(len(new_ids), arguments.max_new_tokens)
    seconds = time.perf_counter() - started
    continuation = tokenizer.decode([i for i in new_ids if i != tokenizer.end_id])
    print(arguments.prompt + continuation)
    return {
        "checkpoint": loaded.name,
        "prompt": arguments.prompt,
        "continuation": continuation,
        "new_tokens": len(new_ids),
        "stopped": _reason(new_ids, tokenizer.end_id, arguments.max_new_tokens),
        "seed": arguments.seed,
        "tokens_per_second": len(new_ids) / seconds,
    }


def _reason(new_ids: list[int], end_id: int, max_new_tokens: int) -> str:
    if new_ids[-1] == end_id:
        return "end of text"
    return "max_new_tokens" if len(new_ids) == max_new_tokens else "context full"


if __name__ == "__main__":
    cli.run(__doc__, _arguments, _run)
