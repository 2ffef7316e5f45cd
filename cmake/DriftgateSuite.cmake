# Declares CTest entries over the one runner, `driftgate run --judge`.
#
#   driftgate_suite(DEVICES cpu mps POLICIES fp32 fp16 OPERATORS softmax linalg:fp32 MODELS models:fp32,amp_fp16)
#
#   gate.<device>                        the device is here and fit to be judged; everything on it requires this
#   drift.<family>.<policy>.<device>     all cases of a family under a policy (of those after ':', else of all POLICIES)
#   drift.smoke.<policy>.<device>        the smoke tier of all families: seconds
#   report.<device>                      console, JSON, Markdown and JUnit reports of all evidence, after the last of them
#
# The families stand under their level: OPERATORS, MODELS, TRAINING, PREPROCESS.
# Exit code 77 means that the device is absent: skipped, and said so. Labels: level, family, policy, device, and the tier
# (smoke or standard); `ctest -L fp16 -L softmax` selects by both. DRIFTGATE_SUITE_ENTRIES lists each <family>.<policy>.
function(_driftgate_entry name device)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "COMMAND;LABELS;PROPERTIES")
  add_test(NAME "${name}" COMMAND driftgate ${arg_COMMAND})
  set_tests_properties("${name}" PROPERTIES SKIP_RETURN_CODE 77
                       ENVIRONMENT "PYTORCH_ENABLE_MPS_FALLBACK=0;OMP_NUM_THREADS=1"
                       LABELS "${arg_LABELS};${device}" TIMEOUT 1800 ${arg_PROPERTIES})
  if(NOT device STREQUAL cpu)
    set_property(TEST "${name}" PROPERTY RESOURCE_LOCK accelerator)
  endif()
endfunction()

function(_driftgate_device device policies entries)
  set(evidence "${PROJECT_BINARY_DIR}/evidence/${device}")
  _driftgate_entry("gate.${device}" ${device} LABELS gate COMMAND doctor --device ${device}
                   PROPERTIES FIXTURES_SETUP "gate_${device}")
  _driftgate_entry("report.${device}" ${device} LABELS report
                   COMMAND report --under "${evidence}" --format console,json,md,junit --out "${PROJECT_BINARY_DIR}/report-${device}"
                   PROPERTIES FIXTURES_CLEANUP "evidence_${device}")
  foreach(policy IN LISTS policies)
    _driftgate_entry("drift.smoke.${policy}.${device}" ${device} LABELS operators smoke ${policy}
                     COMMAND run --device ${device} --tier smoke --policy ${policy} --judge --fresh --jobs 1
                             --out "${PROJECT_BINARY_DIR}/smoke/${device}/${policy}"
                     PROPERTIES FIXTURES_REQUIRED "gate_${device}")
  endforeach()
  foreach(entry IN LISTS entries)
    string(REPLACE "." ";" words "${entry}")
    list(GET words 0 family)
    list(GET words 1 policy)
    _driftgate_entry("drift.${entry}.${device}" ${device} LABELS ${level_${family}} standard ${family} ${policy}
                     COMMAND run --device ${device} --family ${family} --policy ${policy} --judge --fresh --jobs 1
                             --out "${evidence}/${entry}"
                     PROPERTIES FIXTURES_REQUIRED "gate_${device};evidence_${device}")
  endforeach()
endfunction()

function(driftgate_suite)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "DEVICES;POLICIES;OPERATORS;MODELS;TRAINING;PREPROCESS")
  foreach(level IN ITEMS OPERATORS MODELS TRAINING PREPROCESS)
    foreach(family IN LISTS arg_${level})
      set(policies ${arg_POLICIES})
      if(family MATCHES "^(.+):(.+)$")
        set(family "${CMAKE_MATCH_1}")
        string(REPLACE "," ";" policies "${CMAKE_MATCH_2}")
      endif()
      string(TOLOWER "${level}" "level_${family}")
      foreach(policy IN LISTS policies)
        list(APPEND entries "${family}.${policy}")
        list(APPEND smoke "${policy}")
      endforeach()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES smoke)
  foreach(device IN LISTS arg_DEVICES)
    _driftgate_device(${device} "${smoke}" "${entries}")
  endforeach()
  set(DRIFTGATE_SUITE_ENTRIES "${entries}" PARENT_SCOPE)
endfunction()
