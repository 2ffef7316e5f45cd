#include "image/jpeg.hpp"

#include <csetjmp>
#include <cstdio>

#include <jpeglib.h>

#include "error.hpp"

namespace driftgate {
namespace {

#define DRIFTGATE_TEXT_OF(x) #x
#define DRIFTGATE_TEXT(x) DRIFTGATE_TEXT_OF(x)

constexpr std::uint64_t kMostPixels = std::uint64_t{1} << 26;
constexpr int kMostScans = 100;                         // a progressive file has about ten; thousands of tiny ones take hours

// libjpeg calls back into these: they leave by longjmp, and no object with a destructor lives between here and setjmp.
struct Handler {
  jpeg_error_mgr base;
  std::jmp_buf escape;
  char message[JMSG_LENGTH_MAX];
};

void escape(j_common_ptr info) {
  auto* handler = reinterpret_cast<Handler*>(info->err);
  handler->base.format_message(info, handler->message);
  std::longjmp(handler->escape, 1);
}

void escape_on_warning(j_common_ptr info, int level) {
  if (level < 0) escape(info);
}

void limit_scans(j_common_ptr info) {
  auto* handler = reinterpret_cast<Handler*>(info->err);
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= kMostScans) return;
  std::snprintf(handler->message, sizeof handler->message, "more than %d scans", kMostScans);
  std::longjmp(handler->escape, 1);
}

class Decoder {
 public:
  Decoder(std::span<const std::byte> bytes, std::string where) : bytes_(bytes), where_(std::move(where)) {
    info_.err = jpeg_std_error(&handler_.base);
    handler_.base.error_exit = escape;
    handler_.base.emit_message = escape_on_warning;
    progress_.progress_monitor = limit_scans;
  }
  ~Decoder() { jpeg_destroy_decompress(&info_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  Buffer decode() {
    if (!read_header()) throw bad();
    if (info_.jpeg_color_space != JCS_GRAYSCALE && info_.jpeg_color_space != JCS_YCbCr && info_.jpeg_color_space != JCS_RGB)
      throw Error("unsupported_jpeg", where_, "its colours are neither gray, YCbCr nor RGB", "convert it to RGB");
    if (std::uint64_t{info_.image_width} * info_.image_height > kMostPixels)
      throw Error("unsupported_jpeg", where_, std::to_string(info_.image_width) + " x " + std::to_string(info_.image_height) + " pixels are too many");
    const std::int64_t channels = info_.jpeg_color_space == JCS_GRAYSCALE ? 1 : 3;
    Buffer pixels(DType::u8, {info_.image_height, info_.image_width, channels});
    if (!read_pixels(reinterpret_cast<JSAMPLE*>(pixels.bytes.data()), static_cast<std::size_t>(info_.image_width * channels))) throw bad();
    return pixels;
  }

 private:
  Error bad() const { return Error("bad_jpeg", where_, handler_.message, "the file is damaged, cut short or no JPEG"); }

  bool read_header() {
    if (setjmp(handler_.escape) != 0) return false;
    jpeg_create_decompress(&info_);
    info_.progress = &progress_;
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(bytes_.data()), static_cast<unsigned long>(bytes_.size()));
    jpeg_read_header(&info_, TRUE);
    return true;
  }

  bool read_pixels(JSAMPLE* pixels, std::size_t row_bytes) {
    if (setjmp(handler_.escape) != 0) return false;
    info_.out_color_space = info_.jpeg_color_space == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
    info_.dct_method = JDCT_ISLOW;
    info_.do_fancy_upsampling = TRUE;
    jpeg_start_decompress(&info_);
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW row = pixels + info_.output_scanline * row_bytes;
      jpeg_read_scanlines(&info_, &row, 1);
    }
    jpeg_finish_decompress(&info_);
    return true;
  }

  std::span<const std::byte> bytes_;
  std::string where_;
  Handler handler_{};
  jpeg_progress_mgr progress_{};
  jpeg_decompress_struct info_{};
};

}  // namespace

Buffer decode_jpeg(std::span<const std::byte> bytes, const std::string& where) {
  if (bytes.empty()) throw Error("bad_jpeg", where, "no bytes");
  return Decoder(bytes, where).decode();
}

std::string_view jpeg_library() { return "libjpeg-turbo " DRIFTGATE_TEXT(LIBJPEG_TURBO_VERSION); }

}  // namespace driftgate
