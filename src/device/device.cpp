#include "device/device.hpp"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/detail/MPSHooksInterface.h>
#include <torch/version.h>
#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 9
#include <c10/core/CachingDeviceAllocator.h>
#endif

#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <sys/utsname.h>
#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

#include "device/counted_memory.hpp"
#include "device/torch_types.hpp"
#include "device/warnings.hpp"
#include "error.hpp"

namespace driftgate {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"cpu", "mps", "cuda", "sim"};

// Variables that change what MPS computes, or where; their presence is part of the environment.
constexpr std::array<const char*, 9> kVariables = {
    "PYTORCH_ENABLE_MPS_FALLBACK", "PYTORCH_MPS_FAST_MATH",      "PYTORCH_MPS_PREFER_METAL",
    "PYTORCH_MPS_METAL_VERSION",   "PYTORCH_DEBUG_MPS_ALLOCATOR", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "ATEN_CPU_CAPABILITY",         "OMP_NUM_THREADS",            "MKL_CBWR"};

#ifdef __APPLE__
std::string sysctl_text(const char* key) {
  std::size_t size = 0;
  if (sysctlbyname(key, nullptr, &size, nullptr, 0) != 0 || size == 0) return "";
  std::string text(size, '\0');
  if (sysctlbyname(key, text.data(), &size, nullptr, 0) != 0) return "";
  text.resize(size > 0 ? size - 1 : 0);
  return text;
}

std::int64_t sysctl_number(const char* key) {
  std::int64_t value = 0;
  std::size_t size = sizeof value;
  return sysctlbyname(key, &value, &size, nullptr, 0) == 0 ? value : -1;
}
#endif

Json host_facts() {
  Json host;
  utsname system{};
  uname(&system);
  host["system"] = std::string(system.sysname) + " " + system.release;
  host["machine"] = system.machine;
#ifdef __APPLE__
  host["model"] = sysctl_text("hw.model");
  host["chip"] = sysctl_text("machdep.cpu.brand_string");
  host["macos"] = sysctl_text("kern.osproductversion");
  host["macos_build"] = sysctl_text("kern.osversion");
  host["translated"] = sysctl_number("sysctl.proc_translated") == 1;
  host["virtual"] = sysctl_number("kern.hv_vmm_present") == 1;
#endif
  return host;
}

// cuBLASLt alone can forbid split-K; cuDNN's attention builds a kernel for every shape, which takes longer than the run.
void choose_cuda_backends(at::Context& context) {
  if (!at::hasCUDA()) return;
  context.setBlasPreferredBackend(at::BlasBackend::Cublaslt);
  context.setSDPUseCuDNN(false);
}

// Recurrent cuDNN kernels have a precision of their own since torch 2.9 (with enums since 2.11); before, the cuDNN flag governs them.
void set_recurrent_precision([[maybe_unused]] at::Context& context, [[maybe_unused]] bool tf32) {
#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 11
  if (at::hasCUDA())
    context.setFloat32Precision(at::Float32Backend::CUDA, at::Float32Op::RNN, tf32 ? at::Float32Precision::TF32 : at::Float32Precision::IEEE);
#endif
}

// Split-K can be forbidden since about torch 2.10; before, only the reduced-precision reduction can. Says whether it was.
template <class Context>
bool forbid_reduced_precision(Context& context) {
  if constexpr (requires { context.setAllowFP16ReductionCuBLAS(false, false); }) {
    context.setAllowFP16ReductionCuBLAS(false, false);
    context.setAllowBF16ReductionCuBLAS(false, false);
    return true;
  } else {
    context.setAllowFP16ReductionCuBLAS(false);
    context.setAllowBF16ReductionCuBLAS(false);
    return false;
  }
}

// The card and its driver, asked of NVML where it is: no CUDA header is needed to build. NVML stays loaded: LibTorch uses it too.
Json nvidia_facts() {
  Json facts = Json::object();
  void* nvml = ::dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (!nvml) return facts;
  const auto call = [&]<class... Arguments>(const char* function, Arguments... arguments) {
    const auto entry = reinterpret_cast<int (*)(Arguments...)>(::dlsym(nvml, function));
    return entry && entry(arguments...) == 0;
  };
  std::array<char, 96> text{};
  void* card = nullptr;
  if (call("nvmlInit_v2")) {
    if (call("nvmlSystemGetDriverVersion", text.data(), static_cast<unsigned>(text.size()))) facts["driver"] = text.data();
    if (call("nvmlDeviceGetHandleByIndex_v2", 0U, &card) && call("nvmlDeviceGetName", card, text.data(), static_cast<unsigned>(text.size())))
      facts["device_name"] = text.data();
    call("nvmlShutdown");
  }
  return facts;
}

}  // namespace

