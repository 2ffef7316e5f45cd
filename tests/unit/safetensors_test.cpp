#include "tensor/safetensors.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "error_name.hpp"
#include "json.hpp"

namespace driftgate {
namespace {

std::string with_length(std::uint64_t length, const std::string& rest) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + rest;
}

std::string file_of(const std::string& header, std::size_t data_bytes) {
  return with_length(header.size(), header + std::string(data_bytes, '\x01'));
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

// The message of the refusal, or "" when the file is accepted. Any other error name is a failure.
std::string refusal(const std::string& bytes) {
  const std::string name = error_name([&] { parse_safetensors(bytes, "golden.safetensors"); });
  const std::string text = error_text([&] { parse_safetensors(bytes, "golden.safetensors"); });
  EXPECT_TRUE(name.empty() || name == "bad_safetensors") << name;
  EXPECT_TRUE(text.empty() || text.find("golden.safetensors") == 0) << text;
  return text;
}

void expect_refused(const std::string& bytes, const std::string& because) {
  EXPECT_NE(refusal(bytes).find(because), std::string::npos) << "wanted: " << because << "\ngot: " << refusal(bytes);
}

Safetensors sample() {
  Safetensors content;
  content.metadata = {{"torch", "2.11.0"}, {"card", "H200 \"x\""}};
  content.tensors["b.f16"] = from_doubles(DType::f16, {3}, {1, -0.0, 65504});
  content.tensors["a.f16"] = from_doubles(DType::f16, {1, 2}, {0.5, INFINITY});
  content.tensors["scalar"] = from_doubles(DType::f64, {}, {0.1});
  content.tensors["empty"] = Buffer(DType::f32, {0, 4});
  content.tensors["complex"] = from_doubles(DType::c64, {1}, {1, 2});
  content.tensors["mask"] = from_doubles(DType::boolean, {3}, {0, 1, 1});
  for (const DType dtype : {DType::bf16, DType::f32, DType::i8, DType::u8, DType::i16, DType::i32, DType::i64}) {
    content.tensors["t." + std::string(name(dtype))] = from_doubles(dtype, {2}, {3, 4});
  }
  return content;
}

void expect_equal(const Safetensors& got, const Safetensors& want) {
  EXPECT_EQ(got.metadata, want.metadata);
  ASSERT_EQ(got.tensors.size(), want.tensors.size());
  for (const auto& [name, buffer] : want.tensors) {
    ASSERT_EQ(got.tensors.count(name), 1u) << name;
    EXPECT_EQ(got.tensors.at(name).dtype, buffer.dtype) << name;
    EXPECT_EQ(got.tensors.at(name).shape, buffer.shape) << name;
    EXPECT_EQ(got.tensors.at(name).bytes, buffer.bytes) << name;
  }
}

TEST(Safetensors, ContentSurvivesTheWayThroughAFile) {
  const TemporaryFolder folder;
  write_safetensors(folder / "f", sample());
  expect_equal(read_safetensors(folder / "f"), sample());
  EXPECT_EQ(error_name([&] { read_safetensors(folder / "absent"); }), "unreadable");
}

TEST(Safetensors, NanPayloadsKeepTheirBits) {
  Safetensors content;
  Buffer& buffer = content.tensors["nan"] = Buffer(DType::f32, {2});
  const std::uint32_t patterns[] = {0xFFC12345, 0x7F800001};
  std::memcpy(buffer.bytes.data(), patterns, sizeof patterns);
  expect_equal(parse_safetensors(to_bytes(content), "f"), content);
}

TEST(Safetensors, EqualContentGivesEqualBytesWithWideTypesFirst) {
  const std::string bytes = to_bytes(sample());
  EXPECT_EQ(bytes, to_bytes(parse_safetensors(bytes, "f")));
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0u);
  const Json header = parse_json(bytes.substr(8, length), "header");
  const auto begin = [&](const char* name) { return header[name]["data_offsets"][0].get<int>(); };
  EXPECT_EQ(begin("complex"), 0);
  EXPECT_LT(begin("t.i64"), begin("t.f32"));
  EXPECT_LT(begin("t.f32"), begin("a.f16"));
  EXPECT_LT(begin("a.f16"), begin("b.f16"));
  EXPECT_LT(begin("b.f16"), begin("mask"));
}

TEST(Safetensors, AcceptsWhatOtherWritersMake) {
  EXPECT_EQ(refusal(file_of("{}", 0)), "");
  EXPECT_EQ(refusal(file_of(R"({"__metadata__":{"format":"pt"},"w":)" + entry("F32", "[2]", "[0,8]") + "}     ", 8)), "");
  EXPECT_EQ(refusal(file_of(R"({"b":)" + entry("U8", "[3]", "[1,4]") + R"(,"a":)" + entry("U8", "[1]", "[0,1]") + "}", 4)), "");
  EXPECT_EQ(refusal(file_of(R"({"e":)" + entry("U8", "[0]", "[1,1]") + R"(,"a":)" + entry("U8", "[1]", "[0,1]") + "}", 1)), "");
}

TEST(Safetensors, RefusesBrokenFrames) {
  expect_refused("", "too short");
  expect_refused("1234567", "too short");
  expect_refused(with_length(10, "{}"), "ends inside its header");
  expect_refused(with_length(~std::uint64_t{0}, "{}"), "more than 100000000 bytes");
  expect_refused(with_length(100'000'001, "{}"), "more than 100000000 bytes");
  expect_refused(with_length(0, ""), "begin with '{'");
  expect_refused(file_of(" {}", 0), "begin with '{'");
  expect_refused(file_of("[]", 0), "begin with '{'");
  const std::string whole = to_bytes(sample());
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_NE(refusal(whole.substr(0, size)), "") << size;
}

TEST(Safetensors, RefusesBrokenHeaders) {
  const std::string good = entry("U8", "[1]", "[0,1]");
  EXPECT_EQ(refusal(file_of(R"({"a":)" + good + "}", 1)), "");
  expect_refused(file_of(R"({"a":)" + good, 1), "bad_json");
  expect_refused(file_of(R"({"a":)" + good + R"(,"a":)" + good + "}", 1), "\"a\" appears twice");
  expect_refused(file_of("{\"a\xff\":" + good + "}", 1), "bad_json");
  expect_refused(file_of(R"({"a":1})", 1), "golden.safetensors: a");
  expect_refused(file_of(R"({"a":{"dtype":"U8","shape":[1]}})", 1), "a.data_offsets");
  expect_refused(file_of(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"strides":[1]}})", 1), "a.strides");
  expect_refused(file_of(R"({"__metadata__":{"n":1}})", 0), "must be a string");
  expect_refused(file_of(R"({"__metadata__":[]})", 0), "must be an object");
}

