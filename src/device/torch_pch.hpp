#pragma once
// The headers of torch that nearly every file of driftgate_torch needs, compiled once.
#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/autograd.h>
