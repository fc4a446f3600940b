! Edges of OpenMP in Fortran: arguments that are absent, and numbers of eight bytes. Prints "good".
program edges
  use omp_lib
  implicit none
  integer :: number
  logical :: right

  number = 5
  call set(.false.)
  right = number == 5
  call set(.true., number)
  right = right .and. number == 7
  right = right .and. omp_get_ancestor_thread_num(huge(0_8)) == -1
  right = right .and. omp_get_ancestor_thread_num(-huge(0_8)) == -1
  right = right .and. omp_get_team_size(2_8**32) == -1
  call omp_set_num_threads(2_8**32 + 1_8)
  right = right .and. omp_get_max_threads() == omp_get_thread_limit()
  if (right) print '(a)', 'good'
contains
  subroutine set(is_there, value)
    logical, value :: is_there
    integer, optional :: value
    !$omp target data map(value) use_device_addr(value)
    !$omp target has_device_addr(value)
    if (is_there) value = 7
    !$omp end target
    !$omp end target data
  end subroutine set
end program edges
