#pragma once

// Joins a job by the front-end, works in it and leaves it. Collective.
void begin();
// Whether all nodes come to the same result; `round`: another one for each call.
bool works(int round);
void end();
