#pragma once
// JPEG decoding by libjpeg-turbo, as a data loader does it: accurate integer IDCT, smooth chroma upsampling.
//
// Files are not trusted. A file that libjpeg only warns about (cut short, bad codes) is an error too: its pixels would be made up.
// Errors: `bad_jpeg`; `unsupported_jpeg` for colour spaces other than gray and YCbCr or RGB, and for more than 2^26 pixels.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "tensor/buffer.hpp"

namespace driftgate {

// u8 [height, width, 3] in RGB, or [height, width, 1] of a gray file. `where` names the file in messages.
Buffer decode_jpeg(std::span<const std::byte> bytes, const std::string& where);

std::string_view jpeg_library();                        // "libjpeg-turbo 2.1.5": the version that was compiled against

}  // namespace driftgate