TEST(Safetensors, RefusesTypesItDoesNotKnow) {
  for (const char* dtype : {"F8_E4M3", "U16", "f32", "", "C128"}) {
    expect_refused(file_of(R"({"a":)" + entry(dtype, "[1]", "[0,1]") + "}", 1), "dtype");
  }
}

TEST(Safetensors, RefusesShapesThatAreNoShapes) {
  const auto shaped = [](const std::string& shape) { return file_of(R"({"a":)" + entry("U8", shape, "[0,1]") + "}", 1); };
  EXPECT_EQ(refusal(shaped("[]")), "");
  for (const char* shape : {"[-1]", "[1.0]", "[\"1\"]", "[null]", "[true]", "[[1]]"}) {
    expect_refused(shaped(shape), "whole numbers");
  }
  expect_refused(shaped("1"), "array");
  expect_refused(shaped("[4294967296,4294967296]"), "overflows");
  expect_refused(shaped("[4294967296,4294967296,0]"), "overflows");
  expect_refused(shaped("[18446744073709551615]"), "overflows");
  expect_refused(file_of(R"({"a":)" + entry("F64", "[2305843009213693952]", "[0,0]") + "}", 0), "overflows");
}

TEST(Safetensors, RefusesExtentsThatDisagreeWithTheShape) {
  const auto placed = [](const std::string& offsets) { return file_of(R"({"a":)" + entry("F32", "[2]", offsets) + "}", 8); };
  EXPECT_EQ(refusal(placed("[0,8]")), "");
  expect_refused(placed("[0,4]"), "spans 4 bytes where its shape needs 8");
  expect_refused(placed("[0,16]"), "spans 16 bytes");
  expect_refused(placed("[8,0]"), "ends before it begins");
  expect_refused(placed("[0]"), "two data_offsets");
  expect_refused(placed("[0,8,16]"), "two data_offsets");
  expect_refused(placed("[-8,0]"), "whole numbers");
}

TEST(Safetensors, RefusesGapsOverlapsAndBytesOutsideTheFile) {
  const auto two = [](const std::string& first, const std::string& second, std::size_t bytes) {
    return file_of(R"({"a":)" + entry("U8", "[4]", first) + R"(,"b":)" + entry("U8", "[4]", second) + "}", bytes);
  };
  EXPECT_EQ(refusal(two("[0,4]", "[4,8]", 8)), "");
  expect_refused(two("[0,4]", "[5,9]", 9), "b: begins after a gap of 1 bytes");
  expect_refused(two("[1,5]", "[5,9]", 9), "a: begins after a gap of 1 bytes");
  expect_refused(two("[0,4]", "[3,7]", 7), "b: overlaps");
  expect_refused(two("[0,4]", "[0,4]", 4), "overlaps");
  expect_refused(two("[0,4]", "[4,8]", 7), "b: ends 1 bytes after the end");
  expect_refused(two("[0,4]", "[4,8]", 9), "1 bytes follow the last tensor");
  expect_refused(file_of(R"({"a":)" + entry("U8", "[9223372036854775807]", "[0,9223372036854775807]") + "}", 1), "after the end");
}

TEST(Safetensors, TheWriterRefusesWhatNoReaderCouldTake) {
  const auto refused = [](const std::string& name, Buffer buffer) {
    Safetensors content;
    content.tensors[name] = std::move(buffer);
    return error_name([&] { to_bytes(content); });
  };
  EXPECT_EQ(refused("w", Buffer(DType::f32, {2})), "");
  EXPECT_EQ(refused("w", Buffer(DType::c128, {2})), "bad_safetensors");
  EXPECT_EQ(refused("__metadata__", Buffer(DType::f32, {2})), "bad_safetensors");
  EXPECT_EQ(refused("w\xff", Buffer(DType::f32, {2})), "bad_safetensors");
  Buffer short_of_bytes(DType::f32, {2});
  short_of_bytes.bytes.pop_back();
  EXPECT_EQ(refused("w", short_of_bytes), "bad_safetensors");
}

}  // namespace
}  // namespace driftgate
