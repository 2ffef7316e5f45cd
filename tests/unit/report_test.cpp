#include "report/report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "judged_runs.hpp"
#include "report/console.hpp"
#include "report/json.hpp"
#include "report/junit.hpp"
#include "report/markdown.hpp"
#include "schema_complaint.hpp"

namespace driftgate {
namespace {

const std::filesystem::path kSource = DRIFTGATE_SOURCE_DIR;
const std::filesystem::path kSchema = kSource / "docs/schema/report.schema.json";

std::vector<Decision> decisions_of(const JudgedRun& run) {
  return decide(run, report_suite(), DecisionRules::load(kSource / "tolerances/decision.json"));
}

Report report_of(const JudgedRun& run) { return Report{run, decisions_of(run)}; }

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t times_in(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

// Twelve fp32 fails, the last the worst; two skips; one untrusted.
JudgedRun drifting_run() {
  JudgedRun run = green_run(report_suite());
  set_first(run, 15, Policy::fp32, Direction::forward, State::untrusted, "golden_missing");
  set_first(run, 14, Policy::fp32, Direction::forward, State::skip, "unsupported");
  set_first(run, 12, Policy::fp32, Direction::forward, State::fail, "over_limit");
  double required = 5000;
  for (Judgement& judgement : run.judgements)
    if (judgement.state == State::fail) judgement.required = required += 10;
  return run;
}

TEST(Text, NumbersKeepThreeDigits) {
  EXPECT_EQ(scientific(5123), "5.12e+03");
  EXPECT_EQ(scientific(0.00001), "1.00e-05");
  EXPECT_EQ(scientific(kAbsent), "-");
  EXPECT_EQ(scientific(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(times(1.44), "1.4");
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(31204), "31,204");
  EXPECT_EQ(grouped(-1234567), "-1,234,567");
}

TEST(Text, PrintableLeavesNoControlCharacterAndNoBrokenUtf8) {
  EXPECT_EQ(printable("caf\u00e9 \u6e2c \U0001F600 ·"), "caf\u00e9 \u6e2c \U0001F600 ·");
  EXPECT_EQ(printable("a\x1b[31m\n\tb\x7f"), "a?[31m??b?");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a?b");
  EXPECT_EQ(printable("\xff\xc3"), "??") << "a lone byte, a sequence cut short";
  EXPECT_EQ(printable("\xc0\xaf"), "??") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), "???") << "a surrogate";
  EXPECT_EQ(printable("\xef\xbf\xbe"), "?") << "U+FFFE, which XML cannot hold";
  EXPECT_EQ(printable("\u0085\u202e"), "??") << "a C1 control, a right-to-left override";
}

TEST(Console, SaysDeviceCountsAndDecision) {
  const JudgedRun run = green_run(report_suite());
  const std::string text = to_console(report_of(run));
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "driftgate 0.1 · torch 2.13.0 · mps (Apple M4, macOS 26.1 25B78) · golden h200_cu130_torch2.11.0 · "
            "80 planned = 80 executed + 0 skipped");
  EXPECT_TRUE(holds(text, "\n80 planned · 80 executed · 80 pass · 0 approved · 0 fail · 0 skip · 0 untrusted · 0 error\n"));
  EXPECT_TRUE(holds(text, "\n  fp32       inconclusive   nothing refuses training; not proven: models.forward, models.backward, training\n")) << text;
  EXPECT_TRUE(holds(text, "softmax/a0/fp32/forward/canonical, 25 % of its limit, 1.4 x the golden's error"));
  EXPECT_TRUE(holds(text, "models.backward, models.forward, preprocessing, training missing · coverage, determinism, gate, operators.backward, operators.forward pass"));
  EXPECT_TRUE(holds(text, "\n  amp_fp16   inconclusive   no case of this policy was planned\n  amp_bf16 "));
  EXPECT_TRUE(holds(text, "\n             to raise it    models.forward, models.backward, training, preprocessing: no case was planned\n"));
  EXPECT_FALSE(holds(text, "worst deviations"));
  EXPECT_FALSE(holds(text, "not sound"));
  EXPECT_FALSE(holds(text, "TF32"));
}

TEST(Console, ListsTheWorstTenAndCountsTheRest) {
  const JudgedRun run = drifting_run();
  const std::string text = to_console(report_of(run));
  EXPECT_TRUE(holds(text, "= 78 executed + 2 skipped (unsupported 2)")) << text;
  EXPECT_EQ(times_in(text, "repeat: driftgate run --device mps '"), 10U);
  EXPECT_EQ(times_in(text, "next: driftgate explain "), 10U);
  EXPECT_TRUE(holds(text, "\n  and 2 more\n"));
  EXPECT_TRUE(holds(text, "\n  5.12e+03 / 4.00e+00  1.4            sort/")) << "the worst";
  EXPECT_FALSE(holds(text, "\n  5.01e+03 / 4.00e+00")) << "the mildest of twelve";
  EXPECT_TRUE(holds(text, "\n    over_limit, row all, golden 5.00e-01    repeat: "));
  EXPECT_TRUE(holds(text, "\nuntrusted: golden_missing 1\n"));
}

TEST(Console, SaysTf32ClassOnlyWhereFailsCarryIt) {
  JudgedRun run = drifting_run();
  EXPECT_FALSE(holds(to_console(report_of(run)), "TF32-class"));
  int left = 9;
  for (Judgement& judgement : run.judgements) judgement.tf32_class = judgement.state == State::fail && left-- > 0;
  EXPECT_TRUE(holds(to_console(report_of(run)), "\nfp32 on this device is TF32-class: 9 of 12 failing fp32 cases carry the error of the golden's tf32 pass\n"));
  for (Judgement& judgement : run.judgements) judgement.tf32_class = judgement.tf32_class && left++ < 0;
  EXPECT_FALSE(holds(to_console(report_of(run)), "this device is TF32-class")) << "a few do not make a class";
  EXPECT_TRUE(holds(to_console(report_of(run)), "of 12 failing fp32 cases carry the error of the golden's tf32 pass (TF32-class)"));
}

TEST(Console, CountsHalfTiersAndWhetherTheGoldenIsBetter) {
  JudgedRun run = green_run(report_suite());
  int n = 0;
  for (Judgement& judgement : run.judgements) {
    if (judgement.policy != Policy::fp16 || ++n > 3) continue;
    judgement.reached = Tier::loose;
    judgement.golden_required = n == 1 ? 5 : n == 2 ? 3 : kAbsent;
  }
  EXPECT_TRUE(holds(to_console(report_of(run)),
                    "\nfp16: 37 reached the strict tier, 3 the loose one; of those the golden is no better in 1\n"));
}

TEST(Console, SaysWhyARunIsNotSound) {
  JudgedRun run = green_run(report_suite());
  set_first(run, 1, Policy::fp32, Direction::forward, State::error, "not_executed");
  EXPECT_TRUE(holds(to_console(report_of(run)), "the run is not sound: 80 planned, but 79 executed + 0 skipped; 1 errors\n"));
  run = green_run(report_suite());
  run.run.environment = nullptr;
  EXPECT_TRUE(holds(to_console(report_of(run)), "the run is not sound: the gate could not look at the device\n"));
  EXPECT_TRUE(holds(to_console(report_of(JudgedRun{})), "nothing was executed"));
}

TEST(Console, ShowsAPassThatDoesNotRepeat) {
  JudgedRun run = green_run(report_suite());
  run.judgements[0].repeat = State::fail;
  const std::string text = to_console(report_of(run));
  EXPECT_TRUE(holds(text, "\nnot repeatable\n"));
  EXPECT_TRUE(holds(text, "\n    not_repeatable, row all, golden 5.00e-01    repeat: "));
  EXPECT_TRUE(holds(to_junit(report_of(run)), "<failure type=\"not_repeatable\""));
  run.judgements[0].state = State::fail;
  EXPECT_FALSE(holds(to_console(report_of(run)), "\nnot repeatable\n")) << "a fail is listed once";
}

TEST(ReportJson, EveryObjectIsValidAndHoldsItsKeys) {
  JudgedRun run = drifting_run();
  const auto first = std::find_if(run.judgements.begin(), run.judgements.end(), [](const auto& j) { return j.state == State::fail; });
  first->required = std::numeric_limits<double>::infinity();
  first->ratio = kAbsent;
  const Report report = report_of(run);
  for (const std::string& text : {to_judge_json(report), to_decide_json(report), to_json(report)}) EXPECT_EQ(complaint(kSchema, text), "");

  const Json judged = parse_json(to_judge_json(report), "judge");
  EXPECT_EQ(judged.begin().key(), "schema");
  EXPECT_EQ(judged["schema"], "driftgate.judge/1");
  EXPECT_EQ(judged["device"], "mps");
  EXPECT_EQ(judged["counts"]["fail"], 12);
  ASSERT_EQ(judged["deviations"].size(), 13U);
  EXPECT_EQ(judged["deviations"][0]["required"], "inf");
  EXPECT_EQ(judged["deviations"][0]["ratio"], "nan");
  EXPECT_EQ(judged["deviations"][1]["required"], 5120);
  EXPECT_EQ(judged["deviations"][12]["state"], "untrusted");
  EXPECT_EQ(judged["reasons"]["skip"]["unsupported"], 2);

  const Json decided = parse_json(to_decide_json(report), "decide");
  EXPECT_EQ(decided["decisions"].size(), 5U);
  EXPECT_EQ(decided["decisions"]["fp32"]["legs"]["operators.forward"]["counts"]["fail"], 12);
  EXPECT_EQ(decided["decisions"]["fp16"]["missing"], Json::parse(R"(["models.forward", "models.backward", "training", "preprocessing"])"));
  EXPECT_EQ(parse_json(to_json(report), "report")["environment"]["torch"], "2.13.0");
}

TEST(ReportJson, TheSchemaRefusesAnObjectWithoutAKey) {
  const JudgedRun run = drifting_run();
  const Json whole = Json::parse(to_json(report_of(run)));
  for (const char* key : {"schema", "device", "counts", "deviations", "decisions", "environment"}) {
    Json broken = whole;
    broken.erase(key);
    EXPECT_NE(complaint(kSchema, broken.dump()), "") << key;
  }
  Json broken = whole;
  broken["deviations"][0]["required"] = nullptr;
  EXPECT_NE(complaint(kSchema, broken.dump()), "") << "a number that was lost on the way";
}

// A run of one case whose every word is hostile.
JudgedRun hostile_run() {
  JudgedRun run = green_run(report_suite());
  run.judgements.resize(1);
  Judgement& judgement = run.judgements[0];
  judgement.id = judgement.family = judgement.reason = judgement.repro = "<b a=\"1\" c='2'>&amp;]]>|`*x*`\x1b\n\xff";
  judgement.state = State::fail;
  run.run.device = run.run.golden = judgement.id;
  run.run.environment["gate"]["checks"][0]["name"] = judgement.reason;
  run.run.environment["gate"]["checks"][0]["ok"] = false;
  recount(run);
  return run;
}

TEST(Markdown, HoldsTheSameContentInTables) {
  const JudgedRun run = drifting_run();
  const std::string text = to_markdown(report_of(run));
  EXPECT_EQ(text.rfind("# driftgate on mps\n", 0), 0U);
  EXPECT_TRUE(holds(text, "\n| 80 | 78 | 65 | 0 | 12 | 2 | 1 | 0 |\n")) << text;
  EXPECT_TRUE(holds(text, "\n| fp32 | **inconclusive** | "));
  EXPECT_TRUE(holds(text, "\n| 5.12e+03 | 4.00e+00 | 1.4 | "));
  EXPECT_EQ(times_in(text, "| driftgate explain "), 10U);
  EXPECT_TRUE(holds(text, "\nand 2 more\n"));
  EXPECT_TRUE(holds(text, "\n- untrusted: golden_missing 1\n"));
}

TEST(Markdown, HostileTextStaysText) {
  const JudgedRun run = hostile_run();
  const std::string text = to_markdown(report_of(run));
  EXPECT_FALSE(holds(text, "<b"));
  EXPECT_TRUE(holds(text, "&lt;b a=&quot;1&quot; c='2'&gt;&amp;amp;\\]\\]&gt;\\|\\`\\*x\\*\\`???")) << text;
  const std::size_t line = text.find("\n| 1.00e+00");
  ASSERT_NE(line, std::string::npos);
  const std::string row = text.substr(line + 1, text.find('\n', line + 1) - line - 1);
  EXPECT_EQ(times_in(row, "|") - times_in(row, "\\|"), 9U) << "eight cells: " << row;
}

TEST(Console, HostileTextMovesNoCursor) {
  const JudgedRun run = hostile_run();
  const std::string text = to_console(report_of(run));
  EXPECT_FALSE(holds(text, "\x1b"));
  EXPECT_EQ(printable(text).size(), text.size());
}

TEST(ReportJson, HostileTextStaysValid) {
  const JudgedRun run = hostile_run();
  EXPECT_EQ(complaint(kSchema, to_json(report_of(run))), "");
}

}  // namespace
}  // namespace driftgate
