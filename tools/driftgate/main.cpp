// driftgate: may this device be used for training, inference, preprocessing, or not at all?
#include "command.hpp"

int main(int argc, char** argv) { return driftgate::run_command_line(argc, argv); }
