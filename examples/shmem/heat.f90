! Heat in a square plate whose left edge is hot, in Fortran: heat.c with the columns spread over the PEs. After each step a PE
! puts its outer columns into its neighbours' memory, each with a signal; there is no barrier between steps.
! Usage: oshfort -O2 heat.f90 -o heat && oshrun -np 4 ./heat [SIZE [STEPS]]
module plate
  use shmem
  implicit none

  ! Data of a module are static, and so symmetric: the step whose column is here, from the left and from the right.
  integer(c_int64_t), save :: arrived(2) = 0

contains

  ! The columns before those of this PE; the PE after the last one has them all.
  pure integer function columns_before(n, pe, pes)
    integer, intent(in) :: n, pe, pes
    columns_before = int(int(n, c_int64_t) * pe / pes)
  end function columns_before

  ! Symmetric memory, as an array: two grids, of which a step reads one and writes the other.
  function make_grids(n, columns) result(grids)
    integer, intent(in) :: n, columns
    real(c_double), pointer, contiguous :: grids(:, :, :)
    type(c_ptr) :: memory
    real(c_double), pointer, contiguous :: from_one(:, :, :)
    memory = shmem_calloc(2 * (n + 2_c_size_t) * (columns + 2_c_size_t), c_sizeof(1.0_c_double))
    if (.not. c_associated(memory)) then
      print '(a)', 'heat: so much symmetric memory is more than there is; take a smaller SIZE'
      call shmem_global_exit(1)
    end if
    call c_f_pointer(memory, from_one, [n + 2, columns + 2, 2])
    grids(0:, 0:, 0:) => from_one
  end function make_grids

  pure subroutine relax(from, to, n, columns)
    integer, intent(in) :: n, columns
    real(c_double), intent(in) :: from(0:n + 1, 0:columns + 1)
    real(c_double), intent(inout) :: to(0:n + 1, 0:columns + 1)
    integer :: j
    do j = 1, columns
      to(1:n, j) = from(1:n, j) + 0.2_c_double * (from(0:n - 1, j) + from(2:n + 1, j) + from(1:n, j - 1) + &
                                                  from(1:n, j + 1) - 4 * from(1:n, j))
    end do
  end subroutine relax

  ! Our column of step s takes the place of our column of step s - 2 in the neighbour's memory, which has read that one:
  ! it did so before it sent us its column of step s - 1, without which there is no step s here.
  subroutine run_steps(grids, n, columns, steps, me, pes)
    integer, intent(in) :: n, columns, steps, me, pes
    real(c_double), intent(inout), contiguous, target :: grids(0:, 0:, 0:)
    integer(c_int64_t) :: step
    integer(c_size_t) :: height
    integer :: new, at_left
    height = int(n + 2, c_size_t)
    at_left = columns_before(n, me, pes) - columns_before(n, max(me - 1, 0), pes)
    do step = 1, steps
      if (me > 0) call shmem_wait_until(arrived(1), SHMEM_CMP_GE, step - 1)
      if (me < pes - 1) call shmem_wait_until(arrived(2), SHMEM_CMP_GE, step - 1)
      new = int(mod(step, 2_c_int64_t))
      call relax(grids(:, 0:columns + 1, 1 - new), grids(:, 0:columns + 1, new), n, columns)
      if (me > 0) call shmem_put_signal(grids(0, at_left + 1, new), grids(0, 1, new), height, arrived(2), step, &
                                        SHMEM_SIGNAL_SET, me - 1)
      if (me < pes - 1) call shmem_put_signal(grids(0, 0, new), grids(0, columns, new), height, arrived(1), step, &
                                              SHMEM_SIGNAL_SET, me + 1)
    end do
  end subroutine run_steps

  ! Whether the columns of all PEs are what one PE finds alone, bit for bit.
  logical function same_as_serial(grids, n, steps, pes)
    integer, intent(in) :: n, steps, pes
    real(c_double), intent(in), contiguous, target :: grids(0:, 0:, 0:)
    real(c_double), allocatable :: alone(:, :, :), whole(:, :)
    integer :: step, pe, first, columns
    allocate (alone(0:n + 1, 0:n + 1, 0:1), whole(0:n + 1, n))
    alone = 0
    alone(:, 0, :) = 100
    do step = 1, steps
      call relax(alone(:, :, mod(step - 1, 2)), alone(:, :, mod(step, 2)), n, n)
    end do
    do pe = 0, pes - 1
      first = columns_before(n, pe, pes) + 1
      columns = columns_before(n, pe + 1, pes) - first + 1
      call shmem_get(whole(0, first), grids(0, 1, mod(steps, 2)), (n + 2_c_size_t) * columns, pe)
    end do
    same_as_serial = all(transfer(whole, 0_c_int64_t, n * (n + 2)) == &
                         transfer(alone(:, 1:n, mod(steps, 2)), 0_c_int64_t, n * (n + 2)))
  end function same_as_serial

  integer function argument(place, default)
    integer, intent(in) :: place, default
    character(len=20) :: text
    integer :: status
    argument = default
    if (command_argument_count() < place) return
    call get_command_argument(place, text)
    read (text, *, iostat=status) argument
    if (status /= 0 .or. argument < 1) then
      print '(3a)', 'heat: ', trim(text), ' is no number from 1; give SIZE and STEPS'
      call shmem_global_exit(2)
    end if
  end function argument
end module plate

program heat
  use plate
  implicit none
  real(c_double), pointer, contiguous :: grids(:, :, :)
  integer :: me, pes, n, steps, columns
  call shmem_init()
  me = shmem_my_pe()
  pes = shmem_n_pes()
  n = argument(1, 1024)
  steps = argument(2, 500)
  columns = columns_before(n, me + 1, pes) - columns_before(n, me, pes)
  if (n < pes) then
    if (me == 0) print '(a)', 'heat: SIZE is less than the number of PEs'
    call shmem_global_exit(2)
  end if

  ! The same size everywhere, as symmetric memory must have.
  grids => make_grids(n, (n + pes - 1) / pes)
  if (me == 0) grids(:, 0, :) = 100
  call shmem_barrier_all()
  call run_steps(grids, n, columns, steps, me, pes)
  call shmem_barrier_all()
  if (me == 0) then
    if (.not. same_as_serial(grids, n, steps, pes)) then
      print '(a)', 'the serial result differs'
      call shmem_global_exit(1)
    end if
    print '(i0, a, i0, a, i0, a, i0, a)', n, ' x ', n, ', ', steps, ' steps on ', pes, ' PEs'
    print '(a)', 'verified: identical to the serial result'
  end if
  call shmem_finalize()
end program heat
