"""Checks `driftgate pt2` on archives that torch.export.save writes here: what it computes is what Python computes, a planted fault is
named, and a damaged or foreign archive is an error of its own name. Exit code 77 where torch cannot be imported.

    check.py DRIFTGATE DRIFTGATE_SIM FOLDER
"""
import json, os, pathlib, struct, subprocess, sys, warnings, zipfile

try:
    warnings.simplefilter("ignore")
    import torch
except ImportError:
    sys.exit(77)

driftgate, driftgate_sim, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
folder.mkdir(parents=True, exist_ok=True)
failures = []


def check(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED", what)


class Net(torch.nn.Module):
    """Convolution, norm, resize, indexing, a constant, a buffer, several outputs, half precision, a sort."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.head = torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8), torch.nn.Linear(8, 6)
        self.register_buffer("table", torch.arange(12.0).reshape(2, 6) / 7)
        self.register_buffer("hidden", torch.linspace(-1, 1, 6), persistent=False)
        self.scale = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])

    def forward(self, x, index, *, flag):
        x = torch.relu(self.norm(self.conv(x)))
        x = torch.nn.functional.interpolate(torch.nn.functional.max_pool2d(x, 2), scale_factor=2, mode="bilinear")
        x = x.mean((2, 3))
        y = torch.softmax(self.head(x) * self.scale + 2, 1) + self.table + self.hidden
        a, b = torch.split(y, [2, 4], 1)
        mask = torch.zeros_like(y, dtype=torch.bool).logical_or(y > 0.5)
        return torch.cat([b, a], 1).to(torch.float16).float(), x[:, index], y.topk(3)[0], mask, torch.where(mask, y, -float("inf")), flag


class Attention(torch.nn.Module):
    """A transformer layer with an embedding, of a length that is known only when it runs."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(50, 16)
        self.layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0.1)

    def forward(self, tokens):
        x = self.layer(self.embed(tokens))
        return x.reshape(-1, x.shape[-1]), torch.arange(x.shape[1]) * 2


