#include "tensor/zip.hpp"

#include <gtest/gtest.h>

#include "error_name.hpp"

namespace driftgate {
namespace {

std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

struct Member {
  std::string name, content;
  std::uint64_t method = 0, flags = 0;
};

std::string header_of(const Member& member, bool local) {
  const std::uint64_t size = member.content.size();
  return little(member.flags, 2) + little(member.method, 2) + little(0, 4) + little(crc32(member.content), 4) + little(size, 4) + little(size, 4) +
         little(member.name.size(), 2) + little(0, 2) + (local ? "" : little(0, 2) + little(0, 2) + little(0, 2) + little(0, 4));
}

std::string archive_of(const std::vector<Member>& members) {
  std::string body, directory;
  for (const Member& member : members) {
    directory += little(0x02014b50, 4) + little(20, 2) + little(20, 2) + header_of(member, false) + little(body.size(), 4) + member.name;
    body += little(0x04034b50, 4) + little(20, 2) + header_of(member, true) + member.name + member.content;
  }
  return body + directory + little(0x06054b50, 4) + little(0, 4) + little(members.size(), 2) + little(members.size(), 2) + little(directory.size(), 4) +
         little(body.size(), 4) + little(0, 2);
}

std::string error_of(const std::string& bytes) {
  return error_name([&] {
    const ZipArchive archive(bytes, "test.zip");
    for (const std::string& name : archive.names()) archive.read(name);
  });
}

const std::vector<Member> kTwo = {{"root/a", "hello"}, {"root/b", std::string(1000, 'x')}};

TEST(Zip, ReadsWhatIsStored) {
  const ZipArchive archive(archive_of(kTwo), "test.zip");
  EXPECT_EQ(archive.names(), (std::vector<std::string>{"root/a", "root/b"}));
  EXPECT_EQ(archive.read("root/a"), "hello");
  EXPECT_FALSE(archive.has("root/c"));
  EXPECT_EQ(error_name([&] { archive.read("root/c"); }), "missing_entry");
}

TEST(Zip, ChecksumIsThePublishedOne) { EXPECT_EQ(crc32("123456789"), 0xCBF43926U); }

TEST(Zip, EveryCutIsRefused) {
  const std::string whole = archive_of(kTwo);
  EXPECT_EQ(error_of(whole), "");
  for (std::size_t length = 0; length < whole.size(); ++length) EXPECT_EQ(error_of(whole.substr(0, length)), "bad_zip") << length;
}

TEST(Zip, EveryFlippedBitOfContentIsSeen) {
  const std::string whole = archive_of(kTwo);
  for (std::size_t at = whole.find("hello"); at < whole.find("hello") + 5; ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    EXPECT_EQ(error_of(damaged), "bad_zip");
  }
}

// Whatever byte is damaged, it is read or refused by name.
TEST(Zip, DamagedHeadersNeverCrash) {
  const std::string whole = archive_of(kTwo);
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const int flip : {1, 0x80, 0xFF}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      const std::string error = error_of(damaged);
      EXPECT_TRUE(error.empty() || error == "bad_zip" || error == "unsupported_zip") << at << ": " << error;
    }
}

TEST(Zip, NamesThatLeadOutsideAreRefused) {
  for (const char* name : {"../a", "root/../../a", "/etc/passwd", "root\\a", "", ".."}) EXPECT_EQ(error_of(archive_of({{name, "x"}})), "bad_zip") << name;
  EXPECT_EQ(error_of(archive_of({{"root/..a", "x"}})), "");
}

TEST(Zip, DuplicatesCompressionAndEncryptionAreRefused) {
  EXPECT_EQ(error_of(archive_of({{"a", "x"}, {"a", "y"}})), "bad_zip");
  EXPECT_EQ(error_of(archive_of({{"a", "x", 8, 0}})), "unsupported_zip");
  EXPECT_EQ(error_of(archive_of({{"a", "x", 0, 1}})), "bad_zip");
}

TEST(Zip, EntriesThatShareBytesAreRefused) {
  const std::string whole = archive_of(kTwo);
  std::string shared = whole;                           // the second entry of the directory points to the first one's header
  const std::size_t second = shared.rfind("root/b");
  shared.replace(second, 6, "root/a");
  shared.replace(second - 4, 4, little(0, 4));
  EXPECT_EQ(error_of(shared), "bad_zip");
}

}  // namespace
}  // namespace driftgate
