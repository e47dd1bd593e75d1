# find_package(pythia-tracepoints): pythia::tracepoints, shared, and pythia::tracepoints_static.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/pythia-tracepoints-targets.cmake)
