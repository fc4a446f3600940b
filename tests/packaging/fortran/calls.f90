! Calls of each kind, of each type, by generic names and by those of C.
module reduced
  use shmem
  implicit none
  integer(c_int8_t), save :: bytes(2) = 3
  integer(c_int16_t), save :: shorts(2) = 300
  integer(c_int32_t), save :: words(2) = 70000
  integer(c_int64_t), save :: longs(2) = 5000000000_c_int64_t
  real(c_float), save :: floats(2) = 0.5
  real(c_double), save :: doubles(2) = 0.25d0
  real(c_long_double), save :: extended(2) = 0.125_c_long_double
  complex(c_float_complex), save :: complexes(2) = (1, 2)
  complex(c_double_complex), save :: pairs(2) = (1, -2)
  integer(c_long), save :: lock = 0
  integer(c_int64_t), save :: counter = 0, flags(3) = 0
  integer, save :: wrong = 0
contains
  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    print '(a, i0, 2a)', 'PE ', shmem_my_pe(), ': ', what
    wrong = wrong + 1
  end subroutine check

  ! dest and source may be the same.
  subroutine sums(n)
    integer, intent(in) :: n
    integer(c_int) :: status
    status = shmem_sum_reduce(SHMEM_TEAM_WORLD, bytes, bytes, 2_c_size_t)
    status = status + shmem_sum_reduce(SHMEM_TEAM_WORLD, shorts, shorts, 2_c_size_t)
    status = status + shmem_sum_reduce(SHMEM_TEAM_WORLD, words, words, 2_c_size_t)
    status = status + shmem_sum_reduce(SHMEM_TEAM_WORLD, longs, longs, 2_c_size_t)
    status = status + shmem_sum_reduce(SHMEM_TEAM_WORLD, floats(1), floats(1), 2_c_size_t)
    status = status + shmem_double_sum_reduce(SHMEM_TEAM_WORLD, doubles, doubles, 2_c_size_t)
    status = status + shmem_sum_reduce(SHMEM_TEAM_WORLD, extended, extended, 2_c_size_t)
    status = status + shmem_sum_reduce(SHMEM_TEAM_WORLD, complexes, complexes, 2_c_size_t)
    status = status + shmem_complexd_sum_reduce(SHMEM_TEAM_WORLD, pairs, pairs, 2_c_size_t)
    call check(status == 0, 'a status')
    call check(all(bytes == 3 * n) .and. all(shorts == 300 * n) .and. all(words == 70000 * n), 'integers')
    call check(all(longs == 5000000000_c_int64_t * n), 'long integers')
    call check(all(nint(2 * floats) == n) .and. all(nint(4 * doubles) == n), 'reals')
    call check(all(nint(8 * extended) == n), 'extended reals')
    call check(all(nint(real(complexes)) == n) .and. all(nint(aimag(pairs)) == -2 * n), 'complex numbers')
  end subroutine sums

  subroutine atomics(me, n)
    integer, intent(in) :: me, n
    integer(c_int64_t) :: old
    integer :: i
    do i = 1, 100
      call shmem_set_lock(lock)
      call shmem_p(counter, shmem_g(counter, 0) + 1, 0)
      call shmem_clear_lock(lock)
    end do
    call shmem_barrier_all()
    call check(shmem_atomic_fetch(counter, 0) == 100 * n, 'a lock')
    call shmem_barrier_all()
    old = shmem_atomic_compare_swap(counter, 100_c_int64_t * n, -1_c_int64_t, 0)
    call shmem_barrier_all()
    if (me == 0) call check(counter == -1, 'compare and swap')
    call shmem_signal_add_to(flags(2), 1_c_int64_t, modulo(me + 1, n))
    call check(shmem_wait_until_any(flags, 3_c_size_t, c_null_ptr, SHMEM_CMP_NE, 0_c_int64_t) == 1, 'wait for any')
  end subroutine atomics

  subroutine teams(me, n)
    integer, intent(in) :: me, n
    type(shmem_team_t) :: even
    type(shmem_ctx_t) :: ctx
    call check(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2, c_null_ptr, 0_c_long, even) == 0, 'split')
    call check((even%handle /= SHMEM_TEAM_INVALID%handle) .eqv. mod(me, 2) == 0, 'a member')
    if (mod(me, 2) == 0) then
      call check(shmem_team_my_pe(even) == me / 2, 'a number')
      call check(shmem_team_create_ctx(even, SHMEM_CTX_SERIALIZED, ctx) == 0, 'a context')
      call shmem_p(ctx, words(1), 11, 0)
      call shmem_put(ctx, words(2:), [12], 1_c_size_t, 0)
      call shmem_ctx_quiet(ctx)
      call shmem_ctx_destroy(ctx)
      call check(shmem_team_sync(even) == 0, 'sync')
      if (me == 0) call check(all(words == [11, 12]), 'by a context')
      call shmem_team_destroy(even)
    end if
  end subroutine teams
end module reduced

program calls
  use reduced
  implicit none
  integer(c_int) :: provided, major, minor
  character(kind=c_char) :: name(SHMEM_MAX_NAME_LEN)
  call check(shmem_init_thread(SHMEM_THREAD_MULTIPLE, provided) == 0, 'shmem_init_thread')
  call check(provided == SHMEM_THREAD_MULTIPLE, 'threads')
  call shmem_info_get_version(major, minor)
  call shmem_info_get_name(name)
  call check(major == SHMEM_MAJOR_VERSION .and. minor == SHMEM_MINOR_VERSION, 'version')
  call check(any(name == c_null_char) .and. name(1) == SHMEM_VENDOR_STRING(1:1), 'name')
  call sums(shmem_n_pes())
  call atomics(shmem_my_pe(), shmem_n_pes())
  call teams(shmem_my_pe(), shmem_n_pes())
  call shmem_barrier_all()
  if (wrong > 0) call shmem_global_exit(1)
  if (shmem_my_pe() == 0) print '(a)', 'every call did its work'
  call shmem_finalize()
end program calls