def read_safetensors(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    types = {"F32": torch.float32, "F16": torch.float16, "BOOL": torch.bool, "I64": torch.int64}
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if name == "__metadata__":
            continue
        start, end = entry["data_offsets"]
        tensors[name] = torch.frombuffer(bytearray(data[8 + size + start : 8 + size + end]), dtype=types[entry["dtype"]]).reshape(entry["shape"])
    return tensors


def run(program, *arguments):
    done = subprocess.run([program, "pt2", *map(str, arguments)], capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    return done.returncode, done.stdout, done.stderr


def agrees_with_python(name, model, args, kwargs=None, **export):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = model().eval()
    path = folder / f"{name}.pt2"
    exported = torch.export.export(model, args, kwargs or {}, **export)
    torch.export.save(exported, path)
    with torch.no_grad():
        expected = [value for value in exported.module()(*args, **(kwargs or {})) if isinstance(value, torch.Tensor)]
    saved = folder / f"{name}.safetensors"
    code, out, err = run(driftgate, path, "--device", "cpu", "--save", saved, "--json")
    check(code == 0, f"{name}: exit code {code}\n{out[:2000]}\n{err}")
    if code not in (0, 1):
        return path
    report = json.loads(out)
    schema = json.loads((pathlib.Path(__file__).parents[2] / "docs/schema/pt2.schema.json").read_text())
    fits_schema(report, schema, schema["definitions"], name)
    tensors = read_safetensors(saved)
    check(report["agrees"] and report["first"] is None and len(report["nodes"]) > 8, f"{name}: {report['first']}")
    names = [output["output"] for output in report["outputs"]]
    check(len(names) == len(expected), f"{name}: {len(names)} outputs, not {len(expected)}")
    for output, want in zip(names, expected):
        got = tensors[output]
        same = got.dtype == want.dtype and got.shape == want.shape and torch.allclose(got.double(), want.double(), rtol=1e-6, atol=1e-7)
        check(same, f"{name}: {output} is not what Python computes")
    return path


def fits_schema(document, schema, definitions, where):
    """The keys of objects, as docs/schema/pt2.schema.json has them."""
    for choice in schema.get("anyOf", [schema]):
        choice = definitions[choice["$ref"].split("/")[-1]] if "$ref" in choice else choice
        if isinstance(document, dict) and "properties" in choice:
            keys = set(document)
            check(set(choice["required"]) <= keys <= set(choice["properties"]), f"{where} has the keys {sorted(keys)}")
            for key in keys & set(choice["properties"]):
                fits_schema(document[key], choice["properties"][key], definitions, f"{where}.{key}")
        elif isinstance(document, list) and "items" in choice:
            for item in document:
                fits_schema(item, choice["items"], definitions, where)


def records(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, entries, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def refused(what, path, error):
    code, out, err = run(driftgate, path, "--device", "cpu")
    check(code == 2 and f"[{error}]" in err, f"{what}: exit code {code}, not {error}: {err[:500]}")


def with_model(entries, edit):
    changed = dict(entries)
    model = next(name for name in entries if name.endswith("models/model.json"))
    document = json.loads(entries[model])
    edit(document)
    changed[model] = json.dumps(document)
    return changed


def hostile(path):
    whole, entries = path.read_bytes(), records(path)
    bad = folder / "hostile.pt2"
    root = next(iter(entries)).split("/")[0]
    config = f"{root}/data/weights/model_weights_config.json"

    for length in (0, 10, len(whole) // 3, len(whole) - 30, len(whole) - 1):
        bad.write_bytes(whole[:length])
        refused(f"cut to {length}", bad, "bad_zip")
    refused("no such file", folder / "absent.pt2", "unreadable")
    weight = whole.find(b"/data/weights/weight_0") + 200
    bad.write_bytes(whole[:weight] + bytes([whole[weight] ^ 1]) + whole[weight + 1 :])
    refused("one bit of a weight", bad, "bad_zip")
    refused("compressed", write(bad, entries, zipfile.ZIP_DEFLATED), "unsupported_zip")
    refused("a path outside", write(bad, {**entries, f"{root}/../evil": b"x"}), "bad_zip")
    refused("two roots", write(bad, {**entries, "other/file": b"x"}), "other_layout")
    refused("another format", write(bad, {**entries, f"{root}/archive_version": b"1"}), "other_layout")
    refused("an old archive", write(bad, {f"{root}/serialized_exported_program.json": b"{}", f"{root}/version": b"1"}), "other_layout")

    def without(name):
        return {key: value for key, value in entries.items() if key != f"{root}/{name}"}

    refused("no weight", write(bad, without("data/weights/weight_1")), "missing_entry")
    refused("no config", write(bad, without("data/weights/model_weights_config.json")), "missing_entry")
    refused("no sample inputs", write(bad, without("data/sample_inputs/model.pt")), "missing_entry")
    refused("sample inputs that are none", write(bad, {**entries, f"{root}/data/sample_inputs/model.pt": b"no pickle"}), "bad_inputs")
    refused("two models", write(bad, {**entries, f"{root}/models/other.json": b"{}"}), "other_layout")
    refused("half a config", write(bad, {**entries, config: entries[config][:100]}), "bad_json")

    def weights(edit):
        document = json.loads(entries[config])
        edit(document["config"]["conv.weight"])
        return write(bad, {**entries, config: json.dumps(document)})

    refused("a weight outside", weights(lambda w: w.update(path_name="../../etc/passwd")), "bad_weight")
    refused("a huge weight", weights(lambda w: w["tensor_meta"].update(sizes=[{"as_int": 2**31}] * 4)), "bad_weight")
    refused("an overflowing weight", weights(lambda w: w["tensor_meta"].update(strides=[{"as_int": 2**62}] * 4)), "bad_weight")
    refused("a negative weight", weights(lambda w: w["tensor_meta"].update(sizes=[{"as_int": -1}] * 4)), "bad_weight")
    refused("an offset past the end", weights(lambda w: w["tensor_meta"].update(storage_offset={"as_int": 1})), "bad_weight")
    refused("a pickled weight", weights(lambda w: w.update(use_pickle=True)), "unsupported_program")
    refused("a dtype of tomorrow", weights(lambda w: w["tensor_meta"].update(dtype=99)), "unsupported_dtype")

    def graph(edit):
        return write(bad, with_model(entries, lambda document: edit(document["graph_module"]["graph"])))

    refused("another schema", write(bad, with_model(entries, lambda d: d["schema_version"].update(major=9))), "other_schema")
    refused("a model without a graph", write(bad, with_model(entries, lambda d: d["graph_module"].pop("graph"))), "missing_key")
    refused("a lost weight", write(bad, {**entries, config: json.dumps({"config": {}})}), "missing_weight")
    refused("an unknown operator", graph(lambda g: g["nodes"][2].update(target="torch.ops.aten.frobnicate.default")), "unknown_op")
    refused("a function of Python", graph(lambda g: g["nodes"][2].update(target="os.system")), "unsupported_op")
    refused("control flow", graph(lambda g: g["nodes"][2].update(target="torch.ops.higher_order.cond")), "unsupported_op")
    refused("an unknown argument", graph(lambda g: g["nodes"][0]["inputs"][0].update(name="selfish")), "bad_argument")
    refused("a kind of tomorrow", graph(lambda g: g["nodes"][0]["inputs"][3].update(arg={"as_graph": {}})), "unsupported_argument")
    refused("a list for a tensor", graph(lambda g: g["nodes"][0]["inputs"][0].update(arg={"as_ints": [1]})), "bad_argument")
    refused("a string for a list", graph(lambda g: g["nodes"][0]["inputs"][3].update(arg={"as_string": "same"})), "no_reference")
    refused("a value from nowhere", graph(lambda g: g["nodes"][0]["inputs"][0]["arg"]["as_tensor"].update(name="ghost")), "bad_program")
    refused("a value made twice", graph(lambda g: g["nodes"][2]["outputs"][0]["as_tensor"].update(name="conv2d")), "bad_program")
    refused("an output from nowhere", graph(lambda g: g["outputs"][0]["as_tensor"].update(name="ghost")), "bad_program")
    refused("an unknown key", graph(lambda g: g["nodes"][0].update(colour="red")), "unknown_key")
    refused("more results than there are", graph(lambda g: g["nodes"][2]["outputs"].append({"as_tensor": {"name": "more"}})), "bad_program")
    refused("deep json", write(bad, {**entries, f"{root}/models/model.json": b"[" * 100000}), "bad_json")


def planted(path):
    """On the simulated device: clean it agrees, and a fault in one operator names that operator's node."""
    code, out, err = run(driftgate_sim, path, "--device", "sim", "--json")
    check(code == 0, f"simulated, no fault: exit code {code}\n{out[:1500]}{err[:500]}")
    for op, effect in (("aten::addmm|aten::linear", {"kind": "scale", "by": 1.001}), ("aten::_softmax", {"kind": "round_output", "bits": 11}),
                       ("aten::mean", {"kind": "drop_last_term"}), ("aten::upsample_bilinear2d", {"kind": "zero_output"})):
        faults = folder / "faults.json"
        faults.write_text(json.dumps({"faults": [{"name": "planted", "op": op, "effect": effect}]}))
        code, out, err = run(driftgate_sim, path, "--device", "sim", "--faults", faults, "--json")
        first = (json.loads(out)["first"] or {}).get("target", "") if code in (0, 1) else err
        names = {part.split("::")[1].strip("_") for part in op.split("|")}
        check(code == 1 and any(name in first for name in names), f"a fault in {op}: exit code {code}, first '{first}'")


net = agrees_with_python("net", Net, (torch.randn(2, 3, 8, 8), torch.tensor([1, 3])), {"flag": 3})
length = torch.export.Dim("length", min=2, max=40)
agrees_with_python("attention", Attention, (torch.arange(21).reshape(3, 7),), dynamic_shapes={"tokens": {1: length}})
hostile(net)
planted(net)
print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)
