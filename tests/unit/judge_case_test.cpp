// Every rule of judging: a record that passes, and its twin that must not.
#include <cmath>
#include <functional>
#include <gtest/gtest.h>

#include "judge_fixture.hpp"

namespace driftgate {
namespace {

using Change = std::function<void(CaseRecord&)>;

// The verdict on a softmax record that needs 32 of 64, after `change`.
std::string after(const Change& change) {
  static const ToleranceRow row = row_of("softmax", 64);
  CaseRecord record = record_of(id_of("softmax", "fp32"), {output_of(Bound::general, 32)});
  change(record);
  return verdict(judge_one(record, row));
}

std::string after_output(const std::function<void(OutputRecord&)>& change) {
  return after([&](CaseRecord& record) { change(record.outputs[0]); });
}

double& required(OutputRecord& output) { return output.comparison.required[static_cast<std::size_t>(output.bound)]; }
double& zeros(OutputRecord& output) { return output.comparison.zeros_required; }

TEST(JudgeCase, SoundRecordPasses) {
  EXPECT_EQ(after([](CaseRecord&) {}), "pass");
}

TEST(JudgeCase, StageThatIsNotDoneDecides) {
  for (const char* stage : {"crashed", "timed_out", "out_of_memory", "raised", "wrong_shape"}) {
    EXPECT_EQ(after([&](CaseRecord& record) { record.stage = stage; }), std::string("fail ") + stage);
  }
  EXPECT_EQ(after([](CaseRecord& record) { record.stage = "unsupported"; }), "skip unsupported");
  EXPECT_EQ(after([](CaseRecord& record) { record.stage = "no_reference"; }), "error no_reference");
  EXPECT_EQ(after([](CaseRecord& record) { record.stage = "dnoe"; }), "error dnoe");
}

TEST(JudgeCase, FallbackToTheCpuProvesNothing) {
  for (const char* warning : {"The operator 'aten::x' is not currently supported on the MPS backend and will fall back to run on the CPU.",
                              "View operators don't support falling back to run on the CPU, since"}) {
    EXPECT_EQ(after([&](CaseRecord& record) { record.warnings = {warning}; }), "untrusted cpu_fallback");
  }
  EXPECT_EQ(after([](CaseRecord& record) { record.warnings = {"index_add_ has no deterministic implementation"}; }), "pass");
}

TEST(JudgeCase, InputsMustBeTheGoldens) {
  EXPECT_EQ(after([](CaseRecord& record) { record.golden_input_differs = true; }), "error golden_input_differs");
}

TEST(JudgeCase, NothingComparedIsNeverAPass) {
  EXPECT_EQ(after([](CaseRecord& record) { record.outputs.clear(); }), "error no_output");
}

TEST(JudgeCase, EveryInputMustMatter) {
  EXPECT_EQ(after([](CaseRecord& record) { record.inert = {"weight"}; }), "untrusted inert_input");
}

TEST(JudgeCase, ZerosMustNotPass) {
  EXPECT_EQ(after_output([](OutputRecord& output) { zeros(output) = 65; }), "pass");
  EXPECT_EQ(after_output([](OutputRecord& output) { zeros(output) = 64; }), "untrusted zeros_would_pass");
  EXPECT_EQ(after_output([](OutputRecord& output) { zeros(output) = kAbsent; }), "pass") << "not known: would not pass";
  EXPECT_EQ(after([](CaseRecord& record) {
              record.outputs.push_back(output_of(Bound::general, 1, "grad.self"));
              zeros(record.outputs[1]) = 0;
            }),
            "pass")
      << "one output that zeros would fail is enough";
}

TEST(JudgeCase, StoredDoublesMustAgreeWithTheLocalReference) {
  EXPECT_EQ(after_output([](OutputRecord& output) { output.golden->reference_gap = 0.01; }), "pass");
  EXPECT_EQ(after_output([](OutputRecord& output) { output.golden->reference_gap = 0.011; }), "untrusted reference_disagrees");
  EXPECT_EQ(after_output([](OutputRecord& output) { output.golden->reference_gap = kAbsent; }), "untrusted reference_disagrees");
  const auto integers = [](OutputRecord& output) {
    output.dtype = "i64";
    output.golden->reference_gap = kAbsent;
  };
  EXPECT_EQ(after_output(integers), "pass") << "integers are exact on every machine";
}

TEST(JudgeCase, GoldenMustBeWithinTheLimitItself) {
  EXPECT_EQ(after_output([](OutputRecord& output) { output.golden->required = output.golden->spread = 64; }), "pass");
  EXPECT_EQ(after_output([](OutputRecord& output) { output.golden->required = 65; }), "untrusted golden_over_limit");
  EXPECT_EQ(after_output([](OutputRecord& output) { output.golden->spread = 65; }), "untrusted golden_over_limit");
  EXPECT_EQ(after_output([](OutputRecord& output) { output.golden->required = kAbsent; }), "untrusted golden_over_limit");
  EXPECT_EQ(after_output([](OutputRecord& output) { output.golden->spread = kAbsent; }), "untrusted golden_over_limit");
}

TEST(JudgeCase, RequiredMustBeWithinTheLimit) {
  EXPECT_EQ(after_output([](OutputRecord& output) { required(output) = 64; }), "pass");
  EXPECT_EQ(after_output([](OutputRecord& output) { required(output) = std::nextafter(64.0, 65.0); }), "fail over_limit");
  EXPECT_EQ(after_output([](OutputRecord& output) { required(output) = kInf; }), "fail nonfinite");
}

TEST(JudgeCase, NotANumberNeverPasses) {
  EXPECT_EQ(after_output([](OutputRecord& output) { required(output) = kAbsent; }), "fail nonfinite");
  EXPECT_EQ(after_output([](OutputRecord& output) { output.bound = Bound::linear; }), "fail nonfinite") << "that bound was not measured";
  EXPECT_EQ(after_output([](OutputRecord& output) { output.golden->direct = kAbsent; }), "fail golden_distance");
}

TEST(JudgeCase, DistanceToTheGoldenIsLimitPlusItsOwnError) {
  EXPECT_EQ(after_output([](OutputRecord& output) { output.golden->direct = 65; }), "pass");
  EXPECT_EQ(after_output([](OutputRecord& output) { output.golden->direct = 65.5; }), "fail golden_distance");
}

TEST(JudgeCase, WithoutAGoldenNothingIsProvenButDriftIsSeen) {
  const Change none = [](CaseRecord& record) {
    record.golden_missing = true;
    record.outputs[0].golden.reset();
  };
  EXPECT_EQ(after(none), "untrusted golden_missing");
  EXPECT_EQ(after_output([](OutputRecord& output) { output.golden.reset(); }), "untrusted golden_missing");
  EXPECT_EQ(after([&](CaseRecord& record) {
              none(record);
              required(record.outputs[0]) = 65;
            }),
            "fail over_limit");
}

TEST(JudgeCase, EarlierRulesComeFirst) {
  const auto spoil = [](CaseRecord& record, int from) {
    if (from <= 0) record.stage = "crashed";
    if (from <= 1) record.warnings = {"will fall back to run on the CPU"};
    if (from <= 2) record.golden_input_differs = true;
    if (from <= 3) record.inert = {"self"};
    if (from <= 4) zeros(record.outputs[0]) = 0;
    if (from <= 5) record.outputs[0].golden->reference_gap = kInf;
    if (from <= 6) record.outputs[0].golden->required = 65;
    if (from <= 7) required(record.outputs[0]) = 65;
    if (from <= 8) record.outputs[0].golden->direct = 1e6;
    record.golden_missing = true;
  };
  const char* expected[] = {"fail crashed", "untrusted cpu_fallback", "error golden_input_differs", "untrusted inert_input",
                            "untrusted zeros_would_pass", "untrusted reference_disagrees", "untrusted golden_over_limit",
                            "fail over_limit", "fail golden_distance", "untrusted golden_missing"};
  for (int from = 0; from < 10; ++from) {
    EXPECT_EQ(after([&](CaseRecord& record) { spoil(record, from); }), expected[from]);
  }
}

TEST(JudgeCase, WorstOutputIsShown) {
  const ToleranceRow row = row_of("softmax", 64);
  CaseRecord record = record_of(id_of("softmax", "fp32"), {output_of(Bound::general, 8), output_of(Bound::general, 48, "grad.self"),
                                                          output_of(Bound::general, 16, "grad.weight")});
  Judgement j = judge_one(record, row);
  EXPECT_EQ(verdict(j), "pass");
  EXPECT_EQ(j.output, "grad.self");
  EXPECT_EQ(j.required, 48);
  EXPECT_EQ(j.limit, 64);
  EXPECT_EQ(j.golden_required, 1);
  EXPECT_DOUBLE_EQ(j.ratio, 3);
  EXPECT_EQ(j.row, &row);

  record.outputs[0].golden->direct = 1e6;
  j = judge_one(record, row);
  EXPECT_EQ(verdict(j), "fail golden_distance");
  EXPECT_EQ(j.output, "result") << "the one that fails";
  required(record.outputs[2]) = kAbsent;
  EXPECT_EQ(judge_one(record, row).output, "grad.weight") << "what is not a number is worst";
}

TEST(JudgeCase, RatioOfNoErrorIsOneAndOverNoErrorInfinite) {
  const auto ratio = [](double mine, double golden) {
    OutputRecord output = output_of(Bound::general, 1);
    output.golden->candidate_rms_error = mine;
    output.golden->rms_error = golden;
    return judge_one(record_of(id_of("softmax", "fp32"), {output}), row_of("softmax", 64)).ratio;
  };
  EXPECT_EQ(ratio(0, 0), 1);
  EXPECT_EQ(ratio(1e-9, 0), kInf);
  EXPECT_EQ(ratio(0, 1e-9), 0);
  EXPECT_EQ(ratio(4e-9, 2e-9), 2);
}

TEST(JudgeCase, ExactOutputsAllowNoDifference) {
  const ToleranceRow row = row_of("copy", 0);
  for (const char* policy : {"fp32", "fp16", "bf16", "amp_fp16"}) {
    const auto after = [&](double differing) {
      OutputRecord output = output_of(Bound::exact, differing);
      output.dtype = name(computed_dtype(parse_policy(policy, "here")));
      return verdict(judge_one(record_of(id_of("copy", policy), {output}), row));
    };
    EXPECT_EQ(after(0), "pass") << policy;
    EXPECT_EQ(after(1), "fail over_limit") << policy;
  }
}

TEST(JudgeCase, IndicesBesideValuesAllowNoDifferenceEither) {
  const auto with_indices = [](double differing) {
    OutputRecord indices = output_of(Bound::exact, differing, "result1");
    indices.dtype = "i64";
    const CaseRecord record = record_of(id_of("softmax", "fp32"), {output_of(Bound::general, 32), indices});
    return verdict(judge_one(record, row_of("softmax", 64)));
  };
  EXPECT_EQ(with_indices(0), "pass");
  EXPECT_EQ(with_indices(1), "fail over_limit") << "the row's 64 is no number of elements";
}

}  // namespace
}  // namespace driftgate
