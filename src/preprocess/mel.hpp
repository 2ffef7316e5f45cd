#pragma once
// Tables of the log-mel spectrogram, in fp64. They use + - * / alone, no libm: every machine makes the same bits.
//
// Mel scale and filter norm are Slaney's (Auditory Toolbox, 1998), as librosa and the speech models of the field use them: linear
// below 1 kHz, 27 filters an octave factor of 6.4 above; each triangle has area 1 in Hz.
#include <cstdint>
#include <vector>

namespace driftgate {

std::vector<double> hann_window(std::int64_t n);        // periodic: sin²(pi k / n)
// [mels, n_fft / 2 + 1], row-major, from 0 Hz to rate / 2
std::vector<double> mel_filters(std::int64_t rate, std::int64_t n_fft, std::int64_t mels);

double portable_sin(double x);                          // |x| <= 4, error below 1e-15
double portable_exp(double x);                          // |x| <= 32, relative error below 1e-13
double portable_log(double x);                          // 0.01 <= x <= 100, error below 1e-13

}  // namespace driftgate
