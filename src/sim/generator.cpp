#include "sim/generator.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Utils.h>

namespace driftgate {
namespace {

constexpr std::uint64_t kUnseeded = 0x5eed5eed;

at::CPUGeneratorImpl& engine_of(const at::Generator& generator) { return *at::check_generator<at::CPUGeneratorImpl>(generator); }

// The whole state, the second normal of a pair included.
void copy_state(const at::Generator& from, const at::Generator& to) {
  at::CPUGeneratorImpl &source = engine_of(from), &target = engine_of(to);
  target.set_engine(source.engine());
  target.set_next_float_normal_sample(source.next_float_normal_sample());
  target.set_next_double_normal_sample(source.next_double_normal_sample());
}

}  // namespace

SimulatedGenerator::SimulatedGenerator()
    : c10::GeneratorImpl(c10::Device(c10::kPrivateUse1, 0), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
      cpu(at::detail::createCPUGenerator()),
      unseeded(at::detail::createCPUGenerator(kUnseeded)) {}

void SimulatedGenerator::set_current_seed(std::uint64_t seed) { cpu.set_current_seed(seed); }
void SimulatedGenerator::set_offset(std::uint64_t offset) { cpu.set_offset(offset); }
std::uint64_t SimulatedGenerator::get_offset() const { return cpu.get_offset(); }
std::uint64_t SimulatedGenerator::current_seed() const { return cpu.current_seed(); }
std::uint64_t SimulatedGenerator::seed() { return cpu.seed(); }
void SimulatedGenerator::set_state(const c10::TensorImpl& state) { cpu.unsafeGetGeneratorImpl()->set_state(state); }
c10::intrusive_ptr<c10::TensorImpl> SimulatedGenerator::get_state() const { return cpu.unsafeGetGeneratorImpl()->get_state(); }

SimulatedGenerator* SimulatedGenerator::clone_impl() const {
  auto* copy = new SimulatedGenerator;
  copy_state(cpu, copy->cpu);
  return copy;
}

const at::Generator& default_generator() {
  static const at::Generator generator = at::make_generator<SimulatedGenerator>();
  return generator;
}

void reset_generator() {
  auto* simulated = static_cast<SimulatedGenerator*>(default_generator().unsafeGetGeneratorImpl());
  simulated->cpu.set_current_seed(c10::default_rng_seed_val);
  simulated->unseeded.set_current_seed(kUnseeded);
}

RandomScope::RandomScope(const at::Generator& generator, RandomMode mode)
    : saved_(at::detail::createCPUGenerator()), advance_(mode != RandomMode::same_samples) {
  const auto* simulated = static_cast<const SimulatedGenerator*>(generator.unsafeGetGeneratorImpl());
  source_ = mode == RandomMode::no_reseed ? simulated->unseeded : simulated->cpu;
  copy_state(at::detail::getDefaultCPUGenerator(), saved_);
  copy_state(source_, at::detail::getDefaultCPUGenerator());
}

RandomScope::~RandomScope() {
  if (advance_) copy_state(at::detail::getDefaultCPUGenerator(), source_);
  copy_state(saved_, at::detail::getDefaultCPUGenerator());
}

}  // namespace driftgate
