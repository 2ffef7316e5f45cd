#pragma once
// The programs of level preprocess. Pictures come as levels (u8): those of a JPEG file of tests/data/jpeg ("picture"), or noise of a
// given "shape" [n, channels, height, width]. Their outputs are levels again wherever a loader's would be, else floats in the policy's dtype.
//
//   decode     {"picture"}                                        the file's bytes → [height, width, channels]; reference: another decoder's pixels
//   resize     {source, "mode", "size", "antialias", "align_corners", "levels"}     "levels": the operator takes u8 itself
//   crop, flip, pad, layout, round_trip, collate                  moves of levels: nothing may change
//   colour     {source, "to": gray | ycbcr | rgb | round_trip}
//   normalise  {source, "mean", "deviation", "channels_last"}
//   log_mel    {"samples", "rate", "n_fft", "hop", "mels"}
//   classify   {"pictures", …}                                    from the files to the class that a small convnet finds
#include "models/program.hpp"

namespace driftgate::preprocess {

Program decode();
Program resize_program();
std::vector<Program> moves();
Program colour();
Program normalise_program();
Program log_mel();
Program classify();

std::vector<Program> programs();                        // all of them

}  // namespace driftgate::preprocess
