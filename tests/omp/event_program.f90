! Events of tasks in Fortran, whose module passes the event itself.
program event_program
  use omp_lib
  implicit none
  integer (kind=omp_event_handle_kind) :: event, other
  integer :: x, order

  x = 0
  order = 0
!$omp parallel shared(x, order)
!$omp single
!$omp task detach(event) depend(out: x)
  x = x + 1
!$omp end task
!$omp task depend(in: x)
  order = order + 10 * x
!$omp end task
!$omp task firstprivate(event) if(.false.)
  order = order + 1
  x = x + 1
  call omp_fulfill_event(event)
!$omp end task
!$omp taskwait
!$omp task detach(other)
  x = x + 1
!$omp end task
  call omp_fulfill_event(other)
!$omp taskwait
!$omp end single
!$omp end parallel
  if (x == 3 .and. order == 21) then
    print '(a)', 'good'
  else
    print *, x, order
    stop 1
  end if
end program
