#pragma once

#include <cstddef>

// The functions of OpenMP that programs call by name, which those of Fortran call as well.
extern "C" {
void omp_set_num_threads(int count);
int omp_get_num_threads();
int omp_get_max_threads();
int omp_get_thread_num();
int omp_get_num_procs();
int omp_in_parallel();
void omp_set_dynamic(int is_on);
int omp_get_dynamic();
void omp_set_nested(int is_on);
int omp_get_nested();
double omp_get_wtime();
double omp_get_wtick();
void omp_set_schedule(unsigned kind, int chunk);
void omp_get_schedule(unsigned* kind, int* chunk);
int omp_get_thread_limit();
void omp_set_max_active_levels(int levels);
int omp_get_max_active_levels();
int omp_get_supported_active_levels();
int omp_get_level();
int omp_get_active_level();
int omp_get_ancestor_thread_num(int level);
int omp_get_team_size(int level);
int omp_in_final();
int omp_in_explicit_task();
int omp_get_cancellation();
int omp_get_proc_bind();
int omp_get_num_places();
int omp_get_place_num_procs(int place);
void omp_get_place_proc_ids(int place, int* ids);
int omp_get_place_num();
int omp_get_partition_num_places();
void omp_get_partition_place_nums(int* places);
void omp_set_default_device(int device);
int omp_get_default_device();
int omp_get_num_devices();
int omp_get_device_num();
int omp_get_num_teams();
int omp_get_team_num();
int omp_is_initial_device();
int omp_get_initial_device();
int omp_get_max_task_priority();
void omp_set_num_teams(int count);
int omp_get_max_teams();
void omp_set_teams_thread_limit(int count);
int omp_get_teams_thread_limit();
int omp_pause_resource(int kind, int device);
int omp_pause_resource_all(int kind);
void omp_set_default_allocator(std::size_t allocator);
std::size_t omp_get_default_allocator();
void omp_display_env(int verbose);
}
