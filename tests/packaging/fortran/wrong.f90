! One wrong call, which the first argument names; PE 1 makes it, while PE 0 waits.
program wrong
  use shmem
  implicit none
  integer(c_int), save :: word = 0, grid(4, 4) = 0
  integer(c_int), allocatable :: heap(:)
  integer(c_int) :: local(2)
  integer(c_int64_t), save :: never = 0
  character(len=20) :: what
  type(c_ptr) :: memory
  call get_command_argument(1, what)
  local = 1
  allocate (heap(10))
  if (what == 'before') call shmem_barrier_all()
  call shmem_init()
  if (shmem_my_pe() == 1) then
    select case (what)
    case ('stack'); call shmem_put(local, [1, 2], 2_c_size_t, 0)
    case ('allocated'); call shmem_put(heap, local, 2_c_size_t, 0)
    case ('section'); call shmem_put(grid(2, :), [1, 2, 3, 4], 4_c_size_t, 0)
    case ('pe'); call shmem_p(word, 1, 2)
    case ('huge'); call shmem_put(grid(:, 1), grid(:, 2), huge(1_c_size_t), 0)
    case ('scalar'); call shmem_get(word, grid(1, 1), 100000000_c_size_t, 0)
    case ('compare'); call shmem_wait_until(never, 77, 0_c_int64_t)
    case ('team'); if (shmem_team_sync(shmem_team_t(12345)) == 0) stop
    case ('stop'); stop 3
    case ('error'); error stop 'a wrong number'
    end select
  end if
  if (what == 'memory') then
    memory = shmem_malloc(huge(1_c_size_t))
    if (shmem_my_pe() == 0 .and. .not. c_associated(memory)) print '(a)', 'so much there is not'
  else if (what == 'after') then
    call shmem_finalize()
    call shmem_barrier_all()
  else
    call shmem_wait_until(never, SHMEM_CMP_NE, 0_c_int64_t)
  end if
  call shmem_finalize()
end program wrong
