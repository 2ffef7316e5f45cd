#include "sim/profile.hpp"

#include "error.hpp"

namespace driftgate {

Profile make_profile(const ProfileOptions& options) {
  if (options.name != "clean" || options.ln_onepass || options.winograd != "none")
    throw Error("bad_profile", "--profile", "'" + options.name + "' with these switches is not a profile", "use clean");
  return Profile{options.name, {}, {}, {}};
}

}  // namespace driftgate
