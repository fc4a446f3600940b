#pragma once

// What nodes of node_program.cpp do, by the name of the mode.
namespace terrane::chunks_test {

void parts();
void chains();
void misused_chains();
void hints();
void once();
void goers();

}  // namespace terrane::chunks_test
