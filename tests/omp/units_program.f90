! All threads write to units that the first thread or any other has opened, read them, and print.
program units
  use omp_lib
  implicit none
  integer, parameter :: rounds = 10
  integer, save :: own(3)
  !$omp threadprivate(own)
  integer :: number, round, thread, bad, found, state
  integer :: seen(0:63), opened(0:63)
  real(8) :: values(4)
  complex(8) :: pair
  character(12) :: text, inside
  logical :: is_open
  character(8) :: mode

  call get_command_argument(1, mode)
  own = 7
  open (newunit=number, status='scratch', action='readwrite')
  bad = 0
  if (mode == 'private') then
    !$omp parallel
    write (number, *) own
    !$omp end parallel
  end if
  !$omp parallel private(round, thread, values, pair, text, inside, found) reduction(+:bad)
  thread = omp_get_thread_num()
  do round = 1, rounds
    values = [1, 2, 3, 4] * 0.5d0 + thread
    pair = cmplx(thread, round, 8)
    text = 'thread'
    write (inside, '(i4)') thread  ! no unit
    read (inside, *) found
    if (found /= thread) bad = bad + 1
    !$omp critical (unit)
    write (number, '(2i5,4f8.2,2f8.2,1x,a12,l2,i5)') thread, round, values, pair, text, thread == 0, own(2)
    !$omp end critical (unit)
    !$omp critical (screen)
    print *, 'printed by', thread, round
    !$omp end critical (screen)
  end do
  open (newunit=opened(thread), status='scratch')
  write (opened(thread), *) thread * 10
  rewind (opened(thread))
  inquire (unit=number, opened=is_open)
  if (.not. is_open) bad = bad + 1
  !$omp end parallel

  rewind (number)
  seen = 0
  do
    read (number, '(2i5,4f8.2,2f8.2,1x,a12,l2,i5)', iostat=state) thread, round, values, pair, text, is_open, found
    if (state /= 0) exit
    seen(thread) = seen(thread) + 1
    if (values(4) /= 2 + thread .or. aimag(pair) /= round .or. text /= 'thread' .or. found < 0) bad = bad + 1
    if (is_open .neqv. thread == 0) bad = bad + 1
  end do
  do thread = 0, omp_get_max_threads() - 1
    if (seen(thread) /= rounds) bad = bad + 1
    read (opened(thread), *) found  ! a unit of another thread
    if (found /= thread * 10) bad = bad + 1
    close (opened(thread))
  end do
  !$omp parallel num_threads(omp_get_max_threads()) private(found)
  !$omp critical
  if (omp_get_thread_num() == omp_get_num_threads() - 1) then
    rewind (number)
    read (number, '(i5)') found
    if (found < 0 .or. found > 63) error stop 'a thread reads what is not there'
  end if
  !$omp end critical
  !$omp end parallel
  close (number)
  if (bad == 0) then
    print *, 'good'
  else
    print *, bad, 'are bad'
  end if
end program
