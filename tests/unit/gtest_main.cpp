// GoogleTest's main, but a run in which no test was selected fails: a mistyped filter must not look like success.
#include <gtest/gtest.h>

#include <iostream>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int result = RUN_ALL_TESTS();
  if (!GTEST_FLAG_GET(list_tests) && testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    std::cerr << "no test was selected\n";
    return 1;
  }
  return result;
}
