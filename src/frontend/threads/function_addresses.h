#pragma once

// A program at fixed addresses that takes the address of a library's function, such as free, has a
// stub for it, which is that function's address for every module. The stub reads the program's
// data, and those are to be shared: code of other modules, which must not fault, may not go there.
namespace terrane::frontend::threads {

// From now on modules that are not the program's, and those that are loaded later, have the
// functions' own addresses. Before the program's data are shared, as the only thread; after
// set_libraries().
void separate_function_addresses();

}  // namespace terrane::frontend::threads
