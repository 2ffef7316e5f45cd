// The log-mel spectrogram of speech models: |STFT|², mel filters, log10 with a floor of 8 decades below the peak.
#include <ATen/ATen.h>

#include "preprocess/mel.hpp"
#include "preprocess/programs.hpp"
#include "preprocess/source.hpp"

namespace driftgate::preprocess {
namespace {

struct Spectrogram {
  std::int64_t samples, rate, n_fft, hop, mels;
  explicit Spectrogram(ObjectReader& settings)
      : samples(settings.integer("samples")), rate(settings.integer("rate")), n_fft(settings.integer("n_fft")), hop(settings.integer("hop")),
        mels(settings.integer("mels")) {}
};

ProgramInput table(std::string name, Shape shape, const std::vector<double>& values) {
  return given(std::move(name), from_doubles(DType::f64, std::move(shape), values));
}

std::vector<ProgramInput> inputs(ObjectReader& settings) {
  const Spectrogram s(settings);
  return {data("audio", {s.samples}, "normal(scale=0.1)"), table("window", {s.n_fft}, hann_window(s.n_fft)),
          table("filters", {s.mels, s.n_fft / 2 + 1}, mel_filters(s.rate, s.n_fft, s.mels))};
}

std::vector<NamedTensor> run(const ProgramCall& call) {
  ObjectReader settings(call.settings, call.where);
  const Spectrogram s(settings);
  const at::Tensor spectrum = at::stft(call.inputs.at("audio"), s.n_fft, s.hop, s.n_fft, call.inputs.at("window"), /*center=*/true, "reflect",
                                       /*normalized=*/false, /*onesided=*/true, /*return_complex=*/true);
  const at::Tensor mel = at::matmul(call.inputs.at("filters"), spectrum.abs().square());
  const at::Tensor logarithm = mel.clamp_min(1e-10).log10();
  return {{"mel", mel}, {"log_mel", at::maximum(logarithm, logarithm.max() - 8).add(4).div(4)}};
}

}  // namespace

Program log_mel() { return {"preprocess::log_mel", inputs, run}; }

}  // namespace driftgate::preprocess
