#include "image/jpeg.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "error_name.hpp"
#include "json.hpp"
#include "tensor/safetensors.hpp"

namespace driftgate {
namespace {

const std::filesystem::path kPictures = std::filesystem::path(DRIFTGATE_SOURCE_DIR) / "tests/data/jpeg";

std::string bytes_of(const std::string& name) { return read_text(kPictures / (name + ".jpg")); }

Buffer decode(const std::string& bytes) { return decode_jpeg(std::as_bytes(std::span(bytes)), "test.jpg"); }

int largest_difference(const Buffer& a, const Buffer& b) {
  int largest = 0;
  for (std::size_t i = 0; i < a.bytes.size(); ++i) largest = std::max(largest, std::abs(static_cast<int>(a.bytes[i]) - static_cast<int>(b.bytes[i])));
  return largest;
}

TEST(Jpeg, PixelsAreThoseOfAnotherDecoder) {
  const Safetensors golden = read_safetensors(kPictures / "pixels.safetensors");
  EXPECT_GE(golden.tensors.size(), 10U);
  for (const auto& [name, pixels] : golden.tensors) {
    const Buffer decoded = decode(bytes_of(name));
    ASSERT_EQ(decoded.shape, pixels.shape) << name;
    EXPECT_LE(largest_difference(decoded, pixels), 1) << name;
  }
}

TEST(Jpeg, AnotherPictureIsFarFromTheGoldenPixels) {
  const Safetensors golden = read_safetensors(kPictures / "pixels.safetensors");
  EXPECT_GT(largest_difference(decode(bytes_of("baseline_420")), golden.tensors.at("baseline_444")), 50);
}

TEST(Jpeg, FilesThatAreCutShortAreRefused) {
  for (const char* name : {"baseline_444", "progressive_420", "gray", "restart"}) {
    const std::string whole = bytes_of(name);
    EXPECT_NO_THROW(decode(whole)) << name;
    for (std::size_t length = 0; length + 2 < whole.size(); length += 1 + whole.size() / 97)
      EXPECT_EQ(error_name([&] { decode(whole.substr(0, length)); }), "bad_jpeg") << name << " cut to " << length;
  }
}

// A damaged file may still be a picture; what must not happen is a crash, or another error.
TEST(Jpeg, DamagedFilesGiveAPictureOrAnError) {
  int refused = 0;
  for (const char* name : {"baseline_420", "progressive_420", "odd_444"}) {
    const std::string whole = bytes_of(name);
    for (std::size_t at = 0; at < whole.size(); at += 7) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x5A);
      const std::string error = error_name([&] { decode(damaged); });
      EXPECT_TRUE(error.empty() || error == "bad_jpeg" || error == "unsupported_jpeg") << name << " at " << at << ": " << error;
      refused += !error.empty();
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(Jpeg, HugePicturesAndOtherColoursAreRefused) {
  std::string huge = bytes_of("baseline_420");
  const std::size_t frame = huge.find("\xFF\xC0");
  ASSERT_NE(frame, std::string::npos);
  std::fill_n(huge.begin() + static_cast<std::ptrdiff_t>(frame) + 5, 4, '\xF0');            // height and width
  EXPECT_EQ(error_name([&] { decode(huge); }), "unsupported_jpeg");
  EXPECT_EQ(error_name([&] { decode(bytes_of("cmyk")); }), "unsupported_jpeg");
  EXPECT_EQ(error_name([] { decode("\x89PNG\r\n"); }), "bad_jpeg");
  EXPECT_EQ(error_name([] { decode(""); }), "bad_jpeg");
}

TEST(Jpeg, TheLibraryNamesItsVersion) { EXPECT_EQ(jpeg_library().rfind("libjpeg-turbo ", 0), 0U); }

}  // namespace
}  // namespace driftgate
