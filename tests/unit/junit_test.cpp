#include "report/junit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "judged_runs.hpp"

namespace driftgate {
namespace {

// The well-formed XML that the renderer may write: a declaration, elements, double-quoted attributes, text; no comments, no CDATA.
// Returns what is wrong with it, or "".
class XmlCheck {
 public:
  explicit XmlCheck(std::string_view text) : text_(text) {}

  std::string complaint() {
    const std::string_view declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    if (text_.substr(0, declaration.size()) != declaration) return "no declaration";
    if (printable_except_newline(text_) != text_) return "a character that XML cannot hold";
    at_ = declaration.size();
    while (at_ < text_.size() && wrong_.empty()) text_[at_] == '<' ? tag() : character('<');
    if (wrong_.empty() && (!open_.empty() || roots_ != 1)) wrong_ = "elements that do not close, or not one root";
    return wrong_;
  }

 private:
  static std::string printable_except_newline(std::string_view text) {
    std::string out;
    for (std::size_t end; !text.empty(); text.remove_prefix(std::min(end + 1, text.size()))) {
      end = std::min(text.find('\n'), text.size());
      out += printable(text.substr(0, end)) + (end < text.size() ? "\n" : "");
    }
    return out;
  }

  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  void character(char forbidden) {
    if (text_[at_] == forbidden || text_[at_] == '<') wrong_ = "a bare character at " + std::string(text_.substr(at_, 20));
    else if (text_[at_] != '&') ++at_;
    else if (!take("&amp;") && !take("&lt;") && !take("&gt;") && !take("&quot;")) wrong_ = "a bare & at " + std::string(text_.substr(at_, 20));
  }

  std::string word() {
    const std::size_t from = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '-')) ++at_;
    return std::string(text_.substr(from, at_ - from));
  }

  void tag() {
    if (take("</")) {
      if (open_.empty() || word() != open_.back() || !take(">")) wrong_ = "a tag closes what is not open";
      else open_.pop_back();
      return;
    }
    take("<");
    const std::string element = word();
    if (element.empty()) wrong_ = "a tag without a name";
    roots_ += open_.empty() ? 1 : 0;
    while (wrong_.empty() && take(" ")) attribute();
    if (take("/>")) return;
    if (!take(">")) wrong_ = "a tag without an end: " + element;
    open_.push_back(element);
  }

  void attribute() {
    if (word().empty() || !take("=\"")) wrong_ = "a bad attribute";
    while (wrong_.empty() && at_ < text_.size() && text_[at_] != '"') character('"');
    if (wrong_.empty() && !take("\"")) wrong_ = "an open attribute";
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int roots_ = 0;
  std::vector<std::string> open_;
  std::string wrong_;
};

TEST(XmlCheck, SaysNo) {
  const std::string head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  EXPECT_EQ(XmlCheck(head + "<a b=\"1\"><c/>x &amp; y</a>\n").complaint(), "");
  for (const char* body : {"<a>", "<a></b>", "<a/><b/>", "<a b=1/>", "<a b=\"<\"/>", "<a>&</a>", "<a b=\"\"\"/>", "<a>\x01</a>", "<a>\xff</a>", "x"})
    EXPECT_NE(XmlCheck(head + body).complaint(), "") << body;
}

TEST(Junit, EveryJudgementIsATestCase) {
  JudgedRun run = green_run(report_suite());
  run.judgements.resize(6);
  const State states[] = {State::pass, State::approved, State::fail, State::skip, State::untrusted, State::error};
  for (std::size_t i = 0; i < 6; ++i) {
    run.judgements[i].id = "case" + std::to_string(i);
    run.judgements[i].family = "softmax";
    run.judgements[i].policy = Policy::fp32;
    run.judgements[i].state = states[i];
    run.judgements[i].reason = "because";
    run.judgements[i].repro = "again";
  }
  recount(run);
  const std::string text = to_junit(Report{run, {}});
  EXPECT_EQ(XmlCheck(text).complaint(), "");
  const std::string what = "because, row all, golden 5.00e-01, required 1.00e+00, limit 4.00e+00; repeat: again";
  for (const std::string& line : {
           std::string("<testsuites name=\"driftgate\" tests=\"6\" failures=\"1\" errors=\"1\" skipped=\"2\">"),
           std::string("<testcase classname=\"driftgate.softmax.fp32\" name=\"case0\"></testcase>"),
           "name=\"case1\"><system-out>approved: " + what + "</system-out>",
           "name=\"case2\"><failure type=\"because\" message=\"" + what + "\"/>",
           "name=\"case3\"><skipped message=\"skip: " + what + "\"/>",
           "name=\"case4\"><skipped message=\"untrusted: " + what + "\"/>",
           "name=\"case5\"><error type=\"because\" message=\"" + what + "\"/>"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
}

TEST(Junit, HostileTextStaysText) {
  JudgedRun run = green_run(report_suite());
  run.judgements.resize(1);
  Judgement& judgement = run.judgements[0];
  judgement.id = judgement.family = judgement.reason = judgement.repro = run.run.device = "</testcase>\"'<&amp;]]>\x01\n\xff\xef\xbf\xbf";
  for (const State state : {State::pass, State::approved, State::fail, State::skip, State::error}) {
    judgement.state = state;
    recount(run);
    EXPECT_EQ(XmlCheck(to_junit(Report{run, {}})).complaint(), "") << name(state);
  }
}

TEST(Junit, CarriesTheDecisions) {
  const JudgedRun run = green_run(report_suite());
  Decision decision;
  decision.why = "nothing refuses <training>";
  const std::string text = to_junit(Report{run, {decision}});
  EXPECT_EQ(XmlCheck(text).complaint(), "");
  EXPECT_NE(text.find("<property name=\"decision.fp32\" value=\"inconclusive: nothing refuses &lt;training&gt;\"/>"), std::string::npos);
}

}  // namespace
}  // namespace driftgate
