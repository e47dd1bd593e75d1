# find_package(pythia): the libraries as pythia::base, pythia::stats, … with what they link.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(PkgConfig)
foreach(pair GSL:gsl OPENBLAS:openblas LAPACKE:lapacke HIREDIS:hiredis UV:libuv JANSSON:jansson
        SIMDJSON:simdjson
        XXHASH:libxxhash ZLIB:zlib ZSTD:libzstd)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 target)
  list(GET pair 1 package)
  pkg_check_modules(${target} REQUIRED IMPORTED_TARGET ${package})
endforeach()
find_dependency(pythia-tracepoints)
include(${CMAKE_CURRENT_LIST_DIR}/pythia-targets.cmake)
