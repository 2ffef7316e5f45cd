#pragma once
// The device's random numbers: a CPU generator of its own. Operators draw from it while a RandomScope is alive.
#include <ATen/core/Generator.h>

namespace driftgate {

struct SimulatedGenerator : c10::GeneratorImpl {
  SimulatedGenerator();
  void set_current_seed(std::uint64_t seed) override;
  void set_offset(std::uint64_t offset) override;
  std::uint64_t get_offset() const override;
  std::uint64_t current_seed() const override;
  std::uint64_t seed() override;
  void set_state(const c10::TensorImpl& state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;
  SimulatedGenerator* clone_impl() const override;

  at::Generator cpu;                                    // seeded as the program asks
  at::Generator unseeded;                               // what faults `no_reseed` draw from: nothing seeds it
};

const at::Generator& default_generator();
void reset_generator();                                 // as at the start of the process

enum class RandomMode : std::uint8_t { sound, same_samples, no_reseed };

// While it is alive, the CPU's default generator draws from `generator`.
class RandomScope {
 public:
  RandomScope(const at::Generator& generator, RandomMode mode);
  ~RandomScope();
  RandomScope(const RandomScope&) = delete;
  RandomScope& operator=(const RandomScope&) = delete;

 private:
  at::Generator source_;
  at::Generator saved_;                                 // the CPU's own state
  bool advance_;
};

}  // namespace driftgate
