! Ends of programs in Fortran, in main or in a thread: stops WAY [THREAD]. The threads are those of in_thread.c.
module ways
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env
  implicit none
  character(len=40) :: way
  interface
    subroutine run_in_thread(function, number) bind(c)
      import :: c_funptr, c_int
      type(c_funptr), value :: function
      integer(c_int), value :: number
    end subroutine
  end interface
contains
  subroutine act() bind(c)
    integer :: values(3), at, unit, zero, status
    integer, allocatable :: block(:)
    character(len=8) :: line
    at = command_argument_count() + 4
    zero = at - at
    print '(a)', trim(way)
    flush(output_unit)
    select case (way)
    case ('stop'); stop
    case ('stop_0'); stop 0
    case ('stop_7'); stop 7
    case ('stop_300'); stop 300
    case ('stop_text'); stop 'a text'
    case ('stop_quiet'); stop 6, quiet=.true.
    case ('error_stop'); error stop
    case ('error_stop_9'); error stop 9
    case ('error_stop_0'); error stop 0
    case ('error_stop_text'); error stop 'a text of an error'
    case ('exit'); call exit(5)
    case ('exit_0'); call exit()
    case ('abort'); call abort()
    case ('bounds'); values(at) = 1; print *, values(at)
    case ('no_file'); open(newunit=unit, file='nosuch/file', status='old')
    case ('end_of_file'); open(newunit=unit, file='/dev/null'); read(unit, *) at
    case ('wrong_number'); line = 'no'; read(line, *) at
    case ('allocated'); allocate(block(3)); allocate(block(3))
    case ('division'); print *, at / zero
    case ('unit_left_open'); open(newunit=unit, file='/dev/stdout'); write(unit, '(a)') 'by another unit'
    case ('no_newline'); write(output_unit, '(a)', advance='no') 'no newline'
    case ('many_lines'); call write_lines()
    case ('on_error'); write(error_unit, '(a)') 'on standard error'; stop 11
    case ('read'); read(input_unit, *, iostat=status) at; print '(a,i0,a,i0)', 'read ', at, ', status ', status
    case ('pause_free'); print '(a)', 'nothing happens'
    case default; stop 99
    end select
  end subroutine
  subroutine write_lines()
    integer :: i
    do i = 1, 20000
      write(output_unit, '(a,i0)') 'line ', i
    end do
  end subroutine
end module

program stops
  use ways
  implicit none
  character(len=8) :: who
  integer(c_int) :: number
  call get_command_argument(1, way)
  call get_command_argument(2, who)
  if (who == '') then
    call act()
  else
    read(who, *) number
    call run_in_thread(c_funloc(act), number)
  end if
  print '(a)', 'main ends'
end program
