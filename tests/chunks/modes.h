#pragma once

// What nodes of node_program.cpp do, by the name of the mode.
namespace terrane::chunks_test {

void subscriptions();
void measured_window(bool far);
void late();
void crossing();
void handlers();
void stalled();
void misuse();
void unknown_chunk();
void interrupted();
void cramped();
void held();
void held_long();
void long_waits();
void silent_server();
void full_window();
void leaver();
void death();
void server_death();
void parts();
void chains();
void misused_chains();
void hints();
void once();
void goers();
void hosts();
void guest();
void stop();
void dying_guest();
void placed(bool by_messages);
void unplaced();
void placed_death();
void placed_leaver();
void recorded();

}  // namespace terrane::chunks_test
