// The sentence encoder all-MiniLM-L6-v2 with its published weights, on the sentences of data/sentences.json: pooled and normalised
// embeddings, their cosines, and each sentence's nearest other one.
#include <ATen/ATen.h>

#include <algorithm>
#include <filesystem>

#include "error.hpp"
#include "models/model.hpp"
#include "models/models.hpp"
#include "models/weights.hpp"
#include "version.hpp"

namespace driftgate::models {
namespace {

constexpr std::int64_t kLayers = 6, kHeads = 12;
constexpr double kEpsilon = 1e-12;

std::vector<std::vector<double>> token_ids(std::size_t count) {
  const std::filesystem::path file = std::filesystem::path(std::string(kSourceDir)) / "data/sentences.json";
  const Json document = read_json(file);
  ObjectReader reader(document, file.string());
  std::vector<std::vector<double>> sentences;
  for (const Json& sentence : reader.array("sentences")) sentences.push_back(sentence.at("ids").get<std::vector<double>>());
  if (count == 0 || count > sentences.size()) throw Error("bad_value", file.string(), "holds " + std::to_string(sentences.size()) + " sentences");
  sentences.resize(count);
  return sentences;
}

// Token ids as rows of the stored part of the word embeddings, and which of them are not padding.
void add_tokens(std::vector<ProgramInput>& made, std::size_t count, const std::vector<double>& rows) {
  const std::vector<std::vector<double>> sentences = token_ids(count);
  std::size_t longest = 0;
  for (const auto& sentence : sentences) longest = std::max(longest, sentence.size());
  std::vector<double> ids, real;
  for (const auto& sentence : sentences)
    for (std::size_t i = 0; i < longest; ++i) {
      const auto row = i < sentence.size() ? std::find(rows.begin(), rows.end(), sentence[i]) : rows.begin();
      if (row == rows.end()) throw Error("bad_value", "minilm.safetensors", "the word embedding of a token is missing", "run tools/weights.py again");
      ids.push_back(static_cast<double>(row - rows.begin()));
      real.push_back(i < sentence.size() ? 1 : 0);
    }
  const Shape shape = {static_cast<std::int64_t>(count), static_cast<std::int64_t>(longest)};
  made.push_back(given("tokens", from_doubles(DType::i64, shape, ids)));
  made.push_back(given("real", from_doubles(DType::boolean, shape, real)));
}

std::vector<ProgramInput> inputs(ObjectReader& settings) {
  const auto count = static_cast<std::size_t>(settings.integer("sentences"));
  const Safetensors& published = weights("minilm");
  std::vector<ProgramInput> made;
  add_tokens(made, count, to_doubles(published.tensors.at("word_rows")));
  for (const auto& [name, value] : published.tensors)
    if (name != "word_rows") made.push_back(given(name, value));
  return made;
}

at::Tensor norm(const Tensors& t, const std::string& name, const at::Tensor& x) {
  const at::Tensor& weight = t.at(name + ".weight");
  return at::layer_norm(x, weight.sizes(), weight, t.at(name + ".bias"), kEpsilon);
}

at::Tensor encode(const Tensors& t, const std::string& name, const at::Tensor& x, const at::Tensor& mask) {
  const std::int64_t batch = x.size(0), tokens = x.size(1), width = x.size(2);
  const auto heads = [&](const char* part) { return linear(t, name + ".attention.self." + part, x).view({batch, tokens, kHeads, width / kHeads}).transpose(1, 2); };
  const at::Tensor mixed = at::scaled_dot_product_attention(heads("query"), heads("key"), heads("value"), mask);
  const at::Tensor attended = linear(t, name + ".attention.output.dense", mixed.transpose(1, 2).reshape({batch, tokens, width}));
  const at::Tensor y = norm(t, name + ".attention.output.LayerNorm", attended.add(x));
  return norm(t, name + ".output.LayerNorm", linear(t, name + ".output.dense", at::gelu(linear(t, name + ".intermediate.dense", y))).add(y));
}

std::vector<NamedTensor> forward(const Tensors& t, ObjectReader&) {
  const at::Tensor& real = t.at("real");
  at::Tensor x = at::embedding(t.at("embeddings.word_embeddings.weight"), t.at("tokens"))
                     .add(t.at("embeddings.position_embeddings.weight"))
                     .add(t.at("embeddings.token_type_embeddings.weight").select(0, 0));
  x = norm(t, "embeddings.LayerNorm", x);
  const at::Tensor mask = real.unsqueeze(1).unsqueeze(1);
  for (std::int64_t i = 0; i < kLayers; ++i) x = encode(t, "encoder.layer." + std::to_string(i), x, mask);
  const at::Tensor weight = real.unsqueeze(-1).to(x.scalar_type());
  const at::Tensor pooled = x.mul(weight).sum(1).div(weight.sum(1));
  const at::Tensor embeddings = pooled.div(pooled.norm(2, {1}, /*keepdim=*/true));
  const at::Tensor cosine = embeddings.mm(embeddings.t());
  const at::Tensor others = cosine.sub(at::eye(cosine.size(0), cosine.options()), 4);
  return {{"embeddings", embeddings}, {"cosine", cosine}, {"nearest", others.argmax(1)}};
}

}  // namespace

Program minilm() { return make_model("model::minilm", inputs, forward); }

}  // namespace driftgate::models