std::string_view name(Device device) { return kNames[static_cast<std::size_t>(device)]; }

Device parse_device(std::string_view text) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == text) return static_cast<Device>(i);
  throw Error("bad_device", "--device", "'" + std::string(text) + "' is not a device", "use cpu, mps or cuda");
}

c10::Device torch_device(Device device) {
  switch (device) {
    case Device::cpu: return c10::Device(c10::kCPU);
    case Device::mps: return c10::Device(c10::kMPS, 0);
    case Device::cuda: return c10::Device(c10::kCUDA, 0);
    case Device::sim: return c10::Device(c10::kPrivateUse1, 0);
  }
  return c10::Device(c10::kCPU);
}

bool available(Device device) {
  try {
    if (device == Device::cuda && !at::hasCUDA()) return false;
    if (device == Device::mps && !at::hasMPS()) return false;
    const at::Tensor probe = at::ones({2}).to(torch_device(device));
    synchronize(device);
    return probe.sum().item<float>() == 2.0F;
  } catch (const std::exception&) {
    return false;
  }
}

Device best_device() {
  for (const Device device : {Device::mps, Device::cuda})
    if (available(device)) return device;
  return Device::cpu;
}

void poison_free_memory(Device device) {
  constexpr int kBlocks = 4;
  for (std::int64_t bytes = 64; bytes <= std::int64_t{1} << 18; bytes *= 2) {
    std::vector<at::Tensor> blocks;
    for (int i = 0; i < kBlocks; ++i) blocks.push_back(at::full({bytes}, 255, at::TensorOptions(c10::kByte).device(torch_device(device))));   // NaN in every float format
  }
  synchronize(device);
}

std::optional<std::int64_t> bytes_in_use(Device device) {
  if (device == Device::mps) {
    at::detail::getMPSHooks().emptyCache();             // waits for what the GPU still holds
    return static_cast<std::int64_t>(at::detail::getMPSHooks().getCurrentAllocatedMemory());
  }
  if (device == Device::cpu) return std::nullopt;
  c10::Allocator* allocator = c10::GetAllocator(torch_device(device).type());
  if (const auto* counted = dynamic_cast<const CountedMemory*>(allocator)) return counted->allocated();
#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 9
  if (auto* caching = dynamic_cast<c10::DeviceAllocator*>(allocator)) return caching->getDeviceStats(0).allocated_bytes[0].current;
#endif
  return std::nullopt;
}

void synchronize(Device device) {
  if (device == Device::mps) at::detail::getMPSHooks().deviceSynchronize();
  if (device == Device::cuda) at::detail::getCUDAHooks().deviceSynchronize(0);
}

Json set_numeric_flags(bool tf32) {
  const WarningCapture quiet;                           // some setters announce that they are experimental
  at::Context& context = at::globalContext();
  context.setFloat32MatmulPrecision(tf32 ? "high" : "highest");
  context.setAllowTF32CuDNN(tf32);
  context.setBenchmarkCuDNN(false);
  context.setDeterministicCuDNN(true);
  context.setDeterministicAlgorithms(true, /*warn_only=*/true);
  context.setDeterministicFillUninitializedMemory(false);
  set_recurrent_precision(context, tf32);
  choose_cuda_backends(context);
  const bool split_k_off = forbid_reduced_precision(context);
  at::set_num_threads(1);
  return Json{{"tf32", tf32},
              {"float32_matmul_precision", tf32 ? "high" : "highest"},
              {"cudnn_benchmark", false},
              {"cudnn_deterministic", true},
              {"deterministic_algorithms", "warn_only"},
              {"cuda_blas", at::hasCUDA() ? "cublaslt" : "none"},
              {"cudnn_attention", false},
              {"reduced_precision_reduction", split_k_off ? "off, split-K off" : "off"},
              {"cpu_threads", 1}};
}

Json describe(Device device) {
  Json facts;
  facts["torch"] = TORCH_VERSION;
  facts["device"] = name(device);
  facts["cpu_capability"] = at::get_cpu_capability();
  facts["host"] = host_facts();
  if (device == Device::cuda && at::hasCUDA()) {
    facts.update(nvidia_facts());
    const auto& hooks = at::detail::getCUDAHooks();
    facts["cuda_runtime"] = hooks.versionCUDART();
    facts["cudnn"] = hooks.versionCuDNN();
    facts["cuda_config"] = hooks.showConfig();
  }
  Json variables = Json::object();
  for (const char* variable : kVariables)
    if (const char* value = std::getenv(variable)) variables[variable] = value;
  facts["variables"] = variables;
  return facts;
}

}  // namespace driftgate
