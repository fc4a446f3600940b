! map_program.c in Fortran: a column is a page.
program map_program
  implicit none
  include 'terrane/fortran/omp.inc'
  integer, parameter :: rows = 512, columns = 64
  double precision, allocatable :: a(:, :)
  integer :: i
  allocate (a(rows, columns))
  call terrane_map(a, TERRANE_ALL, TERRANE_BLOCK)
  if (command_argument_count() > 0) call terrane_map(a(1:4, :), TERRANE_ALL, TERRANE_BLOCK)
  !$omp parallel do schedule(static, 1)
  do i = 1, columns
    a(:, i) = i
  end do
  !$omp parallel do schedule(static)
  do i = 1, columns
    a(2, i) = -i
  end do
  do i = 1, columns
    if (a(1, i) /= i .or. a(2, i) /= -i .or. a(rows, i) /= i) stop 1
  end do
  print '(a)', 'good'
end program map_program
