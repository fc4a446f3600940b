! OpenMP in Fortran: loops, reductions, threadprivate common blocks, locks.
program fortran_program
  use omp_lib
  implicit none
  integer, parameter :: n = 1000
  integer :: i, threads, kept, total, order(20), length
  real(8) :: x(n), s
  integer :: block(300)
  common /shared_block/ block
!$omp threadprivate(/shared_block/)
  integer (omp_lock_kind) :: lock
  logical :: good

  good = .true.
!$omp parallel do schedule(dynamic, 7)
  do i = 1, n
    x(i) = 2 * i
  end do
  s = 0
!$omp parallel do reduction(+:s)
  do i = 1, n
    s = s + x(i)
  end do
  good = good .and. s == n * (n + 1.0d0)
  block = 7
  kept = 0
  threads = 0
!$omp parallel copyin(/shared_block/) reduction(+:kept, threads)
  threads = threads + 1
  if (all(block == 7)) kept = kept + 1
!$omp end parallel
  good = good .and. kept == threads .and. threads == omp_get_max_threads()
  call omp_init_lock(lock)
  total = 0
!$omp parallel
  do i = 1, 20
    call omp_set_lock(lock)
    total = total + 1
    call omp_unset_lock(lock)
  end do
!$omp end parallel
  call omp_destroy_lock(lock)
  good = good .and. total == 20 * threads
  length = 0
!$omp parallel do ordered
  do i = 1, 20
!$omp ordered
    length = length + 1
    order(length) = i
!$omp end ordered
  end do
  do i = 1, 20
    good = good .and. order(i) == i
  end do
!$omp parallel workshare
  x = x + 1
!$omp end parallel workshare
  good = good .and. all(x == [(2 * i + 1, i = 1, n)])
  if (good) then
    print '(a)', 'good'
  else
    print '(a)', 'wrong'
    stop 1
  end if
end program
