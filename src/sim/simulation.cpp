#include "sim/simulation.hpp"

#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>
#include <torch/version.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "error.hpp"
#include "sim/autocast.hpp"
#include "sim/callers.hpp"
#include "sim/generator.hpp"
#include "sim/kernels.hpp"
#include "sim/memory.hpp"

namespace driftgate {
namespace {

const c10::Device kDevice(c10::kPrivateUse1, 0);
constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

// One device, one stream, nothing asynchronous.
struct Guard final : c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::PrivateUse1> {
  c10::Device exchangeDevice(c10::Device) const override { return kDevice; }
  c10::Device getDevice() const override { return kDevice; }
  c10::Stream getStream(c10::Device) const noexcept override { return c10::Stream(c10::Stream::DEFAULT, kDevice); }
  c10::Stream getDefaultStream(c10::Device) const override { return c10::Stream(c10::Stream::DEFAULT, kDevice); }
  c10::Stream exchangeStream(c10::Stream) const noexcept override { return c10::Stream(c10::Stream::DEFAULT, kDevice); }
  void synchronizeDevice(c10::DeviceIndex) const override {}
};

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override { return default_generator(); }
  at::Generator getNewGenerator(c10::DeviceIndex) const override { return at::make_generator<SimulatedGenerator>(); }
  at::Device getDeviceFromPtr(void*) const override { return kDevice; }
  void resizePrivateUse1Bytes(const c10::Storage& storage, std::size_t bytes) const override {
    c10::DataPtr data = SimulatedMemory::instance().allocate(bytes);
    std::memcpy(data.get(), storage.data(), std::min(bytes, storage.nbytes()));
    storage.unsafeGetStorageImpl()->set_data_ptr_noswap(std::move(data));
    storage.unsafeGetStorageImpl()->set_nbytes(bytes);
  }
};

at::Tensor empty(c10::SymIntArrayRef sizes, std::optional<at::ScalarType> dtype, std::optional<at::Layout>, std::optional<at::Device>,
                 std::optional<bool>, std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(C10_AS_INTARRAYREF_SLOW(sizes), &SimulatedMemory::instance(), kKeys, c10::dtype_or_default(dtype), format);
}

at::Tensor empty_strided(c10::SymIntArrayRef sizes, c10::SymIntArrayRef strides, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                         std::optional<at::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(C10_AS_INTARRAYREF_SLOW(sizes), C10_AS_INTARRAYREF_SLOW(strides), &SimulatedMemory::instance(), kKeys,
                                           c10::dtype_or_default(dtype));
}

int version_number(const std::string& text) {
  std::istringstream in(text);
  int major = 0, minor = 0;
  char dot = 0;
  in >> major >> dot >> minor;
  return major * 1000 + minor;
}

// Operators with a direct kernel on MPS in this torch (silu_backward by delegation: elsewhere a composite kernel hides its structured
// one), and those whose composite kernel has code for the device inside.
std::vector<std::string> whole_operators(const std::filesystem::path& table) {
  std::vector<std::string> operators = {"copy_", "convolution", "convolution_backward", "conj_physical_"};
  std::istringstream lines(read_text(table));
  std::string name, since, until;
  lines >> name >> since >> until;
  if (name != "op" || since != "direct_since" || until != "direct_until")
    throw Error("bad_kernel_table", table.string(), "must have the columns op, direct_since and direct_until");
  constexpr int kThis = TORCH_VERSION_MAJOR * 1000 + TORCH_VERSION_MINOR;
  while (lines >> name >> since >> until)
    if (version_number(since) <= kThis && (until == "-" || kThis <= version_number(until))) operators.push_back(name);
  return operators;
}

using torch::CppFunction;

void register_kernels(const std::filesystem::path& table) {
  static torch::Library fallback(torch::Library::IMPL, "_", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
  static torch::Library aten(torch::Library::IMPL, "aten", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
  fallback.fallback(CppFunction::makeFromBoxedFunction<&run_on_device>());
  aten.impl("empty.memory_format", TORCH_FN(empty));
  aten.impl("empty_strided", TORCH_FN(empty_strided));
  for (const std::string& name : whole_operators(table)) {
    if (name == "empty.memory_format" || name == "empty_strided") continue;
    const std::size_t dot = name.find('.');
    const c10::OperatorName op("aten::" + name.substr(0, dot), dot == std::string::npos ? "" : name.substr(dot + 1));
    if (c10::Dispatcher::singleton().findSchema(op)) aten.impl(name.c_str(), CppFunction::makeFromBoxedFunction<&run_on_device>());
  }
}

}  // namespace

void open_simulated_device(const SimulationOptions& options) {
  use_profile(make_profile({options.profile, options.ln_onepass, options.winograd}));
  static Guard* const guard = new Guard;                // the registry does not own it, and outlives static objects
  static Hooks* const hooks = new Hooks;
  c10::SetAllocator(c10::kPrivateUse1, &SimulatedMemory::instance());
  static const c10::impl::DeviceGuardImplRegistrar registrar(c10::kPrivateUse1, guard);
  at::RegisterPrivateUse1HooksInterface(hooks);
  c10::register_privateuse1_backend("sim");
  register_kernels(options.kernels);
  register_autocast();
  watch_callers();
}

void plant(std::vector<Fault> faults, bool observe) {
  plant_faults(std::move(faults), observe);
  SimulatedMemory::instance().release_cache();
  reset_generator();
}

std::vector<Activity> activity() { return fault_activity(); }

std::int64_t simulated_bytes() { return SimulatedMemory::instance().allocated(); }

}  // namespace driftgate
